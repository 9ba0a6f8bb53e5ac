#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace logos::bench {

/// One line on standard error that says what a long run is at, overwritten in place. What takes
/// more than two seconds also says for how long it has been at it and how long it may still take.
/// Silent where standard error is no terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `left`: seconds that the run may still take, where that is known.
  void show(std::string_view what, std::optional<double> left = std::nullopt);
  /// `done` of `whole` steps of one kind are done since the line was first shown.
  void show_steps(std::string_view what, double done, double whole);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void draw(Clock::time_point now);
  void keep_drawing();

  bool live_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shown_ = false;
  bool ended_ = false;
  std::string what_;
  std::optional<double> left_;  ///< seconds, from told_ on
  Clock::time_point since_;     ///< when the line was first shown
  Clock::time_point told_;
  Clock::time_point drawn_;
  std::thread drawer_;  ///< draws again while nothing new is shown
};

/// What the line says after `elapsed` seconds, with `left` more expected.
std::string progress_text(std::string_view what, double elapsed, std::optional<double> left);

/// "40 s", "3 min", "2 h 5 min".
std::string human_duration(double seconds);

/// Whether a stream (1 standard output, 2 standard error) may be coloured: a terminal that is not
/// dumb, and NO_COLOR (no-color.org) unset or empty.
bool may_color(int descriptor);

/// The width of the terminal that a stream is, 80 where it does not tell; 0 where it is none.
std::size_t terminal_columns(int descriptor);

/// "bench: …" on standard error, one line.
void say(std::string_view remark);

}  // namespace logos::bench
