#include "cuda/launches.h"

#include <algorithm>
#include <limits>

#include "cuda/kernels/table.h"
#include "program/check.h"
#include "program/divide_up.h"

namespace logos::cuda {
namespace {

// Shapes that the kernels state in their headers.
constexpr std::int64_t kRowHeaderBytes = 4 * 16 * 8;
constexpr std::int64_t kElementThreads = 256;
constexpr std::int64_t kDp4aThreads = 128;
constexpr std::int64_t kDp4aOutputs = 2;
constexpr std::int64_t kMmaThreads = 128;
constexpr std::int64_t kMmaStages = 3;
constexpr std::int64_t kMmaPitch = 80;
constexpr std::int64_t kMmaOutputs = 64;  ///< of a warp
constexpr std::int64_t kHeadWarps = 4;
constexpr std::int64_t kAttentionThreads = 128;
constexpr std::int64_t kScoresBytes = kBlockQueries * (kHeadColumns / 8 * 16 + 8);

/// Attention takes so many rows at a time that the scores of a tile stay below this.
constexpr std::int64_t kMostScoreBytes = std::int64_t{1} << 28;

std::uint32_t dimension(std::int64_t value) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, 0xFFFFFFFF));
}

std::uint64_t positive(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

/// Threads for a row: 4 columns each where they last, whole warps, 512 at most.
std::int64_t row_threads(std::int64_t columns) {
  return std::clamp<std::int64_t>(round_up(divide_up(columns, 4), 32), 32, 512);
}

LaunchShape row_shape(std::int64_t rows, std::int64_t columns, std::int64_t header) {
  const std::int64_t staged = columns <= kStagedColumns ? 4 * columns : 0;
  return {{dimension(rows)},
          {dimension(row_threads(columns))},
          static_cast<std::size_t>(header + staged)};
}

LaunchShape element_shape(std::int64_t count) {
  return {{dimension(divide_up(count, kElementThreads))}, {dimension(kElementThreads)}, 0};
}

/// 1 where a run moves what the reference points at; what only an observer wants is no traffic.
std::int64_t moved(const Reference& reference) {
  return reference && reference.space != Space::kObserved ? 1 : 0;
}

/// Bytes that a row's outputs take.
std::int64_t row_bytes(const RowOutputs<Planned>& row, std::int64_t rows, std::int64_t columns) {
  std::int64_t bytes = 0;
  bytes += moved(row.out) * 4 * rows * columns;
  if (row.peak) bytes += 4 * rows;
  if (row.hi) bytes += rows * (2 * columns + 1);
  return bytes;
}

PlannedLaunch launch(const Kernel& kernel, const LaunchShape& shape, const Work& work) {
  PlannedLaunch made;
  made.kernel = &kernel;
  made.shape = shape;
  made.work = work;
  return made;
}

using Launches = std::vector<PlannedLaunch>;

/// Bytes that scale a row of so many groups: a multiplier a group and a scale a row (which a launch
/// that only sums does not read), or in profile B, which has no scales, a binary16 a group.
std::int64_t scale_bytes(const Reference& scales, std::int64_t groups, bool sums = false) {
  return scales ? groups + (sums ? 0 : 4) : 2 * groups;
}

Launches launches(const EmbedArguments<Planned>& a, const RunShape&) {
  PlannedLaunch made = launch(kernels().embed_rows, {{dimension(a.rows)}, {128}, 0}, a);
  made.traffic.weight_bytes =
      positive(a.rows) *
      positive(std::int64_t{a.columns} + scale_bytes(a.scales, divide_up(a.columns, 32)));
  made.traffic.other_bytes = positive(a.rows) * positive(4 * std::int64_t{a.columns} + 4);
  made.traffic.fp32_ops = 2 * positive(a.rows) * positive(a.columns);
  return {made};
}

Launches launches(const NormArguments<Planned>& a, const RunShape&) {
  PlannedLaunch made =
      launch(kernels().norm_rows, row_shape(a.rows, a.columns, kRowHeaderBytes), a);
  const std::int64_t elements = std::int64_t{a.rows} * a.columns;
  made.traffic.other_bytes =
      positive(4 * elements * (1 + moved(a.addend) + moved(a.sum)) + 4 * std::int64_t{a.columns} +
               row_bytes(a.row, a.rows, a.columns));
  made.traffic.fp32_ops = 8 * positive(elements);
  return {made};
}

Launches launches(const SiluArguments<Planned>& a, const RunShape&) {
  PlannedLaunch made =
      launch(kernels().silu_rows, row_shape(a.rows, a.columns, kRowHeaderBytes), a);
  const std::int64_t elements = std::int64_t{a.rows} * a.columns;
  made.traffic.other_bytes =
      positive(4 * elements * (a.up ? 2 : 1) + row_bytes(a.row, a.rows, a.columns));
  made.traffic.fp32_ops = 24 * positive(elements);
  return {made};
}

Launches launches(const QuantizeArguments<Planned>& a, const RunShape&) {
  LaunchShape shape = row_shape(a.rows, a.columns, kRowHeaderBytes);
  shape.shared_bytes = kRowHeaderBytes;  // the row itself is in memory
  PlannedLaunch made = launch(kernels().quantize_rows, shape, a);
  made.traffic.other_bytes =
      positive(4 * std::int64_t{a.rows} * a.columns + row_bytes(a.row, a.rows, a.columns) +
               (a.peaks ? 4 * std::int64_t{a.rows} * a.chips : 0));
  made.traffic.fp32_ops = 4 * positive(std::int64_t{a.rows} * a.columns);
  return {made};
}

/// Rows that a dp4a kernel holds, and the kernel.
std::pair<std::int64_t, const Kernel*> dp4a_kernel(std::int64_t rows, bool half) {
  const Kernels& all = kernels();
  if (rows <= 1) return {1, half ? &all.product_dp4a_1_half : &all.product_dp4a_1};
  if (rows <= 2) return {2, half ? &all.product_dp4a_2_half : &all.product_dp4a_2};
  if (rows <= 4) return {4, half ? &all.product_dp4a_4_half : &all.product_dp4a_4};
  return {8, half ? &all.product_dp4a_8_half : &all.product_dp4a_8};
}

Launches launches(const ProductStep& step, const RunShape&) {
  const ProductArguments<Planned>& a = step.arguments;
  const bool mma = step.kernel == ProductKernel::kMma;
  const bool half = !a.segments[0].scales;  // profile B
  const auto [tile_rows, dp4a] = dp4a_kernel(a.rows, half);
  const std::int64_t rows = mma ? 16 * std::int64_t{a.token_warps} : tile_rows;
  const std::int64_t outputs = mma ? kMmaOutputs * (kMmaThreads / 32 / std::max(a.token_warps, 1))
                                   : kDp4aThreads / std::max(a.lanes, 1) * kDp4aOutputs;
  const std::int64_t row_tiles = divide_up(a.rows, rows);
  LaunchShape shape{{0, dimension(row_tiles)}, {dimension(kMmaThreads)}, 0};
  Traffic traffic;
  std::uint64_t all_outputs = 0;
  std::int64_t exponents = 0;  // of a row; sums alone need none
  std::int64_t blocks = 0;
  for (int i = 0; i < std::clamp(a.used, 0, kSegments); ++i) {
    const ProductSegment<Planned>& s = a.segments[i];
    blocks += divide_up(s.outputs, std::max<std::int64_t>(outputs, 1));
    all_outputs += positive(s.outputs);
    traffic.weight_bytes +=
        positive(s.outputs) *
        positive(a.columns + scale_bytes(s.scales, a.span / 32, bool{s.sums}) + (s.bias ? 4 : 0));
    traffic.other_bytes += positive(s.outputs) * positive(a.rows) * (s.sums ? 8U : 4U);
    if (!s.sums) exponents = 1;
  }
  shape.grid.x = dimension(blocks);
  if (mma) {
    shape.shared_bytes = static_cast<std::size_t>(
        kMmaStages * (2 * rows * kMmaPitch + outputs * kMmaPitch + 2 * outputs * (half ? 4 : 1)));
  }
  PlannedLaunch made = launch(!mma   ? *dp4a
                              : half ? kernels().product_mma_half
                                     : kernels().product_mma,
                              shape, step);
  traffic.other_bytes += positive(a.rows) * positive(2 * std::int64_t{a.columns} + exponents);
  traffic.again_bytes = traffic.weight_bytes * positive(row_tiles - 1);
  made.macs = all_outputs * positive(a.rows) * positive(a.columns);
  traffic.int8_macs = 2 * made.macs;  // two passes of bytes
  traffic.tensor_macs = mma ? traffic.int8_macs : 0;
  traffic.fp32_ops = 2 * made.macs / 32 + 3 * all_outputs * positive(a.rows);
  made.traffic = traffic;
  return {made};
}

Launches launches(const HeadsArguments<Planned>& planned, const RunShape& run) {
  HeadsArguments<Planned> a = planned;
  a.capacity = static_cast<std::int32_t>(run.reach);
  std::int64_t heads = 0;
  std::int64_t other = 0;
  std::int64_t kv = 0;
  for (int i = 0; i < std::clamp(a.used, 0, kSegments); ++i) {
    const HeadsSegment<Planned>& s = a.segments[i];
    const std::int64_t elements = std::int64_t{a.rows} * s.heads * a.columns;
    const std::int64_t block = 2 * elements + std::int64_t{a.rows} * s.heads;
    heads += s.heads;
    other += 4 * elements * (1 + moved(s.normed) + moved(s.rotated)) + moved(s.q) * block +
             (s.gain ? 4 * std::int64_t{a.columns} : 0);
    kv += s.cache ? block : 0;
  }
  const std::int64_t units = heads * a.rows;
  PlannedLaunch made =
      launch(kernels().head_blocks,
             {{dimension(divide_up(units, kHeadWarps))}, {dimension(32 * kHeadWarps)}, 0}, a);
  made.traffic.other_bytes =
      positive(other + std::int64_t{4} * a.rows * (a.columns + (kv != 0 ? 1 : 0)));
  made.traffic.kv_bytes = positive(kv);
  made.traffic.fp32_ops = positive(8 * units * a.columns);
  return {made};
}

/// Positions that a row sees, over the rows of a tile: their number, and of the union.
struct SeenPositions {
  std::int64_t sum = 0;
  std::int64_t together = 0;   ///< of rows that share a cache
  std::int64_t by_blocks = 0;  ///< the sum of what each block's rows see together
};

/// From the first position that one of some rows sees to the last.
struct PositionRange {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = -1;

  void add(std::int64_t first, std::int64_t last) {
    lowest = std::min(lowest, first);
    highest = std::max(highest, last);
  }
  std::int64_t count() const { return highest < lowest ? 0 : highest - lowest + 1; }
};

SeenPositions seen_positions(const AttentionArguments<Planned>& a, const RunShape& run) {
  SeenPositions seen;
  PositionRange all;
  PositionRange block;
  const std::int64_t row_tile = std::max(a.row_tile, 1);
  for (std::int64_t r = 0; r < a.tile_rows; ++r) {
    const std::int64_t last = run.positions[static_cast<std::size_t>(a.tile_first + r)];
    const std::int64_t first = a.window == 0 ? 0 : std::max<std::int64_t>(0, last - a.window + 1);
    seen.sum += last - first + 1;
    all.add(first, last);
    block.add(first, last);
    if ((r + 1) % row_tile == 0 || r + 1 == a.tile_rows) {
      seen.by_blocks += block.count();
      block = {};
    }
  }
  seen.together = a.each != 0 ? seen.sum : all.count();
  return seen;
}

void add_attention_tile(const AttentionArguments<Planned>& a, const RunShape& run, Launches& made) {
  const SeenPositions seen = seen_positions(a, run);
  const std::int64_t row_blocks = divide_up(a.tile_rows, std::max(a.row_tile, 1));
  const std::int64_t threads = std::min<std::int64_t>(a.split, kAttentionThreads);
  LaunchShape shape{{dimension(a.splits), dimension(a.key_heads), dimension(row_blocks)},
                    {dimension(threads)},
                    static_cast<std::size_t>(kScoresBytes)};
  const std::uint64_t pairs = positive(seen.sum) * positive(a.heads);  // of query and position
  const std::uint64_t partials = positive(a.tile_rows) * positive(a.heads) * positive(a.splits);
  const std::uint64_t tops = positive(a.tile_rows) * positive(a.key_heads) * positive(a.splits);
  const std::uint64_t cached = positive(seen.together) * positive(a.key_heads);
  const std::uint64_t again = positive(seen.by_blocks - seen.together) * positive(a.key_heads);
  const std::uint64_t columns = positive(a.columns);

  PlannedLaunch scores = launch(kernels().attention_scores, shape, a);
  scores.macs = pairs * columns;
  scores.traffic.kv_bytes = cached * (2 * columns + 2);
  scores.traffic.again_bytes = again * (2 * columns + 2);
  scores.traffic.other_bytes = 4 * (pairs + partials + tops) +
                               positive(a.tile_rows) * (positive(a.heads) * (2 * columns + 1) + 4);
  scores.traffic.int8_macs = 4 * scores.macs;  // four products of bytes
  scores.traffic.fp32_ops = 4 * pairs;
  made.push_back(scores);

  shape.shared_bytes = static_cast<std::size_t>(kBlockQueries) *
                       static_cast<std::size_t>(4 * std::int64_t{a.split} + 16);
  PlannedLaunch values = launch(kernels().attention_values, shape, a);
  values.macs = pairs * columns;
  values.traffic.kv_bytes = cached * (2 * columns + 1);
  values.traffic.again_bytes = again * (2 * columns + 1);
  values.traffic.other_bytes =
      4 * (pairs + partials + tops + positive(a.tile_rows)) + partials * (8 + 8 * columns);
  values.traffic.fp32_ops = pairs * (2 * columns + 24);  // wide multiply-adds, exp
  made.push_back(values);

  const std::int64_t row_columns = std::int64_t{a.heads} * a.columns;
  const std::int64_t header = kRowHeaderBytes + round_up(std::int64_t{a.heads} * 8, 16);
  PlannedLaunch rows =
      launch(kernels().attention_rows, row_shape(a.tile_rows, row_columns, header), a);
  rows.traffic.other_bytes = 4 * tops + partials * (8 + 8 * columns) +
                             positive(row_bytes(a.row, a.tile_rows, row_columns));
  rows.traffic.fp32_ops = 4 * positive(a.tile_rows * row_columns);
  made.push_back(rows);
}

Launches launches(const AttentionArguments<Planned>& planned, const RunShape& run) {
  AttentionArguments<Planned> a = planned;
  const AttentionTile tile = attention_tile(a, run.reach);
  a.capacity = static_cast<std::int32_t>(run.reach);
  a.splits = static_cast<std::int32_t>(tile.splits);
  Launches made;
  for (std::int64_t first = 0; first < a.rows; first += tile.rows) {
    a.tile_first = static_cast<std::int32_t>(first);
    a.tile_rows = static_cast<std::int32_t>(std::min(tile.rows, a.rows - first));
    add_attention_tile(a, run, made);
  }
  return made;
}

Launches launches(const AddArguments<Planned>& a, const RunShape&) {
  PlannedLaunch made = launch(kernels().add_rows, element_shape(a.count), a);
  made.traffic.other_bytes = 12 * positive(a.count);
  made.traffic.fp32_ops = positive(a.count);
  return {made};
}

Launches launches(const ScaleArguments<Planned>& a, const RunShape&) {
  const std::int64_t elements = std::int64_t{a.rows} * a.columns;
  PlannedLaunch made = launch(kernels().scale_sums, element_shape(elements), a);
  made.traffic.weight_bytes = a.scales ? 4 * positive(a.columns) : 0;
  made.traffic.other_bytes = positive(elements) * (8 * positive(a.chips) + 4) + positive(a.rows);
  made.traffic.fp32_ops = 3 * positive(elements);
  return {made};
}

Launches launches(const HeldArguments<Planned>& a, const RunShape&) {
  const std::int64_t elements = std::int64_t{a.rows} * a.columns;
  PlannedLaunch made = launch(kernels().held_rows, element_shape(elements), a);
  made.traffic.other_bytes = 8 * positive(elements) + 4 * positive(a.rows);
  return {made};
}

Launches launches(const JoinArguments<Planned>& a, const RunShape&) {
  const std::int64_t elements = std::int64_t{a.rows} * a.columns;
  PlannedLaunch made = launch(kernels().join_rows, element_shape(elements), a);
  made.traffic.other_bytes = 8 * positive(elements);
  return {made};
}

}  // namespace

