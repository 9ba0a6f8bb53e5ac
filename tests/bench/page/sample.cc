#include "tests/bench/page/sample.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "program/cut.h"
#include "program/model_spec.h"
#include "program/written.h"

namespace logos::bench {
namespace {

constexpr std::int32_t kFirstLine = 32;
constexpr std::int32_t kLines = 24;

MachineMap sample_map() {
  MachineMap map;
  map.stages = {{"embedding", 0, 0, 0, 1, 1, 1, 65536, 120},
                {"layer 1", 0, 1, 0, 2, 2, 4, 70001, 901}};
  ChipUse chip{4, 3, {}, {{0, 1, 0.25}, {1, 2, 0.5}, {2, 6, 0.125}}};
  for (int tile = 0; tile < 12; ++tile) {
    const int column = tile % 4;
    const int stage = tile == 0 ? 0 : tile < 8 && (column == 1 || column == 2) ? 1 : -1;
    const double busy = stage < 0 ? 0 : 0.07 * (tile + 1);
    chip.tiles.push_back({stage, stage < 0 ? 0 : 0.4, busy, busy / 2, busy / 3});
  }
  map.chips = {chip};
  map.cycles_by_line = {{33, 100}, {40, 2000}};
  return map;
}

LaneOutcome lane_of(const std::string& name, Timing timing) {
  LaneOutcome lane;
  lane.lane = name;
  lane.ending = Ending::kRan;
  lane.repeated_seconds = {timing.seconds};
  const double seconds = timing.seconds;
  lane.result = Result{1, 2, {1.0f, 2.0f}, std::nullopt, std::move(timing)};
  lane.result->timeline = std::make_shared<Timeline>(sample_timeline(seconds));
  lane.output_sha256 = std::string(64, 'a');
  lane.host_seconds = 0.512345;
  lane.simulation_seconds = 0.25;
  return lane;
}

std::vector<LaneOutcome> sample_lanes() {
  Timing reference(TimeClass::kMeasured, 2.7612e-4);
  reference.bytes = {{"ram", 604116}};
  reference.macs = 573440;
  Timing cuda(TimeClass::kModelled, 5.8671e-5);
  cuda.cycles = 107378;
  cuda.clock_hz = 1.83e9;
  cuda.bytes = {{"hbm", 676222}};
  cuda.macs = 573440;
  cuda.cycles_by_category = {731, 302, 415, 902, 3001, 102027};
  cuda.bound = Bound{"launch", 0.98213};
  cuda.remark = "uncalibrated, +-30 %";
  Timing d5005(TimeClass::kRtl, 2.0987e-5);
  d5005.cycles = 6296;
  d5005.clock_hz = 3e8;
  d5005.bytes = {
      {"ddr0", 152011}, {"ddr1", 152012}, {"ddr2", 152013}, {"ddr3", 153014}, {"host", 1024}};
  d5005.macs = 573440;
  d5005.cycles_by_category = {1966, 532, 3351, 319, 11, 117};
  d5005.bound = Bound{"ddr", 0.37711};
  Timing spatial(TimeClass::kSimulated, 5.221e-6);
  spatial.cycles = 5221;
  spatial.clock_hz = 1e9;
  spatial.bytes = {{"links", 9770}, {"sram", 604001}};
  spatial.macs = 573440;
  spatial.cycles_by_category = {2310, 299, 2145, 385, 82, 0};
  spatial.bound = Bound{"sram", 0.45219};
  std::vector<LaneOutcome> lanes = {lane_of("reference", reference), lane_of("cuda", cuda),
                                    lane_of("d5005", d5005), lane_of("spatial", spatial)};
  lanes[3].result->map = std::make_shared<MachineMap>(sample_map());
  return lanes;
}

}  // namespace

Timeline sample_timeline(double seconds) {
  Timeline timeline;
  const double end = seconds * 1e9;
  timeline.tracks = {
      {"units", "product"}, {"units", "vector"}, {"banks", "bank 0"}, {"banks", "bank 1"}};
  timeline.memory = "ddr";
  timeline.bytes_per_second = 7.68e10;
  timeline.macs_per_second = 6.144e11;
  const double step = end / kLines;
  for (std::int32_t track = 0; track < 2; ++track) {
    for (std::int32_t i = 0; i < kLines; ++i) {
      const double begin = step * i;
      timeline.slices.push_back(
          {track, kFirstLine + i, 1, begin, begin + step * (track == 0 ? 0.9 : 0.3)});
    }
  }
  for (std::int32_t bank = 0; bank < 2; ++bank) {
    Counter read{2 + bank, "read", "GB/s", {}};
    for (int i = 0; i < 64; ++i)
      read.samples.push_back({end * i / 64, 9.0 + 8 * std::sin(i + bank)});
    timeline.counters.push_back(read);
  }
  timeline.counters.push_back({0, "stalled", "fraction", {{0, 0.25}, {end / 2, 0.75}}});
  timeline.lines.push_back({0, seconds * 0.04, 0, 0});
  for (std::int32_t i = 0; i < kLines; ++i) {
    timeline.lines.push_back({kFirstLine + i, seconds * 0.04, 25000, i % 3 == 0 ? 19000u : 0u});
  }
  return timeline;
}

Report sample_report() {
  Report report;
  report.build = {"0.1.0", "g++ 12.2.0", "Release", std::string(40, 'c'), true};
  report.host = {"host", "Linux", "CPU", 2};
  report.model = "kjv";
  report.weights_kind = "checkpoint";
  report.weights_sha256 = std::string(64, 'b');
  report.configurations = {{"reference", "d1"}, {"cuda", "d2"}, {"d5005", "d3"}, {"spatial", "d4"}};
  for (const char* name : {"decode:128", "prefill:4"}) {
    CutOutcome cut;
    cut.plan.cut = Cut::parse(name);
    const Written program = written(*preset("llama-3.2-1b"), cut.plan.cut);
    cut.plan.identity = program.identity;
    cut.plan.text = program.text;
    cut.compared_with = "reference";
    cut.lanes = sample_lanes();
    report.cuts.push_back(std::move(cut));
  }
  return report;
}

}  // namespace logos::bench
