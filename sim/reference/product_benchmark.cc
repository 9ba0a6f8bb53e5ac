// The reference's matrix product against a fixed comparison loop, in one run on one thread: both
// are timed in turn on the same data, and their sums compared. Times are CPU time of the thread;
// `ratio` is time over time: below 1 the product is the faster one. The comparison's weights were
// packed ahead of time, the product packs within its time.
#include <benchmark/benchmark.h>

#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/reference/product.h"
#include "sim/reference/product_comparison.h"

namespace logos::reference {
namespace {

/// With few activation rows the weights come from memory, as they do in a decode step: enough
/// copies in turn that no cache holds them.
constexpr std::int64_t kColdBytes = std::int64_t{192} << 20;
constexpr std::int64_t kColdRows = 8;

struct Weights {
  Weights(std::int64_t rows, std::int64_t columns, std::mt19937_64& engine) {
    view.rows = rows;
    view.columns = view.pitch = columns;
    view.groups = columns / kGroup;
    q.resize(static_cast<std::size_t>(rows * columns));
    c.resize(static_cast<std::size_t>(rows * view.groups));
    scales.resize(static_cast<std::size_t>(rows), 1.0f);
    for (auto& value : q) value = static_cast<std::int8_t>(static_cast<int>(engine() % 255) - 127);
    for (auto& value : c) value = static_cast<std::uint8_t>(engine() % 256);
    view.q = q;
    view.multipliers = c;
    view.scales = scales;
  }
  Weights(const Weights&) = delete;

  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> c;
  std::vector<float> scales;
  MatrixView view;
};

/// Seconds of this thread: what else runs on the machine takes no part.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void product_against_comparison(benchmark::State& state, Instructions instructions,
                                Instructions comparison) {
  const std::int64_t rows = state.range(0);
  const std::int64_t columns = state.range(1);
  const std::int64_t activation_rows = state.range(2);
  std::mt19937_64 engine(1);
  const std::int64_t copies = activation_rows <= kColdRows ? kColdBytes / (rows * columns) + 1 : 1;
  std::vector<std::unique_ptr<Weights>> weights;
  std::vector<ComparisonProduct> packed;
  for (std::int64_t i = 0; i < copies; ++i) {
    weights.push_back(std::make_unique<Weights>(rows, columns, engine));
    packed.emplace_back(weights.back()->view, comparison);
  }
  std::vector<std::int16_t> a(static_cast<std::size_t>(activation_rows * columns));
  for (auto& value : a) {
    value = static_cast<std::int16_t>(static_cast<int>(engine() % 65535) - 32767);
  }
  std::vector<std::int64_t> sums(static_cast<std::size_t>(activation_rows * rows));
  std::vector<std::int64_t> comparison_sums(sums.size());
  Workers workers(1);
  double product_seconds = 0;
  double comparison_seconds = 0;
  std::size_t copy = 0;
  for (auto _ : state) {
    const double start = thread_seconds();
    exact_sums(weights[copy]->view, {0, rows}, {0, columns}, a, activation_rows, sums, workers,
               instructions);
    const double between = thread_seconds();
    packed[copy].sums(a, activation_rows, comparison_sums);
    comparison_seconds += thread_seconds() - between;
    const double took = between - start;
    product_seconds += took;
    state.SetIterationTime(took);
    if (sums != comparison_sums) {
      state.SkipWithError("the sums of product and comparison differ");
      return;
    }
    copy = (copy + 1) % weights.size();
  }
  const auto iterations = static_cast<double>(state.iterations());
  const double operations = 2.0 * static_cast<double>(rows * columns * activation_rows);
  const std::int64_t row_bytes = columns + columns / kGroup + 4;  // elements, multipliers, scale
  const auto bytes = static_cast<double>(rows * row_bytes);
  state.counters["ratio"] = product_seconds / comparison_seconds;
  state.counters["product_gops"] = operations * iterations / product_seconds / 1e9;
  state.counters["comparison_gops"] = operations * iterations / comparison_seconds / 1e9;
  state.counters["weights_gb_per_s"] = bytes * iterations / product_seconds / 1e9;
}

void register_all() {
  for (const Instructions instructions : available_instructions()) {
    const bool vnni = instructions == Instructions::kAvx512Vnni;
    if (instructions != Instructions::kAvx2 && !vnni) continue;
    const std::string name = "product/" + std::string(name_of(instructions));
    auto* registered =
        benchmark::RegisterBenchmark(name.c_str(), [instructions](benchmark::State& state) {
          product_against_comparison(state, instructions, instructions);
        });
    registered->ArgNames({"rows", "columns", "R"})->UseManualTime();
    registered->Unit(benchmark::kMillisecond);
    for (const std::int64_t rows : {2048, 8192}) {
      for (const std::int64_t activation_rows : {1, 8, 64, 256}) {
        registered->Args({rows, 2048, activation_rows});
      }
    }
  }
}

}  // namespace
}  // namespace logos::reference

int main(int argc, char** argv) {
  logos::reference::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (benchmark::RunSpecifiedBenchmarks() == 0) return 2;
  benchmark::Shutdown();
  return 0;
}
