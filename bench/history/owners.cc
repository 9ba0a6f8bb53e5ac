#include "bench/history/owners.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "program/error.h"

namespace logos::bench {
namespace {

/// Beyond anything that SQLite reads, writes or locks itself.
constexpr std::int64_t kFirstByte = std::int64_t{1} << 41;

struct flock lock_of(std::int64_t number) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kFirstByte + number;
  lock.l_len = 1;
  return lock;
}

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what) {
  throw Error(file.string(), fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

}  // namespace

Owners::Owners(const std::filesystem::path& file) : file_(file) {
  if (file.empty()) return;
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && (errno == EACCES || errno == EROFS)) {  // enough to ask for others' locks
    descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (descriptor_ < 0) fail(file, "cannot be opened");
}

Owners::~Owners() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Owners::become(std::int64_t number) {
  own_ = number;
  if (descriptor_ < 0) return;
  // A lock of the open file, not of the process: that of a process is lost when SQLite closes the
  // file elsewhere in it.
  struct flock lock = lock_of(number);
  if (::fcntl(descriptor_, F_OFD_SETLK, &lock) != 0) fail(file_, "cannot be locked");
}

bool Owners::is_alive(std::int64_t number) const {
  if (number == own_) return true;
  if (descriptor_ < 0) return false;
  struct flock lock = lock_of(number);
  if (::fcntl(descriptor_, F_OFD_GETLK, &lock) != 0) fail(file_, "its locks cannot be read");
  return lock.l_type != F_UNLCK;
}

}  // namespace logos::bench
