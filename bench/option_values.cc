#include "bench/option_values.h"

#include <algorithm>
#include <charconv>

namespace logos::bench {
namespace {

constexpr std::string_view kSettings = "gpu.KEY=VALUE, board.SECTION.KEY=VALUE or chip.KEY=VALUE";

}  // namespace

std::vector<std::string> items(std::string_view option, const std::vector<std::string>& lists) {
  std::vector<std::string> found;
  for (const std::string& list : lists) {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      ++number;
      if (begin == end) {
        throw Error(option, fmt::format("item {} of the list is empty", number),
                    fmt::format("\"{}\"", list), "a list with commas between its items");
      }
      found.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return found;
}

std::uint64_t parse_weights(const std::string& text) {
  constexpr std::string_view kPrefix = "synthetic:";
  if (!text.starts_with(kPrefix)) {
    throw Error("--weights", "unknown kind of weights", fmt::format("\"{}\"", text),
                "synthetic:SEED");
  }
  return number<std::uint64_t>("--weights", std::string_view(text).substr(kPrefix.size()), 0);
}

std::uint32_t parse_fill(const std::string& text) {
  std::uint32_t value = 0;
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  const std::size_t digits = prefixed ? text.size() - 2 : 0;
  const char* begin = text.data() + (prefixed ? 2 : 0);
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(begin, end, value, 16);
  if (!prefixed || (digits != 2 && digits != 8) || code != std::errc{} || at != end) {
    throw Error("--fill", "no pattern", fmt::format("\"{}\"", text), "0xNN or 0xNNNNNNNN");
  }
  return digits == 2 ? value * 0x01010101u : value;
}

void parse_set(const std::string& text, Options& options) {
  const std::size_t dot = text.find('.');
  const std::size_t equals = text.find('=');
  if (dot == std::string::npos || equals == std::string::npos || dot > equals ||
      equals == dot + 1) {
    throw Error("--set", "no setting", fmt::format("\"{}\"", text), kSettings);
  }
  const std::string owner = text.substr(0, dot + 1);
  auto* settings = owner == "gpu."     ? &options.gpu_settings
                   : owner == "board." ? &options.board_settings
                   : owner == "chip."  ? &options.chip_settings
                                       : nullptr;
  if (settings == nullptr) {
    throw Error("--set", "unknown owner of a setting", fmt::format("\"{}\"", text), kSettings);
  }
  settings->emplace_back(text.substr(dot + 1, equals - dot - 1), text.substr(equals + 1));
}

EngineRows parse_engine_rows(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto part = [](std::string_view of) {
    return number<std::int64_t>("--engine-rows", of, 1);
  };
  const std::int64_t rows = part(std::string_view(text).substr(0, slash));
  if (slash == std::string::npos) return {rows, rows};
  return {rows, part(std::string_view(text).substr(slash + 1))};
}

void parse_window(const std::string& text, Wave& wave) {
  constexpr std::string_view kOption = "--wave-window";
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw Error(kOption, "no window", fmt::format("\"{}\"", text), "A:B or line:N");
  }
  const std::string_view after = std::string_view(text).substr(colon + 1);
  if (text.starts_with("line:")) {
    wave.line = number<std::int64_t>(kOption, after, 1);
    return;
  }
  wave.first_cycle = number<std::uint64_t>(kOption, std::string_view(text).substr(0, colon), 0);
  wave.end_cycle = number<std::uint64_t>(kOption, after, 1);
  if (wave.end_cycle <= wave.first_cycle) {
    throw Error(kOption, "an empty window", fmt::format("\"{}\"", text), "A:B with A below B");
  }
}

Format parse_format(const std::string& text) {
  if (text == "console") return Format::kConsole;
  if (text == "json") return Format::kJson;
  if (text == "csv") return Format::kCsv;
  throw Error("--format", "unknown format", fmt::format("\"{}\"", text), "console, json or csv");
}

}  // namespace logos::bench
