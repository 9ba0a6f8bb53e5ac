#include "sim/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "program/error.h"
#include "sim/file_beside.h"

namespace logos {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, std::string_view what, int code) {
  throw Error(file.string(), fmt::format("{}: {}", what, std::strerror(code)));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  /// The error of close(2) counts: a network file system reports a full disk only there.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

/// Returns 0 or errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The parent must be a directory; a missing one is named itself, not the file.
void check_parent(const fs::path& file) {
  const fs::path parent = file.has_parent_path() ? file.parent_path() : fs::path(".");
  struct stat info {};
  if (::stat(parent.c_str(), &info) != 0) {
    fail(file, fmt::format("cannot write: folder {}", parent.string()), errno);
  }
  if (!S_ISDIR(info.st_mode)) {
    throw Error(file.string(), fmt::format("cannot write: {} is no folder", parent.string()));
  }
}

/// Follows links, so that a rename replaces the file and leaves the link.
fs::path resolved(const fs::path& file) {
  std::error_code failed;
  if (!fs::is_symlink(file, failed)) return file;
  fs::path target = fs::weakly_canonical(file, failed);
  return failed ? file : target;
}

/// Whether something that is no regular file stands there: it is written in place.
bool is_special(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return false;
  if (S_ISDIR(info.st_mode)) throw Error(file.string(), "cannot write: it is a folder");
  return !S_ISREG(info.st_mode);
}

void write_in_place(const fs::path& file, std::string_view bytes) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out.open()) fail(file, "cannot write", errno);
  if (const int code = write_all(out.get(), bytes); code != 0) fail(file, "cannot write", code);
  if (out.close() != 0) fail(file, "cannot write", errno);
}

/// The mode that a plain open would have given; a file that stands there keeps its own.
mode_t mode_for(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) == 0) return info.st_mode & 0777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

void write_whole_file(const fs::path& file, std::string_view bytes) {
  const fs::path target = resolved(file);
  check_parent(target);
  if (is_special(target)) {
    write_in_place(target, bytes);
    return;
  }
  FileBeside out(target);
  int code = write_all(out.descriptor(), bytes);
  if (code == 0 && ::fchmod(out.descriptor(), mode_for(target)) != 0) code = errno;
  // A network file system reports a full disk only here.
  if (code == 0 && ::fsync(out.descriptor()) != 0) code = errno;
  if (code == 0) code = out.rename_into_place();
  if (code != 0) fail(file, "cannot write", code);
}

void check_writable(const fs::path& file) {
  const fs::path target = resolved(file);
  check_parent(target);
  if (is_special(target)) {
    if (::access(target.c_str(), W_OK) != 0) fail(file, "cannot write", errno);
    return;
  }
  const FileBeside unused(target);
}

std::string read_whole_file(const fs::path& file) {
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.open()) fail(file, "cannot read", errno);
  struct stat info {};
  if (::fstat(in.get(), &info) != 0) fail(file, "cannot read", errno);
  if (S_ISDIR(info.st_mode)) throw Error(file.string(), "cannot read: it is a folder");
  std::string bytes;
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  for (;;) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + kChunk);
    const ssize_t got = ::read(in.get(), bytes.data() + filled, kChunk);
    const int code = errno;
    bytes.resize(filled + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return bytes;
    if (got < 0 && code != EINTR) fail(file, "cannot read", code);
  }
}

}  // namespace logos
