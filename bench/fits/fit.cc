#include "bench/fits/fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/error.h"

namespace logos::bench {
namespace {

std::string shortage(const Fit& fit) {
  for (const MemoryUse& memory : fit.memories) {
    if (memory.needed > memory.there_is) {
      return fmt::format("{}: {} {} needed, {} there are", memory.name, memory.needed, memory.unit,
                         memory.there_is);
    }
  }
  if (fit.chips > fit.chips_are) {
    return fmt::format("{} chips needed, {} there are", fit.chips, fit.chips_are);
  }
  return "";
}

/// The largest number from 1 to `most` that passes, where all below one that passes do; null where
/// 1 does not.
template <typename Passes>
std::optional<std::int64_t> largest(std::int64_t most, const Passes& passes) {
  if (!passes(1)) return std::nullopt;
  std::int64_t good = 1;
  std::int64_t bad = most + 1;
  while (good < most && bad == most + 1) {
    const std::int64_t next = std::min(good * 2, most);
    (passes(next) ? good : bad) = next;
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (passes(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

bool Fit::fits() const { return shortage(*this).empty(); }

std::vector<std::int64_t> timed_positions(const Cut& cut) {
  if (cut.part == Cut::Part::kEmbedding || cut.part == Cut::Part::kHead) return {};
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < cut.rows; ++row) {
    positions.push_back(cut.work == Cut::Work::kPrefill ? row + 1 : cut.context);
  }
  return positions;
}

FitAnswer answer_of(const FitLane& lane, const ModelSpec& spec, const Cut& cut,
                    std::int64_t chips) {
  FitAnswer answer{lane.name, std::nullopt, "", std::nullopt, std::nullopt, std::nullopt};
  try {
    answer.fit = lane.fit(spec, cut, chips);
    answer.reason = shortage(*answer.fit);
  } catch (const Error& error) {
    answer.reason = error.what();
  }
  const auto passes = [&](const Cut& of, std::int64_t on) {
    try {
      return lane.fit(spec, of, on).fits();
    } catch (const Error&) {
      return false;
    }
  };
  for (std::int64_t on = 1; on <= spec.query_heads && !answer.chips_needed; ++on) {
    if (passes(cut, on)) answer.chips_needed = on;
  }
  const bool is_step = cut.work != Cut::Work::kPrefill;
  answer.largest_context = largest(kMostContext, [&](std::int64_t context) {
    Cut step = cut;
    step.work = cut.work == Cut::Work::kBatch ? Cut::Work::kBatch : Cut::Work::kDecode;
    step.rows = is_step ? cut.rows : 1;
    step.context = context;
    return passes(step, chips);
  });
  answer.largest_batch = largest(kMostBatch, [&](std::int64_t rows) {
    Cut batch = cut;
    batch.work = Cut::Work::kBatch;
    batch.rows = rows;
    batch.context = is_step ? cut.context : cut.rows;
    return passes(batch, chips);
  });
  return answer;
}

}  // namespace logos::bench
