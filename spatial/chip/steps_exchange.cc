// Peaks, and what the text chips of a split program exchange.
#include <algorithm>
#include <cstring>

#include "program/check.h"
#include "program/shares.h"
#include "spatial/chip/sequencer.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kPeak = 4;   ///< bytes of a peak
constexpr std::int64_t kValue = 4;  ///< of a binary32
constexpr std::int64_t kSum = 8;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void append(std::vector<std::byte>& to, const void* from, std::int64_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

/// The largest of `count` peaks.
std::uint32_t largest_of(const std::byte* peaks, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t one = 0;
    std::memcpy(&one, peaks + i * kPeak, sizeof one);
    largest = std::max(largest, one);
  }
  return largest;
}

}  // namespace

void Sequencer::peak(const Step& step) {
  const int buffer = step.second ? stage().named.tile_peaks : stage().named.attention;
  state_.require_full(buffer, 0, block_, "the largest magnitude");
  const std::int64_t count =
      step.second ? stage().tiles : stage().query_heads.size() * plan().head_columns;
  vector_work(machine_.config.maximum, rows_.count * count, rows_.count * count * kPeak);
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::byte* row = state_.buffer_row(buffer, block_, r);
    peaks_[at(r)] = step.second
                        ? largest_of(row, count)
                        : largest_magnitude({reinterpret_cast<const float*>(row), at(count)});
  }
}

/// The same rows of a buffer of the same tile of every text chip: `bytes` from `at` on.
void Sequencer::send_to_peers(int buffer, Segment segment, const std::vector<std::byte>& data) {
  if (data.empty()) return;
  for (const int peer : stage().peers) {
    const StageRun& other = machine_.stage(peer);
    auto part = message(peer, buffer);
    part->segments[0] = segment;
    part->data = data;
    const bool to_self = peer == stage_.index;
    part->nodes = other.map.nodes_but(state_.tile(), 1, to_self ? state_.tile() : -1);
    send(part, to_self);
  }
}

void Sequencer::exchange_peak(const Step& step) {
  record_.bound = Category::kSynchronisation;
  const int buffer = step.second ? stage().named.chip_peaks_2 : stage().named.chip_peaks;
  std::vector<std::byte> data;
  append(data, peaks_.data(), rows_.count * kPeak);
  send_to_peers(buffer, {stage().text_chip * kPeak, kPeak}, data);
}

void Sequencer::send_peak(const Step& step) {
  record_.bound = Category::kSynchronisation;
  const int peaks = step.second ? stage().named.chip_peaks_2 : stage().named.chip_peaks;
  const int peak = step.second ? stage().named.peak_2 : stage().named.peak;
  auto part = message(stage_.index, peak);
  part->segments[0] = {0, kPeak};
  if (peaks >= 0) state_.require_full(peaks, 0, block_, "the largest magnitude of all chips");
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    std::uint32_t largest = peaks_[at(r)];
    if (peaks >= 0) {
      largest =
          std::max(largest, largest_of(state_.buffer_row(peaks, block_, r), plan().text_chips));
    }
    append(part->data, &largest, sizeof largest);
  }
  send_to_all(part);
}

/// What of the tile's output rows a text chip adds up.
Share Sequencer::portion(Share rows, std::int64_t text_chip) const {
  const Share whole = share_of(plan().columns, text_chip, plan().text_chips);
  const std::int64_t begin = std::max(rows.begin, whole.begin);
  return {begin, std::max(begin, std::min(rows.end, whole.end))};
}

void Sequencer::send_addends(const Step& step) {
  record_.bound = Category::kMovement;
  const Share rows = share(step);
  const int buffer = step.second ? stage().named.addends_2 : stage().named.addends;
  for (const int peer : stage().peers) {
    const StageRun& other = machine_.stage(peer);
    const Share part = portion(rows, other.stage.text_chip);
    if (part.size() <= 0) continue;
    auto sums = message(peer, buffer);
    const std::int64_t bytes = part.size() * kSum;
    sums->segments[0] = {stage().text_chip * bytes, bytes};
    for (std::int64_t r = 0; r < rows_.count; ++r) {
      append(sums->data, sums_row(r, rows.size()) + part.begin - rows.begin, bytes);
    }
    const bool to_self = peer == stage_.index;
    sums->nodes = other.map.nodes_but(state_.tile(), 1, to_self ? state_.tile() : -1);
    send(sums, to_self);
  }
}

void Sequencer::send_totals(const Step& step) {
  record_.bound = Category::kMovement;
  const Share rows = share(step);
  const Share own = portion(rows, stage().text_chip);
  const int addends = step.second ? stage().named.addends_2 : stage().named.addends;
  const int totals = step.second ? stage().named.totals_2 : stage().named.totals;
  state_.require_full(addends, 0, block_, "the sum over chips");
  const std::int64_t n = own.size();
  const std::int64_t all = plan().text_chips * rows_.count * n;
  vector_work(machine_.config.add, all, all * kSum);
  std::vector<std::byte> data;
  for (std::int64_t r = 0; r < rows_.count && n > 0; ++r) {
    const auto* from = reinterpret_cast<const std::int64_t*>(state_.buffer_row(addends, block_, r));
    std::vector<std::int64_t> total(at(n));
    for (std::int64_t i = 0; i < plan().text_chips * n; ++i) total[at(i % n)] += from[i];
    append(data, total.data(), n * kSum);
  }
  send_to_peers(totals, {(own.begin - rows.begin) * kSum, n * kSum}, data);
}

void Sequencer::take_totals(const Step& step) {
  record_.bound = Category::kMovement;
  const Share rows = share(step);
  const int totals = step.second ? stage().named.totals_2 : stage().named.totals;
  state_.require_full(totals, 0, block_, "the sums of all chips");
  const std::int64_t bytes = rows.size() * kSum;
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    std::memcpy(sums_row(r, rows.size()), state_.buffer_row(totals, block_, r), at(bytes));
  }
  access(2 * rows_.count * bytes);
}

/// The tile's logits stand side by side for the text chips: those before have theirs first.
void Sequencer::send_joined(const Step& step) {
  record_.bound = Category::kMovement;
  const Share rows = share(step);
  std::int64_t offset = 0;
  for (const int peer : stage().peers) {
    const Stage& other = machine_.stage(peer).stage;
    if (other.text_chip >= stage().text_chip) continue;
    offset += other.partitions[at(step.partition)].of(state_.tile()).size();
  }
  std::vector<std::byte> data;
  append(data, values_row(0, rows.size()), rows_.count * rows.size() * kValue);
  send_to_peers(stage().named.joined, {offset * kValue, rows.size() * kValue}, data);
}

}  // namespace logos::spatial
