#include "sim/reference/traffic.h"

#include <algorithm>

#include "sim/weights/store.h"

namespace logos::reference {
namespace {

std::uint64_t u64(std::int64_t n) { return static_cast<std::uint64_t>(n); }

/// Bytes of `rows` rows of the columns that a chip holds of a matrix: integers, and a multiplier of
/// one byte a group with a scale a row, or in profile B one of two bytes a group.
std::uint64_t matrix_bytes(Profile profile, std::int64_t rows, Share columns) {
  if (columns.size() == 0) return 0;
  const std::int64_t groups = (columns.end + kGroup - 1) / kGroup - columns.begin / kGroup;
  const std::uint64_t scales =
      profile == Profile::kB ? 2 * u64(groups) : u64(groups) + sizeof(float);
  return u64(rows) * (u64(columns.size()) + scales);
}

std::uint64_t cached_bytes(const Cache& cache, std::int64_t positions) {
  return u64(positions * cache.head_share.size()) * (u64(cache.head_columns) * 2 + 1);
}

void add_attention(const Program& program, const Operation& operation, const Inputs& inputs,
                   Traffic& traffic) {
  const Cache& keys = program.caches[static_cast<std::size_t>(operation.keys)];
  const Cache& values = program.caches[static_cast<std::size_t>(operation.cache_values)];
  const Value& block = program.values[static_cast<std::size_t>(operation.arguments.front())];
  std::int64_t visible = 0;
  std::int64_t shared_first = INT64_MAX;
  std::int64_t shared_last = 0;
  for (const std::int64_t position : inputs.positions) {
    const std::int64_t seen = program.window ? std::min(position, *program.window) : position;
    visible += seen;
    shared_first = std::min(shared_first, position - seen);
    shared_last = std::max(shared_last, position);
  }
  traffic.macs += u64(visible * block.heads * block.columns) * 2;
  const std::int64_t read = keys.one_for_each_row ? visible : shared_last - shared_first;
  traffic.bytes += cached_bytes(keys, read) + cached_bytes(values, read);
}

void add_operation(const Program& program, const Operation& operation, const Inputs& inputs,
                   Traffic& traffic) {
  switch (operation.word) {
    case Word::kEmbedded: {
      const Matrix& matrix = program.matrices[static_cast<std::size_t>(operation.matrix)];
      const auto held =
          std::count_if(inputs.tokens.begin(), inputs.tokens.end(), [&](std::int64_t token) {
            return token - 1 >= matrix.row_share.begin && token - 1 < matrix.row_share.end;
          });
      traffic.bytes += matrix_bytes(program.profile, held, matrix.column_share);
      return;
    }
    case Word::kProduct:
    case Word::kSums: {
      const Matrix& matrix = program.matrices[static_cast<std::size_t>(operation.matrix)];
      const Value& block = program.values[static_cast<std::size_t>(operation.arguments.front())];
      traffic.bytes += matrix_bytes(program.profile, matrix.row_share.size(), matrix.column_share);
      traffic.macs += u64(block.rows * matrix.row_share.size() * matrix.column_share.size());
      return;
    }
    case Word::kPush: {
      const Cache& cache = program.caches[static_cast<std::size_t>(operation.keys)];
      traffic.bytes += cached_bytes(cache, static_cast<std::int64_t>(inputs.positions.size()));
      return;
    }
    case Word::kAttended:
      add_attention(program, operation, inputs, traffic);
      return;
    default:
      return;
  }
}

}  // namespace

Traffic traffic_of(const Program& program, const Operation& operation, const Inputs& inputs) {
  Traffic traffic;
  add_operation(program, operation, inputs, traffic);
  return traffic;
}

Traffic traffic_of(std::span<const Program> programs, const Inputs& inputs) {
  Traffic traffic;
  for (const Program& program : programs) {
    for (const Operation& operation : program.operations) {
      add_operation(program, operation, inputs, traffic);
    }
  }
  return traffic;
}

}  // namespace logos::reference
