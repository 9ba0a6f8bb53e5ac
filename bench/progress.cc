#include "bench/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "program/printable.h"
#include "program/standard_streams.h"

namespace logos::bench {
namespace {

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb" || *term == '\0';
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

Progress::Progress() : live_(::isatty(STDERR_FILENO) == 1 && !is_dumb()) {}

Progress::~Progress() { clear(); }

void Progress::show(std::string_view what) {
  if (!live_) return;
  const std::size_t columns = terminal_columns();
  write_standard_error(fmt::format("\r\x1b[K{}", what.substr(0, columns > 1 ? columns - 1 : 1)));
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  write_standard_error("\r\x1b[K");
  shown_ = false;
}

bool may_color(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return ::isatty(descriptor) == 1 && !is_dumb();
}

void say(std::string_view remark) {
  write_standard_error(fmt::format("bench: {}\n", escaped(remark)));
}

}  // namespace logos::bench
