#include "cuda/time_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "program/config_json.h"
#include "program/divide_up.h"
#include "program/error.h"
#include "program/printable.h"
#include "program/text_file.h"
#include "sim/sourced_section.h"

namespace logos::cuda {
namespace {

using nlohmann::json;

/// Limits that keep every sum below in range; far beyond any device.
constexpr double kLowestRate = 1e-9;
constexpr double kHighestRate = 1e9;
constexpr double kLowestEfficiency = 1e-3;

struct Reader {
  const json& root;
  std::string_view where;
  std::set<std::string> known = {"name"};

  [[noreturn]] void refuse(const std::string& key, std::string_view what, std::string_view got,
                           std::string_view want) const {
    throw Error(where, fmt::format("key {}: {}", key, what), got, want);
  }

  const json& member(const std::string& key) {
    known.insert(key);
    const auto found = root.find(key);
    if (found == root.end()) throw Error(where, fmt::format("key {} is missing", key));
    return *found;
  }

  const json& value(const std::string& key) {
    const json& entry = member(key);
    if (!entry.is_object() || entry.size() != 2 || !entry.contains("value") ||
        !entry.contains("source")) {
      refuse(key, "not a number with its source", shown(entry), R"({"value": …, "source": "…"})");
    }
    const json& source = entry["source"];
    if (!source.is_string() || source.get_ref<const std::string&>().empty()) {
      refuse(key, "no source", shown(source), "a text");
    }
    if (!entry["value"].is_number()) refuse(key, "not a number", shown(entry["value"]), "a number");
    return entry["value"];
  }

  /// A number in (0, highest].
  void number(const std::string& key, double& to, double lowest, double highest) {
    const json& found = value(key);
    to = found.get<double>();
    if (!(to >= lowest && to <= highest)) {
      refuse(key, "out of range", shown(found), fmt::format("{:g} to {:g}", lowest, highest));
    }
  }

