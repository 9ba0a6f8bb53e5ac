#include "cuda/time_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "program/error.h"

namespace logos::cuda {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::filesystem::path kGpus = std::filesystem::path(LOGOS_SOURCE_DIR) / "configs/gpus";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

GpuConfig h100() { return parse_gpu_config(text_of(kGpus / kDefaultGpu), "h100"); }

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

LaunchRecord launch_of(const Traffic& traffic, std::uint64_t barriers = 0) {
  Counters counters;
  counters.traffic = traffic;
  counters.barriers_per_block = barriers;
  return {"k", {{1000}, {256}, 0}, traffic, counters};
}

Timing timing_of(const std::vector<LaunchRecord>& launches, std::uint64_t macs = 0) {
  return modelled_timing(launches, macs, h100());
}

TEST(GpuConfigs, EveryFileIsCompleteAndTheDefaultIsThere) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGpus)) {
    EXPECT_FALSE(parse_gpu_config(text_of(entry.path()), "file").name.empty()) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 5);
  EXPECT_TRUE(std::filesystem::exists(kGpus / kDefaultGpu));
}

TEST(GpuConfigs, EachKeyIsRequiredAndNamed) {
  const json whole = json::parse(text_of(kGpus / kDefaultGpu));
  for (const auto& [key, value] : whole.items()) {
    json without = whole;
    without.erase(key);
    EXPECT_THAT(error_of([&] { parse_gpu_config(without.dump(), "f.json"); }),
                HasSubstr("f.json: key " + key + " is missing"));
  }
}

TEST(GpuConfigs, UnknownKeysAndBadValuesAreRefused) {
  const json whole = json::parse(text_of(kGpus / kDefaultGpu));
  const auto with = [&](const std::string& key, const json& value) {
    json changed = whole;
    changed[key] = value;
    return error_of([&] { parse_gpu_config(changed.dump(), "f.json"); });
  };
  const auto number = [](const json& value) { return json{{"value", value}, {"source", "test"}}; };
  EXPECT_THAT(with("hbm_gbps", 1), HasSubstr("unknown key; got hbm_gbps, want one of "));
  EXPECT_THAT(with("launch_us", 1.5), HasSubstr("key launch_us: not a number with its source"));
  EXPECT_THAT(with("launch_us", json{{"value", 1}, {"source", ""}}), HasSubstr("no source"));
  EXPECT_THAT(with("launch_us", number("1")), HasSubstr("not a number"));
  EXPECT_THAT(with("launch_us", number(0)), HasSubstr("out of range"));
  EXPECT_THAT(with("hbm_efficiency", number(1.01)), HasSubstr("out of range"));
  EXPECT_THAT(with("hbm_efficiency", number(1e-300)), HasSubstr("0.001 to 1"));
  EXPECT_THAT(with("multiprocessors", number(1.5)), HasSubstr("out of range"));
  EXPECT_THAT(with("multiprocessors", number(-1)), HasSubstr("out of range"));
  EXPECT_THAT(with("multiprocessors", number(1e300)), HasSubstr("out of range"));
  EXPECT_THAT(with("name", 3), HasSubstr("key name: not a text"));
  EXPECT_THAT(error_of([] { parse_gpu_config("{", "f.json"); }), HasSubstr("f.json: not JSON"));
  EXPECT_THAT(error_of([] { parse_gpu_config("[]", "f.json"); }), HasSubstr("object"));
}

TEST(GpuConfigs, SettingsReplaceValuesAndChangeTheDigest) {
  const auto file = kGpus / kDefaultGpu;
  const LaneConfig plain = load_gpu_config(file, {});
  const std::vector<Setting> settings = {{"hbm_gb_per_s", "4000"}, {"multiprocessors", "7"}};
  const LaneConfig changed = load_gpu_config(file, settings);
  EXPECT_NE(plain.sha256(), changed.sha256());
  EXPECT_EQ(parse_gpu_config(changed.json, "set").hbm_gb_per_s, 4000);
  EXPECT_EQ(parse_gpu_config(changed.json, "set").multiprocessors, 7U);
  EXPECT_EQ(json::parse(changed.json)["hbm_gb_per_s"]["source"], "--set");
  EXPECT_EQ(load_gpu_config(file, {}).json, plain.json);
}

TEST(GpuConfigs, BadSettingsAreRefusedNamingTheOption) {
  const auto set = [](const std::string& key, const std::string& value) {
    const std::vector<Setting> settings = {{key, value}};
    return error_of([&] { load_gpu_config(kGpus / kDefaultGpu, settings); });
  };
  EXPECT_THAT(set("hbm", "1"), HasSubstr("--set gpu.hbm=1: unknown key; got hbm, want one of "));
  EXPECT_THAT(set("launch_us", "fast"), HasSubstr("--set gpu.launch_us=fast: not a number"));
  EXPECT_THAT(set("hbm_efficiency", "2"), HasSubstr("--set gpu.hbm_efficiency=2: key hbm_effi"));
  EXPECT_THAT(error_of([] { load_gpu_config("/nowhere.json", {}); }),
              HasSubstr("/nowhere.json: cannot be opened: No such file or directory"));
  EXPECT_THAT(error_of([] { load_gpu_config("/tmp", {}); }), HasSubstr("/tmp"));
}