AttentionTile attention_tile(const AttentionArguments<Planned>& a, std::int64_t reach) {
  AttentionTile tile;
  tile.splits = divide_up(reach, std::max(a.split, 1));
  const std::int64_t row =
      4 * std::max<std::int64_t>(a.heads, 1) * std::max<std::int64_t>(tile.splits * a.split, 1);
  const std::int64_t rows = std::max<std::int64_t>(kMostScoreBytes / row, 1);
  // Whole blocks of rows, and no more blocks than a grid's z can count.
  const std::int64_t row_tile = std::max(a.row_tile, 1);
  tile.rows = std::max(std::min(rows, kMaxGridYz * row_tile) / row_tile * row_tile, row_tile);
  tile.rows = std::min<std::int64_t>(tile.rows, std::max(a.rows, 1));
  return tile;
}

std::int64_t scratch_bytes(const AttentionArguments<Planned>& a, Scratch kind, std::int64_t reach) {
  const AttentionTile tile = attention_tile(a, reach);
  const std::int64_t blocks = tile.rows * a.heads;
  switch (kind) {
    case Scratch::kScores:
    case Scratch::kWeights:
      return 4 * blocks * tile.splits * a.split;
    case Scratch::kMaxima:
      return 4 * blocks * tile.splits;
    case Scratch::kTops:
      return 4 * tile.rows * a.key_heads * tile.splits;
    case Scratch::kWeightSums:
      return 8 * blocks * tile.splits;
    case Scratch::kValueSums:
      return 8 * blocks * tile.splits * a.columns;
    case Scratch::kTotals:
      return 8 * blocks;
  }
  CHECK_UNREACHABLE();
}

std::vector<PlannedLaunch> launches_of(const Step& step, const RunShape& run) {
  return std::visit([&](const auto& work) { return launches(work, run); }, step.work);
}

}  // namespace logos::cuda