  void count(const std::string& key, std::uint64_t& to, std::uint64_t highest) {
    const json& found = value(key);
    const bool whole = found.is_number_unsigned();
    to = whole ? found.get<std::uint64_t>() : 0;
    if (to < 1 || to > highest) {
      refuse(key, "out of range", shown(found), fmt::format("a whole number, 1 to {}", highest));
    }
  }
};

double clock_hz(const GpuConfig& gpu) { return gpu.clock_mhz * 1e6; }
double gap_seconds(const GpuConfig& gpu) { return gpu.launch_us * 1e-6; }

/// Waves of blocks that are resident together.
std::uint64_t waves_of(const LaunchShape& shape, const GpuConfig& gpu) {
  const std::uint64_t resident =
      std::clamp<std::uint64_t>(gpu.max_threads / shape.block.count(), 1, gpu.max_blocks);
  const std::uint64_t at_once = resident * gpu.multiprocessors;
  return divide_up(shape.grid.count(), at_once);
}

/// Bytes of a launch that pass the HBM.
struct HbmBytes {
  double weights = 0;
  double kv = 0;
  double other = 0;
  double all() const { return weights + kv + other; }
};

/// Each declared byte once. Blocks of a wave share what they read; a further wave finds what fits
/// in the second-level cache there, and reads a larger operand again.
HbmBytes hbm_bytes(const LaunchRecord& launch, const GpuConfig& gpu) {
  const Traffic& declared = launch.declared;
  HbmBytes bytes{static_cast<double>(declared.weight_bytes), static_cast<double>(declared.kv_bytes),
                 static_cast<double>(declared.other_bytes)};
  const double streamed = bytes.weights + bytes.kv;
  if (declared.again_bytes == 0 || streamed <= static_cast<double>(gpu.l2_bytes)) return bytes;
  const double waves = static_cast<double>(waves_of(launch.shape, gpu));
  const double again = std::min(static_cast<double>(declared.again_bytes), (waves - 1) * streamed);
  bytes.weights *= 1 + again / streamed;
  bytes.kv *= 1 + again / streamed;
  return bytes;
}

/// Seconds that a launch spends on each thing.
struct Seconds {
  double hbm = 0;
  double int8 = 0;
  double fp32 = 0;
  double barriers = 0;
  double body() const { return std::max({hbm, int8, fp32}); }
};

/// Blocks that cannot be resident together go through their barriers one after the other.
double barrier_seconds(const LaunchRecord& launch, const GpuConfig& gpu) {
  if (!launch.counted) return 0;
  const std::uint64_t waves = waves_of(launch.shape, gpu);
  return static_cast<double>(launch.counted->barriers_per_block * waves) * gpu.barrier_ns * 1e-9;
}

Seconds seconds_of(const LaunchRecord& launch, const GpuConfig& gpu) {
  const Traffic& work = launch.counted ? launch.counted->traffic : launch.declared;
  const double lanes_hz = static_cast<double>(gpu.multiprocessors) * clock_hz(gpu);
  const auto dp4a_macs = static_cast<double>(work.int8_macs - work.tensor_macs);
  Seconds seconds;
  seconds.hbm = hbm_bytes(launch, gpu).all() / (gpu.hbm_gb_per_s * 1e9 * gpu.hbm_efficiency);
  seconds.int8 =
      2.0 * static_cast<double>(work.tensor_macs) /
          (gpu.int8_tensor_tops * 1e12 * gpu.int8_tensor_efficiency) +
      dp4a_macs / (4.0 * static_cast<double>(gpu.dp4a_per_clock) * lanes_hz * gpu.dp4a_efficiency);
  seconds.fp32 = static_cast<double>(work.fp32_ops) /
                 (static_cast<double>(gpu.fp32_per_clock) * lanes_hz * gpu.fp32_efficiency);
  seconds.barriers = barrier_seconds(launch, gpu);
  return seconds;
}

using Shares = std::array<double, kCategories>;
double& share(Shares& shares, Category category) {
  return shares[static_cast<std::size_t>(category)];
}

/// Gives a launch's seconds to the categories: what it was waiting for.
void add_launch(const LaunchRecord& launch, const GpuConfig& gpu, Shares& shares) {
  const Seconds seconds = seconds_of(launch, gpu);
  const double body = seconds.body();
  const HbmBytes bytes = hbm_bytes(launch, gpu);
  if (seconds.hbm == body && bytes.all() > 0) {
    const double per_byte = body / bytes.all();
    share(shares, Category::kWeightStream) += per_byte * bytes.weights;
    share(shares, Category::kKvStream) += per_byte * bytes.kv;
    share(shares, Category::kMovement) += per_byte * bytes.other;
  } else {
    share(shares, Category::kCompute) += body;
  }
  share(shares, Category::kSynchronisation) += seconds.barriers;
  share(shares, Category::kIdle) += gap_seconds(gpu);
}

/// Whole cycles whose sum is the whole: rounds the running sums.
std::array<std::uint64_t, kCategories> whole_cycles(const Shares& shares, double hz) {
  std::array<std::uint64_t, kCategories> cycles{};
  double sum = 0;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    const auto now = static_cast<std::uint64_t>(std::llround(std::min(sum * hz, 9e18)));
    cycles[i] = now - before;
    before = now;
  }
  return cycles;
}

void add_totals(std::span<const LaunchRecord> launches, std::uint64_t macs, const GpuConfig& gpu,
                Timing& timing) {
  std::uint64_t bytes = 0;
  for (const LaunchRecord& launch : launches) bytes += launch.declared.bytes();
  timing.bytes["hbm"] = bytes;
  timing.macs = macs;
  const LeastTime least = least_time(bytes, macs, launches.size(), gpu);
  timing.bound = Bound{least.name, timing.seconds > 0 ? least.seconds / timing.seconds : 0};
}

}  // namespace

