// GMAC/s of a tile's product on one core, weights from memory (a decode step's) and from a cache.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "spatial/tile/tile_product.h"

namespace logos::spatial {
namespace {

struct Weights {
  explicit Weights(std::int64_t rows, std::int64_t columns) {
    std::mt19937_64 random(1);
    q.resize(static_cast<std::size_t>(rows * columns));
    c.resize(static_cast<std::size_t>(rows * columns / kGroup));
    scales.resize(static_cast<std::size_t>(rows), 1.0f);
    for (auto& value : q) value = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
    for (auto& value : c) value = static_cast<std::uint8_t>(random() % 256);
    view = {rows, columns, columns, columns / kGroup, q, c, scales};
  }
  Weights(const Weights&) = delete;

  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> c;
  std::vector<float> scales;
  MatrixView view;
};

/// Every tile's 171 rows (gate of Llama-3.2-1B over 48 tiles) of a matrix with 2048 columns.
void product(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::int64_t columns = 2048;
  const std::int64_t operand_rows = state.range(1);
  const Weights weights(rows, columns);
  std::vector<std::int16_t> a(static_cast<std::size_t>(operand_rows * columns));
  std::mt19937_64 random(2);
  for (auto& value : a) {
    value = static_cast<std::int16_t>(static_cast<int>(random() % 65535) - 32767);
  }
  std::vector<std::int64_t> sums(static_cast<std::size_t>(operand_rows * rows));
  TileProduct tile_product;
  const std::int64_t part = 171;
  for (auto _ : state) {
    for (std::int64_t first = 0; first < rows; first += part) {
      const std::int64_t last = std::min(rows, first + part);
      tile_product.add(weights.view, {first, last}, {0, columns}, {a.data(), operand_rows, columns},
                       sums.data() + first, rows);
    }
    benchmark::ClobberMemory();
  }
  state.counters["GMAC/s"] = benchmark::Counter(static_cast<double>(rows * columns * operand_rows) *
                                                    static_cast<double>(state.iterations()) * 1e-9,
                                                benchmark::Counter::kIsRate);
}

BENCHMARK(product)->ArgNames({"rows", "R"})->ArgsProduct({{171, 65536}, {1, 2, 4, 16}});

}  // namespace
}  // namespace logos::spatial

BENCHMARK_MAIN();