TEST(TimeModel, AMemoryBoundLaunchTakesItsBytesOverTheBandwidth) {
  const GpuConfig gpu = h100();
  const std::vector<LaunchRecord> launches = {
      launch_of({.weight_bytes = 3'000'000'000, .kv_bytes = 1'000'000'000})};
  const Timing timing = timing_of(launches);
  const double want = 4e9 / (gpu.hbm_gb_per_s * 1e9 * gpu.hbm_efficiency) + gpu.launch_us * 1e-6;
  EXPECT_NEAR(timing.seconds, want, want * 1e-12);
  EXPECT_EQ(timing.time_class, TimeClass::kModelled);
  EXPECT_EQ(timing.remark, "uncalibrated, +-30 %");
  EXPECT_EQ(timing.bytes.at("hbm"), 4'000'000'000U);
  EXPECT_EQ(timing.bound->name, "hbm");
  EXPECT_NEAR(timing.bound->fraction, gpu.hbm_efficiency, 0.002);
  const auto& cycles = *timing.cycles_by_category;
  const auto at = [&](Category c) {
    return static_cast<double>(cycles[static_cast<std::size_t>(c)]);
  };
  EXPECT_NEAR(at(Category::kWeightStream), 3 * at(Category::kKvStream), 4);
  EXPECT_EQ(at(Category::kCompute), 0);
}

TEST(TimeModel, WhatThreadsAskForAgainPassesNoHbm) {
  LaunchRecord shared = launch_of({.weight_bytes = 100'000'000, .other_bytes = 1000});
  const double once = timing_of({shared}).seconds;
  shared.counted->traffic.weight_bytes *= 3;
  shared.counted->traffic.other_bytes = 900'000'000;
  EXPECT_EQ(timing_of({shared}).seconds, once);
}

TEST(TimeModel, OnlyWhatIsLargerThanTheCachePassesAgainAndNoMoreThanOnceAWave) {
  const GpuConfig gpu = h100();
  const auto bytes_passed = [&](std::uint64_t operand, std::uint32_t blocks, bool kv) {
    LaunchRecord launch =
        launch_of({.weight_bytes = kv ? 0 : operand, .kv_bytes = kv ? operand : 0});
    launch.declared.again_bytes = 3 * operand;  // four tiles of rows
    launch.shape.grid.x = blocks;
    const double seconds = timing_of({launch}).seconds - gpu.launch_us * 1e-6;
    return seconds * gpu.hbm_gb_per_s * 1e9 * gpu.hbm_efficiency / static_cast<double>(operand);
  };
  constexpr std::uint32_t kWave = 8 * 132;
  for (const bool kv : {false, true}) {
    EXPECT_NEAR(bytes_passed(gpu.l2_bytes, 100 * kWave, kv), 1, 1e-9);
    EXPECT_NEAR(bytes_passed(gpu.l2_bytes + 1, kWave, kv), 1, 1e-9);
    EXPECT_NEAR(bytes_passed(gpu.l2_bytes + 1, 2 * kWave, kv), 2, 1e-9);
    EXPECT_NEAR(bytes_passed(gpu.l2_bytes + 1, 100 * kWave, kv), 4, 1e-9);
  }
  LaunchRecord launch = launch_of({.weight_bytes = 2 * gpu.l2_bytes});
  launch.declared.again_bytes = 2 * gpu.l2_bytes;
  launch.shape.grid.x = 2 * kWave;
  const Timing timing = timing_of({launch});
  EXPECT_EQ(timing.bytes.at("hbm"), 2 * gpu.l2_bytes);  // useful ones
  EXPECT_NEAR(timing.bound->fraction, gpu.hbm_efficiency / 2, 0.01);
}

TEST(TimeModel, TheBoundFollowsFromBytesMacsAndLaunches) {
  const GpuConfig gpu = h100();
  const auto expect = [&](const LeastTime& least, const std::string& name, double seconds) {
    EXPECT_EQ(least.name, name);
    EXPECT_DOUBLE_EQ(least.seconds, seconds);
  };
  EXPECT_DOUBLE_EQ(peak_macs_per_second(gpu), 1979e12 / 4);
  GpuConfig few_cores = gpu;
  few_cores.int8_tensor_tops = 1;
  EXPECT_DOUBLE_EQ(peak_macs_per_second(few_cores), 2 * 64 * 132 * 1830e6);
  expect(least_time(3'350'000'000, 1, 1, gpu), "hbm", 1e-3);
  expect(least_time(1, 1'979'000'000'000, 1, gpu), "int8", 4e-3);
  expect(least_time(1, 1, 1000, gpu), "launch", 1.6e-3);
  // Many threads that ask for the same, and rows of padding, change the time and not the bound.
  LaunchRecord launch = launch_of({.weight_bytes = 1'000'000'000, .int8_macs = 4000});
  launch.counted->traffic.int8_macs = 1'000'000'000'000;
  const Timing timing = timing_of({launch}, 2000);
  EXPECT_EQ(timing.bound->name, "hbm");
  EXPECT_NEAR(timing.bound->fraction * timing.seconds, 1e9 / 3350e9, 1e-12);
}

TEST(TimeModel, TensorCoresAndDp4aHaveTheirOwnRates) {
  const GpuConfig gpu = h100();
  const std::uint64_t macs = 1'000'000'000'000;
  const double gap = gpu.launch_us * 1e-6;
  const Timing tensor = timing_of({launch_of({.int8_macs = macs, .tensor_macs = macs})}, macs / 2);
  const Timing dp4a = timing_of({launch_of({.int8_macs = macs})}, macs / 2);
  const double tensor_rate = gpu.int8_tensor_tops * 1e12 / 2 * gpu.int8_tensor_efficiency;
  const double dp4a_rate = 4.0 * 64 * 132 * gpu.clock_mhz * 1e6 * gpu.dp4a_efficiency;
  EXPECT_NEAR(tensor.seconds - gap, 1e12 / tensor_rate, 1e-9);
  EXPECT_NEAR(dp4a.seconds - gap, 1e12 / dp4a_rate, 1e-9);
  EXPECT_EQ(tensor.bound->name, "int8");
  EXPECT_NEAR(tensor.bound->fraction, gpu.int8_tensor_efficiency, 0.001);
  EXPECT_EQ(tensor.macs, macs / 2);
  EXPECT_GT((*tensor.cycles_by_category)[static_cast<std::size_t>(Category::kCompute)], 0U);
}

TEST(TimeModel, Binary32BarriersAndGapsCount) {
  const GpuConfig gpu = h100();
  const double fp32_rate = 128.0 * 132 * gpu.clock_mhz * 1e6 * gpu.fp32_efficiency;
  EXPECT_NEAR(timing_of({launch_of({.fp32_ops = 1'000'000'000'000})}).seconds,
              1e12 / fp32_rate + gpu.launch_us * 1e-6, 1e-9);
  // 1000 blocks of 256 threads: 8 blocks on each of 132 multiprocessors fit at once.
  const Timing barriers = timing_of({launch_of({}, 10)});
  EXPECT_NEAR(barriers.seconds, 10 * gpu.barrier_ns * 1e-9 + gpu.launch_us * 1e-6, 1e-15);
  EXPECT_EQ(barriers.bound->name, "launch");
  LaunchRecord waves = launch_of({}, 10);
  waves.shape.grid.x = 3 * 8 * 132 + 1;
  EXPECT_NEAR(timing_of({waves}).seconds, 4 * 10 * gpu.barrier_ns * 1e-9 + gpu.launch_us * 1e-6,
              1e-15);
}

TEST(TimeModel, CategoriesAddUpToTheCyclesAndNoTimeIsBelowItsFloor) {
  const GpuConfig gpu = h100();
  std::vector<LaunchRecord> launches;
  for (std::uint64_t i = 1; i < 200; ++i) {
    launches.push_back(launch_of({.weight_bytes = i * 77777,
                                  .kv_bytes = i * i,
                                  .other_bytes = i * 31,
                                  .int8_macs = i * 1'000'003,
                                  .fp32_ops = i * i * 999},
                                 i % 5));
  }
  const Timing timing = timing_of(launches);
  const auto& parts = *timing.cycles_by_category;
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}), *timing.cycles);
  EXPECT_NEAR(static_cast<double>(*timing.cycles), timing.seconds * *timing.clock_hz, 1.0);
  EXPECT_GE(timing.seconds, static_cast<double>(timing.bytes.at("hbm")) / (gpu.hbm_gb_per_s * 1e9));
  EXPECT_GT(timing.bound->fraction, 0);
  EXPECT_LE(timing.bound->fraction, 1);
}

TEST(TimeModel, DeclaredTrafficServesWhereNothingWasCounted) {
  const Traffic traffic{.weight_bytes = 1'000'000, .int8_macs = 123};
  LaunchRecord declared = launch_of({});
  declared.counted.reset();
  declared.declared = traffic;
  EXPECT_EQ(timing_of({declared}).seconds, timing_of({launch_of(traffic)}).seconds);
}

TEST(TimeModel, NoLaunchesTakeNoTime) {
  const Timing timing = timing_of({});
  EXPECT_EQ(timing.seconds, 0);
  EXPECT_EQ(timing.bound->fraction, 0);
}

TEST(TimeModel, AMeasuredTimeKeepsItsClass) {
  const Timing timing =
      measured_timing(0.5, std::vector{launch_of({.weight_bytes = 10})}, 7, h100());
  EXPECT_EQ(timing.time_class, TimeClass::kMeasured);
  EXPECT_EQ(timing.seconds, 0.5);
  EXPECT_EQ(timing.bytes.at("hbm"), 10U);
  EXPECT_EQ(timing.macs, 7U);
  EXPECT_FALSE(timing.cycles.has_value());
}

}  // namespace
}  // namespace logos::cuda
