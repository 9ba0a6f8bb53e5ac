#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "program/input_file.h"

namespace logos {

/// Takes numbers and strings one after another from the start of a GGUF file, some kilobytes at a
/// time. `what`, in messages, is what is being read.
class GgufScanner {
 public:
  explicit GgufScanner(const InputFile& file) : file_(file) {}

  std::uint64_t position() const { return begin_ + at_; }
  std::uint64_t left() const { return file_.size() - position(); }

  /// Refuses where fewer than `bytes` bytes are left.
  void require(std::uint64_t bytes, std::string_view what) const;

  template <typename Number>
  Number number(std::string_view what) {
    Number value{};
    take(reinterpret_cast<std::byte*>(&value), sizeof value, what);
    return value;
  }

  /// A length of 64 bits and as many bytes, from `least` to `most`.
  std::string string(std::string_view what, std::uint64_t least, std::uint64_t most);

  /// Passes over bytes that are known to lie in the file.
  void skip(std::uint64_t bytes, std::string_view what);

 private:
  void take(std::byte* to, std::size_t bytes, std::string_view what);
  void refill();

  const InputFile& file_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;  ///< of the buffer in the file
  std::size_t at_ = 0;       ///< of the next byte in the buffer
};

}  // namespace logos
