#include "program/gguf_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "program/error.h"

namespace logos {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF values are taken as they lie");

constexpr std::uint64_t kBufferBytes = std::uint64_t{1} << 16;
// Far beyond any vocabulary. What is kept of a header may take a few times its size.
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 28;

}  // namespace

void GgufScanner::require(std::uint64_t bytes, std::string_view what) const {
  if (bytes > left()) {
    throw Error(file_.path().string(), fmt::format("the file ends within {}", what),
                fmt::format("{} bytes from byte {} on", left(), position()),
                fmt::format("{} bytes", bytes));
  }
  if (bytes > kMostHeaderBytes || position() + bytes > kMostHeaderBytes) {
    throw Error(file_.path().string(), fmt::format("keys and tensors are too long, at {}", what),
                fmt::format("{} bytes from byte {} on", bytes, position()),
                fmt::format("at most {} bytes in all", kMostHeaderBytes));
  }
}

std::string GgufScanner::string(std::string_view what, std::uint64_t least, std::uint64_t most) {
  const auto length = number<std::uint64_t>(what);
  if (length < least || length > most) {
    throw Error(file_.path().string(), fmt::format("the length of {} is out of bounds", what),
                fmt::format("{} bytes", length), fmt::format("{} to {} bytes", least, most));
  }
  require(length, what);
  std::string text(static_cast<std::size_t>(length), '\0');
  take(reinterpret_cast<std::byte*>(text.data()), text.size(), what);
  return text;
}

void GgufScanner::skip(std::uint64_t bytes, std::string_view what) {
  require(bytes, what);
  const std::uint64_t to = position() + bytes;
  if (to - begin_ <= buffer_.size()) {
    at_ = static_cast<std::size_t>(to - begin_);
    return;
  }
  buffer_.clear();
  begin_ = to;
  at_ = 0;
}

void GgufScanner::take(std::byte* to, std::size_t bytes, std::string_view what) {
  require(bytes, what);
  while (bytes > 0) {
    if (at_ == buffer_.size()) refill();
    const std::size_t count = std::min(bytes, buffer_.size() - at_);
    std::memcpy(to, buffer_.data() + at_, count);
    to += count;
    at_ += count;
    bytes -= count;
  }
}

void GgufScanner::refill() {
  begin_ += buffer_.size();
  at_ = 0;
  buffer_.resize(static_cast<std::size_t>(std::min(kBufferBytes, file_.size() - begin_)));
  file_.read_at(begin_, buffer_);
}

}  // namespace logos
