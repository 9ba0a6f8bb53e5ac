#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/options.h"
#include "program/error.h"
#include "program/whole_number.h"

/// The values of options, read so that every message has one form. All throw Error naming the
/// option, what was found and what was wanted.
namespace logos::bench {

/// A whole number from `least` up, decimal, without a leading zero.
template <typename Number>
Number number(std::string_view option, std::string_view text, Number least) {
  Number value{};
  const std::errc code = read_whole_number(text, value);
  if (code != std::errc{} || value < least) {
    const bool large = code == std::errc::result_out_of_range && !text.starts_with('-');
    throw Error(option, "not a whole number in range", fmt::format("\"{}\"", text),
                large ? fmt::format("{} to {}", least, std::numeric_limits<Number>::max())
                      : fmt::format("{} or more{}", least,
                                    has_leading_zero(text) ? ", without a leading zero" : ""));
  }
  return value;
}

/// The items of lists with commas, each time that the option was given. (CLI11's own delimiter
/// drops empty items without a word.)
std::vector<std::string> items(std::string_view option, const std::vector<std::string>& lists);

/// `synthetic:SEED`.
std::uint64_t parse_weights(const std::string& text);

/// `0xNN` (a byte) or `0xNNNNNNNN` (a word): what fills a 32-bit word of unused memory.
std::uint32_t parse_fill(const std::string& text);

/// `gpu.KEY=VALUE`, `board.SECTION.KEY=VALUE` or `chip.KEY=VALUE`, added to its owner's settings.
void parse_set(const std::string& text, Options& options);

/// `ROWS/MAC_ROWS`, or one number for both.
EngineRows parse_engine_rows(const std::string& text);

/// `A:B` in cycles of the engine, or `line:N`.
void parse_window(const std::string& text, Wave& wave);

Format parse_format(const std::string& text);

}  // namespace logos::bench
