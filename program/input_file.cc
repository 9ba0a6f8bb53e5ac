#include "program/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "program/error.h"

namespace logos {
namespace {

std::string cause(int error) { return std::generic_category().message(error); }

std::int64_t written_ns(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& file) : path_(file) {
  // O_NONBLOCK: a named pipe in place of the file must be refused, not waited for.
  descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    throw Error(file.string(), fmt::format("cannot be opened: {}", cause(errno)));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error(file.string(), "is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  written_ns_ = written_ns(status);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      written_ns_(other.written_ns_) {}

std::uint64_t InputFile::size_now() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    throw Error(path_.string(), fmt::format("cannot be examined: {}", cause(errno)));
  }
  return static_cast<std::uint64_t>(status.st_size);
}

void InputFile::check_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    throw Error(path_.string(), fmt::format("cannot be examined: {}", cause(errno)));
  }
  if (static_cast<std::uint64_t>(status.st_size) != size_ || written_ns(status) != written_ns_) {
    throw Error(path_.string(), "the file was written to while it was read",
                fmt::format("{} bytes, written at {} ns", status.st_size, written_ns(status)),
                fmt::format("{} bytes, written at {} ns", size_, written_ns_));
  }
}

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  constexpr std::size_t kMostPerCall = std::size_t{1} << 30;  // Linux reads at most 2 GiB a call
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data() + done, std::min(bytes.size() - done, kMostPerCall),
                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(path_.string(), fmt::format("cannot be read: {}", cause(errno)));
    if (got == 0) {
      throw Error(path_.string(), "the file ends too early", fmt::format("{} bytes", size_now()),
                  fmt::format("at least {} bytes", offset + bytes.size()));
    }
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace logos
