#include "sim/weights/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "program/error.h"

namespace logos {
namespace {

namespace fs = std::filesystem;

/// The folder is made, and what stands in the file's place must be a file.
fs::path checked(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) {
    throw Error(file.parent_path().string(),
                fmt::format("the folder cannot be made: {}", error.message()));
  }
  const fs::file_status status = fs::status(file, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(file.string(), "cannot write: what stands there is no regular file");
  }
  return file;
}

}  // namespace

TemporaryFile::TemporaryFile(const fs::path& file, std::uint64_t bytes)
    : file_(checked(file)), beside_(file) {
  ::fchmod(beside_.descriptor(), 0644);
  if (::fallocate(beside_.descriptor(), 0, 0, static_cast<off_t>(bytes)) != 0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
    const int cause = errno;
    fail(fmt::format("has no room for {} bytes", bytes), cause);
  }
}

void TemporaryFile::fail(std::string_view what, int error) const {
  throw Error(file_.string(), fmt::format("{}: {}", what, std::generic_category().message(error)));
}

void TemporaryFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote =
        ::pwrite(beside_.descriptor(), bytes.data() + done,
                 std::min(bytes.size() - done, kMostPerCall), static_cast<off_t>(offset + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail("cannot write", wrote < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(wrote);
  }
}

void TemporaryFile::commit() {
  // No fsync: the store carries its digest, so one that a power failure spoiled is noticed.
  if (const int error = beside_.rename_into_place(); error != 0) {
    fail("cannot be renamed into place", error);
  }
}

}  // namespace logos
