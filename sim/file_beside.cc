#include "sim/file_beside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "program/error.h"

namespace logos {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVaried = ".XXXXXX";
constexpr std::string_view kEnding = ".logos-tmp";  // of no file that anyone else makes

}  // namespace

void remove_abandoned_files(const fs::path& folder) {
  std::error_code ignored;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, ignored);
  for (; !ignored && entry != fs::directory_iterator(); entry.increment(ignored)) {
    const fs::path& name = entry->path();
    if (!name.filename().string().ends_with(kEnding)) continue;
    const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(name.c_str());
    ::close(descriptor);
  }
}

FileBeside::FileBeside(const fs::path& file) : file_(file) {
  remove_abandoned_files(file.parent_path());
  for (;;) {
    std::string name = fmt::format("{}{}{}", file.string(), kVaried, kEnding);
    descriptor_ = ::mkostemps(name.data(), static_cast<int>(kEnding.size()), O_CLOEXEC);
    if (descriptor_ < 0) {
      throw Error(file.string(),
                  fmt::format("cannot write: {}", std::generic_category().message(errno)));
    }
    ::flock(descriptor_, LOCK_EX);
    struct stat status {};
    // Another process may have taken it for abandoned before the lock was held: then once more.
    if (::fstat(descriptor_, &status) == 0 && status.st_nlink > 0) {
      name_ = std::move(name);
      return;
    }
    ::close(descriptor_);
  }
}

FileBeside::~FileBeside() {
  if (!name_.empty()) ::unlink(name_.c_str());
  ::close(descriptor_);
}

int FileBeside::rename_into_place() {
  if (::rename(name_.c_str(), file_.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

}  // namespace logos
