#include "bench/benchmark_flags.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "bench/option_values.h"
#include "program/error.h"

namespace logos::bench {
namespace {

bool is_benchmark_format(std::string_view text) {
  return text == "console" || text == "json" || text == "csv";
}

bool parse_switch(std::string_view flag, std::string_view value) {
  if (value == "true" || value == "1" || value == "yes" || value == "on") return true;
  if (value == "false" || value == "0" || value == "no" || value == "off") return false;
  throw Error(flag, "no switch", fmt::format("\"{}\"", value), "true or false");
}

/// Where Google Benchmark itself would print a message of its own form first.
void check_benchmark_value(std::string_view flag, std::string_view value) {
  if (flag == "--benchmark_repetitions") number<int>(flag, value, 1);
  if (flag == "--v") number<int>(flag, value, 0);
  if (flag != "--benchmark_min_time" && flag != "--benchmark_min_warmup_time") return;
  double seconds = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  const bool whole = code == std::errc{} && end == value.data() + value.size();
  if (whole && seconds >= 0 && std::isfinite(seconds)) return;
  throw Error(flag, "not a time", fmt::format("\"{}\"", value), "a number of seconds");
}

}  // namespace

void take_benchmark_flag(const std::string& argument, Options& options) {
  static constexpr std::array<std::string_view, 13> kPassed = {
      "--benchmark_filter",
      "--benchmark_min_time",
      "--benchmark_min_warmup_time",
      "--benchmark_repetitions",
      "--benchmark_enable_random_interleaving",
      "--benchmark_report_aggregates_only",
      "--benchmark_display_aggregates_only",
      "--benchmark_color",
      "--benchmark_counters_tabular",
      "--benchmark_perf_counters",
      "--benchmark_context",
      "--benchmark_time_unit",
      "--v"};
  const std::size_t equals = argument.find('=');
  const std::string flag = argument.substr(0, equals);
  const bool has_value = equals != std::string::npos;
  const std::string value = has_value ? argument.substr(equals + 1) : std::string("true");
  if (flag == "--benchmark_out") {
    if (!has_value || value.empty()) throw Error(flag, "no file given");
    options.benchmark_out = value;
    return;
  }
  if (flag == "--benchmark_out_format" || flag == "--benchmark_format") {
    if (!is_benchmark_format(value)) {
      throw Error(flag, "unknown format", fmt::format("\"{}\"", value), "console, json or csv");
    }
    if (flag == "--benchmark_format") {
      options.benchmark_format = value;
    } else {
      options.benchmark_out_format = value;
    }
    return;
  }
  if (flag == "--benchmark_list_tests") {
    options.benchmark_list_tests = parse_switch(flag, value);
    return;
  }
  for (const std::string_view passed : kPassed) {
    if (flag != passed) continue;
    if (value.empty() && flag != "--benchmark_filter") throw Error(flag, "an empty value");
    check_benchmark_value(flag, value);
    options.benchmark_flags.push_back(argument);
    return;
  }
  throw Error(flag, "unknown flag of Google Benchmark");
}

}  // namespace logos::bench
