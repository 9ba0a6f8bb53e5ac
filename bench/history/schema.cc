#include "bench/history/schema.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "program/error.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

// Where a database's header (sqlite.org/fileformat.html, section 1.3) has them, big-endian.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kUserVersion = 60;
constexpr std::size_t kApplication = 68;

std::uint32_t word_at(std::string_view header, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = word << 8 | static_cast<unsigned char>(header[at + i]);
  }
  return word;
}

/// The first bytes of a regular file, as many as there are.
std::string read_header(const fs::path& file) {
  const auto fail = [&] {
    throw Error(file.string(),
                fmt::format("cannot be opened: {}", std::generic_category().message(errno)));
  };
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail();
  std::string header(kHeaderBytes, '\0');
  const ssize_t got = ::read(descriptor, header.data(), header.size());
  if (got < 0) fail();
  ::close(descriptor);
  header.resize(static_cast<std::size_t>(got));
  return header;
}

}  // namespace

void check_history_file(const fs::path& file, bool must_exist) {
  std::error_code failed;
  const fs::file_status status = fs::status(file, failed);
  if (!fs::exists(status)) {
    if (must_exist) throw Error(file.string(), "there is no such file");
    check_writable(file);
    return;
  }
  if (!fs::is_regular_file(status)) {
    throw Error(file.string(), fs::is_directory(status) ? "is a directory, no history"
                                                        : "is not a regular file, no history");
  }
  if (!must_exist) check_writable(file);
  const std::string header = read_header(file);
  if (header.empty()) return;
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (header.size() < kHeaderBytes || !header.starts_with(kMagic)) {
    throw Error(file.string(), "is no history: it is not an SQLite file");
  }
  if (word_at(header, kApplication) != kApplicationId) {
    throw Error(file.string(), "is no history: it is another program's SQLite file",
                fmt::format("application id {:#x}", word_at(header, kApplication)),
                fmt::format("{:#x}", kApplicationId));
  }
  if (word_at(header, kUserVersion) != kSchema) {
    throw Error(file.string(), "is a history of another version of the workbench",
                fmt::format("schema {}", word_at(header, kUserVersion)),
                fmt::format("schema {}", kSchema));
  }
}

}  // namespace logos::bench
