// What a run of the chips takes of this host, and where its simulated cycles go:
//   chip_speed MODEL CUT CHIP.json [KEY=VALUE]... [trace=STAGE:TILE:BLOCK]
// MODEL is a preset, with synthetic weights. `trace` prints what a tile of a stage did from a block
// on.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <random>
#include <string>

#include "program/error.h"
#include "program/genuine.h"
#include "program/presets.h"
#include "program/written.h"
#include "spatial/chip/critical_path.h"
#include "spatial/chip/run.h"
#include "spatial/lowering/lowering.h"
#include "spatial/plan/print.h"

namespace logos::spatial {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::int64_t peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// A step or batch at its last position, a chunk from the first; blocks that are not all zero.
Inputs inputs_of(const Program& program) {
  std::mt19937_64 random(1);
  Inputs inputs;
  for (std::size_t i = 0; i < program.tokens.size(); ++i) {
    inputs.tokens.push_back(1 + static_cast<std::int64_t>(random() % 1000));
  }
  for (std::int64_t row = 0; row < program.rows && !program.positions.empty(); ++row) {
    inputs.positions.push_back(program.is_chunk ? 1 + row : *program.context);
  }
  if (program.operations.front().word == Word::kGiven) {
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < program.rows * program.columns; ++i) {
      inputs.given.push_back(normal(random));
    }
  }
  if (program.caches.empty()) return inputs;
  const Cache& first = program.caches.front();
  const std::int64_t count = first.one_for_each_row ? program.rows : 1;
  for (std::int64_t i = 0; i < count; ++i) {
    KvCache& cache = inputs.caches.emplace_back(program.context.value_or(program.rows), first.heads,
                                                first.head_columns, first.layer,
                                                program.caches.back().layer - first.layer + 1);
    for (KvCache::Layer& layer : cache.layers) {
      for (auto& value : layer.keys) value = static_cast<std::int16_t>(random());
      for (auto& value : layer.values) value = static_cast<std::int16_t>(random());
      std::fill(layer.key_exponents.begin(), layer.key_exponents.end(), std::int8_t{-15});
      std::fill(layer.value_exponents.begin(), layer.value_exponents.end(), std::int8_t{-15});
    }
  }
  return inputs;
}

/// The tiles whose SRAM and whose MAC array have most to do.
void print_busiest(const RunReport& report) {
  TileReport most;
  for (const auto& chip : report.tiles) {
    for (const TileReport& tile : chip) {
      most.mac_busy = std::max(most.mac_busy, tile.mac_busy);
      most.vector_busy = std::max(most.vector_busy, tile.vector_busy);
      most.sender_busy = std::max(most.sender_busy, tile.sender_busy);
      most.sram_bytes = std::max(most.sram_bytes, tile.sram_bytes);
      most.passes = std::max(most.passes, tile.passes);
    }
  }
  fmt::print(
      "  at most in a tile: MAC array {} cycles ({} passes), vector unit {}, sender {}, SRAM {} "
      "bytes\n",
      most.mac_busy, most.passes, most.vector_busy, most.sender_busy, most.sram_bytes);
}

void print(const Plan& plan, const RunReport& report) {
  const CriticalPath path = critical_path(plan, report);
  for (int c = 0; c < kCategories; ++c) {
    fmt::print("  {:<16} {:>10}\n", name_of(static_cast<Category>(c)),
               path.by_category[static_cast<std::size_t>(c)]);
  }
  for (const auto& [line, cycles] : path.by_line) {
    if (cycles * 200 > report.cycles) fmt::print("  line {:>4} {:>10}\n", line, cycles);
  }
  for (std::size_t i = 0; i < report.stage_times.size() && i < 3; ++i) {
    const StageTime& time = report.stage_times[i];
    fmt::print("  stage {} block {}: {} cycles\n", time.stage, time.block, time.end - time.begin);
  }
  print_busiest(report);
  for (const std::string& warning : report.warnings) fmt::print("  {}\n", warning);
}

/// The steps of a tile in the order in which they began, from a block to the one after the next.
void print_trace(const Plan& plan, const RunReport& report, const std::string& which) {
  int stage = 0, tile = 0, block = 0;
  if (std::sscanf(which.c_str(), "%d:%d:%d", &stage, &tile, &block) != 3) {
    throw Error("chip_speed", "trace", which, "STAGE:TILE:BLOCK");
  }
  std::vector<StepRecord> records;
  for (const SequencerTrace& trace : report.traces) {
    if (trace.stage != stage || trace.tile != tile) continue;
    for (const StepRecord& record : trace.records) {
      const bool shown = record.block >= block && record.block <= block + 2;
      if (shown && record.end > record.start) records.push_back(record);
    }
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const StepRecord& a, const StepRecord& b) { return a.start < b.start; });
  for (const StepRecord& record : records) {
    const Step& step =
        plan.stages[static_cast<std::size_t>(stage)].steps[static_cast<std::size_t>(record.step)];
    std::string cause;
    if (record.cause.sequencer >= 0) {
      const auto& from = report.traces[static_cast<std::size_t>(record.cause.sequencer)];
      cause = fmt::format(", of stage {} tile {} at {}", from.stage, from.tile, record.cause.sent);
    }
    fmt::print("  {:>8} to {:>8} ({:>6}) block {:>3} step {:>2} {} {}{}\n", record.start,
               record.end, record.end - record.start, record.block, record.step,
               name_of(step.opcode), name_of(record.bound), cause);
  }
}

void run(int argc, char** argv) {
  if (argc < 4) throw Error("chip_speed", "usage: chip_speed MODEL CUT CHIP.json [KEY=VALUE]...");
  const auto spec = preset(argv[1]);
  if (!spec) throw Error("chip_speed", std::string("no preset ") + argv[1]);
  std::vector<ChipSetting> settings;
  std::string trace;
  for (int i = 4; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    if (text.starts_with("trace=")) {
      trace = text.substr(equals + 1);
      continue;
    }
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  const ChipConfig config = parse_chip_config(load_chip_config(argv[3], settings).json);
  const Written written = written_split(*spec, Cut::parse(argv[2]), 1);
  const auto programs = read_genuine(written.text, "chip_speed", written.identity);
  const auto weights = synthetic_store(*spec, 1);
  const Plan plan = lower_programs(read_facts(written.text, "chip_speed"), programs, config);
  Inputs inputs = inputs_of(programs.front());
  for (int turn = 0; turn < 2; ++turn) {  // the second finds the store in memory
    const double begin = cpu_seconds();
    const RunReport report = run_chips(plan, config, *weights, inputs, {});
    const double seconds = cpu_seconds() - begin;
    std::size_t steps = 0;
    for (const SequencerTrace& trace : report.traces) steps += trace.records.size();
    fmt::print("{}: {} cycles, {:.3f} s of CPU, {} MiB at most, {} steps\n", argv[2], report.cycles,
               seconds, peak_mib(), steps);
    if (turn == 0) continue;
    print(plan, report);
    if (!trace.empty()) print_trace(plan, report, trace);
  }
}

}  // namespace
}  // namespace logos::spatial

int main(int argc, char** argv) {
  try {
    logos::spatial::run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