GpuConfig parse_gpu_config(std::string_view text, std::string_view where) {
  const json root = parse_config(text, where);
  Reader read{root, where};
  GpuConfig gpu;
  const json& name = read.member("name");
  if (!name.is_string()) throw Error(where, "key name: not a text", shown(name), "a text");
  gpu.name = name.get<std::string>();
  read.number("clock_mhz", gpu.clock_mhz, kLowestRate, kHighestRate);
  read.count("multiprocessors", gpu.multiprocessors, 1'000'000);
  read.count("max_threads", gpu.max_threads, 1'000'000);
  read.count("max_blocks", gpu.max_blocks, 1'000'000);
  read.count("memory_bytes", gpu.memory_bytes, std::uint64_t{1} << 50);
  read.number("hbm_gb_per_s", gpu.hbm_gb_per_s, kLowestRate, kHighestRate);
  read.number("hbm_efficiency", gpu.hbm_efficiency, kLowestEfficiency, 1);
  read.count("l2_bytes", gpu.l2_bytes, std::uint64_t{1} << 50);
  read.number("int8_tensor_tops", gpu.int8_tensor_tops, kLowestRate, kHighestRate);
  read.number("int8_tensor_efficiency", gpu.int8_tensor_efficiency, kLowestEfficiency, 1);
  read.count("dp4a_per_clock", gpu.dp4a_per_clock, 1'000'000);
  read.number("dp4a_efficiency", gpu.dp4a_efficiency, kLowestEfficiency, 1);
  read.count("fp32_per_clock", gpu.fp32_per_clock, 1'000'000);
  read.number("fp32_efficiency", gpu.fp32_efficiency, kLowestEfficiency, 1);
  read.number("barrier_ns", gpu.barrier_ns, kLowestRate, kHighestRate);
  read.number("launch_us", gpu.launch_us, kLowestRate, kHighestRate);
  for (const auto& [key, value] : root.items()) {
    if (!read.known.contains(key)) {
      throw Error(where, "unknown key", key, fmt::format("one of {}", fmt::join(read.known, ", ")));
    }
  }
  return gpu;
}

LaneConfig apply_settings(std::string_view text, std::string_view where,
                          std::span<const Setting> settings) {
  json root = parse_config(text, where);
  parse_gpu_config(text, where);  // the file's own faults first
  for (const auto& [key, value] : settings) {
    const std::string option = fmt::format("--set gpu.{}={}", key, value);
    const auto found = root.find(key);
    if (found == root.end()) throw Error(option, "unknown key", key, keys_of(root));
    if (key == "name") {
      *found = escaped(value);
      continue;
    }
    json number = json::parse(value, nullptr, /*allow_exceptions=*/false);
    if (!number.is_number()) throw Error(option, "not a number", value, "a number");
    *found = {{"value", std::move(number)}, {"source", "--set"}};
    parse_gpu_config(root.dump(), option);
  }
  return LaneConfig{root.dump()};
}

LaneConfig load_gpu_config(const std::filesystem::path& file, std::span<const Setting> settings) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  return apply_settings(read_text_file(file, kMostBytes), file.string(), settings);
}

LaunchSeconds launch_seconds(const LaunchRecord& launch, const GpuConfig& gpu) {
  const Seconds seconds = seconds_of(launch, gpu);
  return {seconds.body() + seconds.barriers, gap_seconds(gpu)};
}

double peak_macs_per_second(const GpuConfig& gpu) {
  const double dp4a =
      static_cast<double>(gpu.dp4a_per_clock * gpu.multiprocessors) * 4 * clock_hz(gpu);
  return std::max(gpu.int8_tensor_tops * 1e12 / 2, dp4a) / 2;
}

LeastTime least_time(std::uint64_t bytes, std::uint64_t macs, std::size_t launches,
                     const GpuConfig& gpu) {
  LeastTime least{"hbm", static_cast<double>(bytes) / (gpu.hbm_gb_per_s * 1e9)};
  const double products = static_cast<double>(macs) / peak_macs_per_second(gpu);
  if (products > least.seconds) least = {"int8", products};
  const double gaps = static_cast<double>(launches) * gap_seconds(gpu);
  if (gaps > least.seconds) least = {"launch", gaps};
  return least;
}

Timing modelled_timing(std::span<const LaunchRecord> launches, std::uint64_t macs,
                       const GpuConfig& gpu) {
  Shares shares{};
  for (const LaunchRecord& launch : launches) add_launch(launch, gpu, shares);
  double total = 0;
  for (const double seconds : shares) total += seconds;
  Timing timing(TimeClass::kModelled, total);
  timing.clock_hz = clock_hz(gpu);
  timing.cycles_by_category = whole_cycles(shares, clock_hz(gpu));
  std::uint64_t cycles = 0;
  for (const std::uint64_t part : *timing.cycles_by_category) cycles += part;
  timing.cycles = cycles;
  timing.remark = "uncalibrated, +-30 %";
  add_totals(launches, macs, gpu, timing);
  return timing;
}

Timing measured_timing(double seconds, std::span<const LaunchRecord> launches, std::uint64_t macs,
                       const GpuConfig& gpu) {
  Timing timing(TimeClass::kMeasured, seconds);
  add_totals(launches, macs, gpu, timing);
  timing.remark = "median of graph replays";
  return timing;
}

}  // namespace logos::cuda
