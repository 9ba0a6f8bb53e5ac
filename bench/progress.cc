#include "bench/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "program/printable.h"
#include "program/standard_streams.h"

namespace logos::bench {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr double kShort = 2;  // seconds of which nothing more is said
constexpr auto kBetweenDrawings = std::chrono::milliseconds(500);
constexpr auto kAtLeast = std::chrono::milliseconds(100);  // steps may be shorter than a look

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb" || *term == '\0';
}

/// Whether a line can be shown and taken back.
bool is_live() { return ::isatty(STDERR_FILENO) == 1 && !is_dumb(); }

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::string human_duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 100) return fmt::format("{} s", whole);
  const auto minutes = std::llround(seconds / 60);
  if (minutes < 100) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string progress_text(std::string_view what, double elapsed, std::optional<double> left) {
  if (elapsed < kShort) return std::string(what);
  std::string text = fmt::format("{}, {}", what, human_duration(elapsed));
  if (!left || !std::isfinite(*left)) return text;
  if (*left <= 0) return text + ", longer than expected";
  return fmt::format("{}, about {} left", text, human_duration(std::max(1.0, *left)));
}

Progress::Progress() : live_(is_live()) {}

Progress::~Progress() {
  clear();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (drawer_.joinable()) drawer_.join();
}

void Progress::show(std::string_view what, std::optional<double> left) {
  if (!live_) return;
  const std::lock_guard lock(mutex_);
  told_ = Clock::now();
  if (!shown_) since_ = told_;
  const bool soon = shown_ && told_ - drawn_ < kAtLeast;
  what_ = what;
  left_ = left;
  shown_ = true;
  if (!soon) draw(told_);
  if (!drawer_.joinable()) drawer_ = std::thread([this] { keep_drawing(); });
}

void Progress::show_steps(std::string_view what, double done, double whole) {
  if (!live_) return;
  std::optional<double> left;
  {
    const std::lock_guard lock(mutex_);
    if (shown_ && done > 0) {
      left = seconds_between(since_, Clock::now()) * std::max(0.0, whole - done) / done;
    }
  }
  show(what, left);
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (!shown_) return;
  write_standard_error(kClearLine);
  shown_ = false;
}

void Progress::draw(Clock::time_point now) {
  drawn_ = now;
  std::optional<double> left = left_;
  if (left) *left -= seconds_between(told_, now);
  const std::string text = progress_text(what_, seconds_between(since_, now), left);
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  write_standard_error(fmt::format(
      "{}{}", kClearLine, std::string_view(text).substr(0, columns > 1 ? columns - 1 : 1)));
}

void Progress::keep_drawing() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBetweenDrawings, [&] { return ended_; })) {
    const Clock::time_point now = Clock::now();
    if (shown_ && seconds_between(since_, now) >= kShort) draw(now);
  }
}

bool may_color(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return ::isatty(descriptor) == 1 && !is_dumb();
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) != 1) return 0;
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void say(std::string_view remark) {
  const std::string_view over = is_live() ? kClearLine : "";  // what progress may show there
  write_standard_error(fmt::format("{}bench: {}\n", over, escaped(remark)));
}

}  // namespace logos::bench
