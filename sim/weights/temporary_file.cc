#include "sim/weights/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "program/error.h"

namespace logos {
namespace {

constexpr std::string_view kEnding = ".tmp";

/// Removes temporary files of `file` whose writer is gone.
void remove_abandoned(const std::filesystem::path& file) {
  const std::string beginning = file.filename().string() + ".";
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning) || !name.ends_with(kEnding)) continue;
    const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& file, std::uint64_t bytes) : file_(file) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    throw Error(file.parent_path().string(),
                fmt::format("the folder cannot be made: {}", error.message()));
  }
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(file.string(), "cannot be written: what stands there is no regular file");
  }
  remove_abandoned(file);
  create();
  if (::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) != 0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
    const int cause = errno;
    ::unlink(temporary_.c_str());
    ::close(descriptor_);
    fail(fmt::format("has no room for {} bytes", bytes).c_str(), cause);
  }
}

void TemporaryFile::create() {
  while (true) {
    std::string name = fmt::format("{}.XXXXXX{}", file_.string(), kEnding);
    descriptor_ = ::mkostemps(name.data(), static_cast<int>(kEnding.size()), O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot be written", errno);
    ::flock(descriptor_, LOCK_EX);
    struct stat status {};
    // Another writer may have taken it for abandoned before the lock was held: then once more.
    if (::fstat(descriptor_, &status) == 0 && status.st_nlink > 0) {
      ::fchmod(descriptor_, 0644);
      temporary_ = name;
      return;
    }
    ::close(descriptor_);
  }
}

TemporaryFile::~TemporaryFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TemporaryFile::fail(const char* what, int error) const {
  throw Error(file_.string(), fmt::format("{}: {}", what, std::generic_category().message(error)));
}

void TemporaryFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote =
        ::pwrite(descriptor_, bytes.data() + done, std::min(bytes.size() - done, kMostPerCall),
                 static_cast<off_t>(offset + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail("cannot be written", wrote < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(wrote);
  }
}

void TemporaryFile::commit() {
  // No fsync: the store carries its digest, so one that a power failure spoiled is noticed.
  if (::rename(temporary_.c_str(), file_.c_str()) != 0) fail("cannot be renamed into place", errno);
  temporary_.clear();
}

}  // namespace logos
