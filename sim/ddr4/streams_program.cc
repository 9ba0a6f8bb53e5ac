// ddr4_streams: the model beside DRAMsim3 on every stream of reference/dramsim3.md, with its
// parameters, then the host's speed. Exits with 1 if a bandwidth parts by more than 5 %. Options
// are Google Benchmark's; --benchmark_format=json works.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "program/error.h"
#include "sim/ddr4/config.h"
#include "sim/ddr4/figures.h"

namespace logos::ddr4 {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint64_t kRequests = 200'000;
constexpr std::uint64_t kLatencyRequests = 40'000;
constexpr double kBar = 0.05;

std::string name_of(const Stream& stream) {
  const std::string pattern = stream.chunk_bytes == 0
                                  ? std::string("sequential")
                                  : fmt::format("random_{}B", stream.chunk_bytes);
  return stream.write_percent == 0 ? pattern
                                   : fmt::format("{}_{}%writes", pattern, stream.write_percent);
}

/// The same counters in every row: the library's CSV has one set of columns.
double report(benchmark::State& state, double dramsim3, double model, bool tabled) {
  const double deviation = model / dramsim3 - 1;
  state.counters["dramsim3"] = dramsim3;
  state.counters["model"] = model;
  state.counters["deviation_%"] = 100 * deviation;
  state.counters["tabled"] = tabled ? 1 : 0;
  return deviation;
}

void run_bandwidth(benchmark::State& state, const BandwidthFigure& figure, bool& failed) {
  const Parameters parameters = dramsim3_parameters(std::string(figure.order), figure.ranks);
  Measured measured{};
  for (auto _ : state) measured = measure(parameters, figure.stream, {}, kRequests, kSeed);
  const double deviation = report(state, figure.dramsim3, measured.fraction, figure.tabled);
  if (!(std::abs(deviation) <= kBar)) failed = true;
}

struct LatencyStatistic {
  std::string_view name;
  double LatencyFigure::*dramsim3;
  double Measured::*model;
};

constexpr LatencyStatistic kLatencyStatistics[] = {
    {"mean", &LatencyFigure::mean, &Measured::mean_latency},
    {"p50", &LatencyFigure::p50, &Measured::p50_latency},
    {"p99", &LatencyFigure::p99, &Measured::p99_latency},
};

void run_latency(benchmark::State& state, const LatencyFigure& figure,
                 const LatencyStatistic& statistic) {
  const Parameters parameters = dramsim3_parameters(std::string(kGroupLow), 1);
  Measured measured{};
  for (auto _ : state) {
    measured = measure(parameters, {figure.chunk_bytes, 0}, figure.load, kLatencyRequests, kSeed);
  }
  report(state, figure.*statistic.dramsim3, measured.*statistic.model, true);
}

/// The board's own parameters: its bandwidth and why slots were idle, and slots a second of host
/// time with one request offered per slot and the data moved, within 16 MiB written before (more
/// and it is the host's memory that is measured).
void run_speed(benchmark::State& state, const Parameters& parameters, const Stream& stream) {
  constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;
  constexpr int kSlotsPerStep = 10'000;
  Channel channel(parameters, FillPattern{});
  const std::vector<std::byte> zeros(1 << 20);
  for (std::uint64_t at = 0; at < kBytes; at += zeros.size()) channel.storage().write(at, zeros);
  StreamSource source(stream, kBytes, kSeed);
  std::vector<StreamSource::Item> items;
  items.reserve(kSlotsPerStep);
  for (int i = 0; i < kSlotsPerStep; ++i) items.push_back(source.next());
  Line data{};
  std::uint64_t issued = 0;
  for (auto _ : state) {
    for (int i = 0; i < kSlotsPerStep; ++i) {
      const StreamSource::Item& item = items[issued % items.size()];
      const Request request{item.operation, item.address, issued, &data};
      const Channel::UserClock clock = channel.user_clock(&request);
      if (clock.accepted) ++issued;
      if (clock.read != nullptr) benchmark::DoNotOptimize(clock.read->data[0]);
    }
  }
  const Counters& counters = channel.counters();
  const auto of_slots = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(counters.slots);
  };
  state.SetItemsProcessed(static_cast<std::int64_t>(counters.slots));
  std::string label = fmt::format("busy {:.3f}", of_slots(counters.busy_slots));
  for (int cause = 0; cause < kIdleCauses; ++cause) {
    label += fmt::format(" {} {:.3f}", name_of(static_cast<IdleCause>(cause)),
                         of_slots(counters.idle_slots[static_cast<std::size_t>(cause)]));
  }
  state.SetLabel(label);
}

/// A read every 16 slots: what an idle channel costs.
void run_idle_speed(benchmark::State& state, const Parameters& parameters) {
  Channel channel(parameters, FillPattern{});
  std::uint64_t issued = 0;
  for (auto _ : state) {
    for (int i = 0; i < 16; ++i) {
      const Request request{Operation::kRead, issued * kLineBytes % parameters.bytes(), issued};
      const Channel::UserClock clock = channel.user_clock(i == 0 ? &request : nullptr);
      if (clock.accepted) ++issued;
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(channel.counters().slots));
}

void register_all(const Parameters& board, bool& failed) {
  for (const BandwidthFigure& figure : kBandwidthFigures) {
    const std::string name =
        fmt::format("bandwidth/{}/{}rank/{}", figure.order, figure.ranks, name_of(figure.stream));
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&figure, &failed](benchmark::State& state) { run_bandwidth(state, figure, failed); })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  for (const LatencyFigure& figure : kLatencyFigures) {
    const std::string load = figure.load.every_clocks > 0
                                 ? std::string("idle")
                                 : fmt::format("load_{:.2f}", figure.load.fraction);
    for (const LatencyStatistic& statistic : kLatencyStatistics) {
      const std::string name = fmt::format("latency_{}/{}/{}", statistic.name,
                                           name_of(Stream{figure.chunk_bytes, 0}), load);
      benchmark::RegisterBenchmark(
          name.c_str(),
          [&figure, &statistic](benchmark::State& state) { run_latency(state, figure, statistic); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  for (const Stream stream : {Stream{0, 0}, Stream{4 * kKi, 10}, Stream{64, 0}, Stream{64, 50}}) {
    const std::string name = fmt::format("board_speed/{}", name_of(stream));
    benchmark::RegisterBenchmark(name.c_str(), [&board, stream](benchmark::State& state) {
      run_speed(state, board, stream);
    });
  }
  benchmark::RegisterBenchmark("board_speed/idle",
                               [&board](benchmark::State& state) { run_idle_speed(state, board); });
}

}  // namespace
}  // namespace logos::ddr4

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string tabular = "--benchmark_counters_tabular=true";  // the default, before those given
  arguments.insert(arguments.begin() + 1, tabular.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  std::string board_file = LOGOS_SOURCE_DIR "/configs/boards/d5005.json";
  if (count == 3 && std::string(arguments[1]) == "--board") {
    board_file = arguments[2];
  } else if (count != 1) {
    std::fprintf(stderr, "usage: ddr4_streams [--board FILE] [--benchmark_…]\n");
    return 2;
  }
  bool failed = false;
  try {
    const logos::ddr4::Parameters board = logos::ddr4::read_board_channel(board_file);
    logos::ddr4::register_all(board, failed);
    benchmark::RunSpecifiedBenchmarks();
  } catch (const logos::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  if (failed) std::fprintf(stderr, "a bandwidth parts from DRAMsim3's by more than 5 %%\n");
  return failed ? 1 : 0;
}
