#pragma once

#include <string_view>

namespace logos::bench {

/// One line on standard error that says what a long run is at, overwritten in place. Silent where
/// standard error is no terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view what);
  void clear();

 private:
  bool live_ = false;
  bool shown_ = false;
};

/// Whether a stream (1 standard output, 2 standard error) may be coloured: a terminal that is not
/// dumb, and NO_COLOR (no-color.org) unset or empty.
bool may_color(int descriptor);

/// "bench: …" on standard error, one line.
void say(std::string_view remark);

}  // namespace logos::bench
