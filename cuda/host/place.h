#pragma once

namespace logos::cuda::host {

/// A line of source, for messages. As std::source_location, which clang 14 does not have over
/// libstdc++ 12.
struct Place {
  const char* file = "";
  int line = 0;

  /// Where it is called; as a default argument, where that function is called.
  static constexpr Place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace logos::cuda::host
