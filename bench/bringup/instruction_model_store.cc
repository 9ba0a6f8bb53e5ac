// OpStore of what lies outside of vector memory: activation and query memory, the attend unit's
// buffer.

#include <algorithm>
#include <cstring>

#include "bench/bringup/instruction_model.h"
#include "program/divide_up.h"
#include "program/error.h"

namespace logos::d5005 {
namespace {

template <typename T>
std::span<const std::byte> bytes_of(std::span<const T> values) {
  return std::as_bytes(values);
}

/// An exponent as the int32 that stands in a line of its own.
std::array<std::byte, 4> exponent_bytes(std::int8_t exponent) {
  const std::int32_t wide = exponent;
  std::array<std::byte, 4> bytes;
  std::memcpy(bytes.data(), &wide, sizeof wide);
  return bytes;
}

}  // namespace

void InstructionModel::put_lines(std::int64_t line, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 64) {
    const auto part = bytes.subspan(at, std::min<std::size_t>(64, bytes.size() - at));
    std::copy(part.begin(), part.end(), host_[line + static_cast<std::int64_t>(at / 64)].begin());
  }
}

void InstructionModel::store_others(const Instruction& i, const Pass& pass) {
  const auto what = static_cast<StoreSource>(i.variant);
  const std::int64_t words = divide_up(i.columns, 32);
  std::int64_t lines = words + 1;  // of a row
  if (what == StoreSource::kQuery) lines = i.heads * (divide_up(i.head_columns, 32) + 1);
  if (what == StoreSource::kScores) lines = i.group * divide_up(i.columns, 16);
  if (what == StoreSource::kWeightSums) lines = divide_up(i.group, 8);
  for (std::int64_t r = 0; r < pass.rows; ++r) {
    if (i.only_row != 0 && r + 1 != i.only_row) continue;
    const std::int64_t t = i.last_row != 0 ? 0 : pass.first_row + r;
    const std::int64_t line = i.host_offset + t * lines;
    if (what == StoreSource::kActivation) {
      const auto& row = activations_[static_cast<std::size_t>(r)];
      put_lines(line, bytes_of(std::span(row).subspan(i.source * 64, i.columns)));
      put_lines(line + words, exponent_bytes(exponents_[static_cast<std::size_t>(r)]));
    } else if (what == StoreSource::kQuery) {
      store_query(i, r, line);
    } else {
      store_pair(i, line);
    }
  }
}

void InstructionModel::store_query(const Instruction& i, std::int64_t r, std::int64_t line) {
  const std::int64_t words = divide_up(i.head_columns, 32);
  for (std::int64_t head = 0; head < i.heads; ++head) {
    const std::int64_t at = (r * i.heads + head) * words;
    const auto from = static_cast<std::size_t>(at * 32);
    put_lines(line,
              bytes_of(std::span<const std::int16_t>(queries_).subspan(from, i.head_columns)));
    put_lines(line + words, exponent_bytes(query_exponents_.at(at)));
    line += words + 1;
  }
}

void InstructionModel::store_pair(const Instruction& i, std::int64_t line) {
  const bool sums = i.variant == static_cast<std::uint32_t>(StoreSource::kWeightSums);
  const bool scores = pair_.target == static_cast<std::uint32_t>(AttendStop::kToScores);
  if (pair_.target == 0 || pair_.traces.size() < i.group || (sums && scores)) {
    throw Error("instruction model", "a store of what the attend unit does not hold", describe(i),
                "a pair of that target");
  }
  std::vector<std::int64_t> totals;
  for (std::size_t g = 0; g < i.group; ++g) {
    const reference::HeadTrace& trace = pair_.traces[g];
    totals.push_back(trace.weight_sum);
    if (sums) continue;
    // From the begin of the first block on; what takes no part is 0, what follows is stale.
    std::vector<std::uint32_t> slots(static_cast<std::size_t>(pair_.first % 128), 0);
    for (std::size_t t = 0; t < trace.scores.size(); ++t) {
      slots.push_back(scores ? std::bit_cast<std::uint32_t>(trace.scores[t])
                             : static_cast<std::uint32_t>(trace.weights[t]));
    }
    slots.resize(i.columns, 0xDEADBEEF);
    put_lines(line, bytes_of(std::span<const std::uint32_t>(slots)));
    line += divide_up(i.columns, 16);
  }
  if (sums) put_lines(line, bytes_of(std::span<const std::int64_t>(totals)));
}

}  // namespace logos::d5005
