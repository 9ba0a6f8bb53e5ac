#include "bench/score.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bench/default_inputs.h"
#include "bench/digest.h"
#include "program/error.h"
#include "program/identity.h"

namespace logos::bench {
namespace {

std::int64_t length_of(const Sequence& sequence) {
  return static_cast<std::int64_t>(sequence.size());
}

/// Figures of one sequence while its logits arrive, position by position.
class Tally {
 public:
  explicit Tally(const Sequence& sequence) : sequence_(sequence) {}

  void add(std::span<const float> logits) {
    digest_.add(logits);
    ++score_.positions;
    if (score_.positions == length_of(sequence_)) return;  // nothing follows the last token
    ++score_.predicted;
    score_.nll +=
        negative_log_likelihood(logits, sequence_[static_cast<std::size_t>(score_.positions)]);
  }
  std::int64_t positions() const { return score_.positions; }  ///< so far
  Score finish() {
    score_.logits_sha256 = digest_.hex();
    return score_;
  }

 private:
  const Sequence& sequence_;
  StreamDigest digest_;
  Score score_;
};

/// All sequences' figures; the digest over all of them takes them in their order, so rows of later
/// sequences wait for the earlier ones.
class Sheet {
 public:
  Sheet(const std::vector<Sequence>& sequences, const RowSeen& seen)
      : seen_(seen), waiting_(sequences.size()) {
    for (const Sequence& sequence : sequences) tallies_.emplace_back(sequence);
  }

  void add(std::size_t sequence, std::span<const float> logits) {
    if (seen_) seen_(sequence, tallies_[sequence].positions(), logits);
    tallies_[sequence].add(logits);
    if (sequence == next_) {
      digest_.add(logits);
    } else {
      waiting_[sequence].insert(waiting_[sequence].end(), logits.begin(), logits.end());
    }
  }

  /// A sequence has all its logits. Sequences end in any order.
  void end(std::size_t sequence) {
    ended_.insert(sequence);
    while (ended_.contains(next_)) {
      if (++next_ == waiting_.size()) break;
      digest_.add(waiting_[next_]);
      waiting_[next_] = {};
    }
  }

  Scored finish() {
    Scored scored;
    for (Tally& tally : tallies_) {
      scored.sequences.push_back(tally.finish());
      scored.total.positions += scored.sequences.back().positions;
      scored.total.predicted += scored.sequences.back().predicted;
      scored.total.nll += scored.sequences.back().nll;
    }
    scored.total.logits_sha256 = digest_.hex();
    return scored;
  }

 private:
  const RowSeen& seen_;
  std::vector<Tally> tallies_;
  std::vector<std::vector<float>> waiting_;
  std::set<std::size_t> ended_;
  std::size_t next_ = 0;
  StreamDigest digest_;
};

std::span<const float> row_of(const Result& result, std::int64_t row) {
  const auto columns = static_cast<std::size_t>(result.columns);
  return std::span(result.outputs).subspan(static_cast<std::size_t>(row) * columns, columns);
}

KvCache empty_cache(const ScoreWork& work, const ModelSpec& spec) {
  return KvCache(work.context, spec.key_heads, spec.head_columns, 1, spec.layers);
}

Cut decode_cut(const ScoreWork& work) {
  Cut cut;
  cut.context = work.context;
  return cut;
}

Cut batch_cut(const ScoreWork& work, std::int64_t rows) {
  Cut cut;
  cut.work = Cut::Work::kBatch;
  cut.rows = rows;
  cut.context = work.context;
  return cut;
}

/// The parts of a chunk whose head shows every row.
std::vector<Cut> chunk_cuts(const ScoreWork& work, const ModelSpec& spec, std::int64_t rows) {
  Cut chunk;
  chunk.work = Cut::Work::kPrefill;
  chunk.rows = rows;
  chunk.part = Cut::Part::kEmbedding;
  std::vector<Cut> cuts = {chunk};
  chunk.part = Cut::Part::kLayer;
  for (chunk.layer = 1; chunk.layer <= spec.layers; ++chunk.layer) cuts.push_back(chunk);
  Cut head = batch_cut(work, rows);
  head.part = Cut::Part::kHead;
  cuts.push_back(head);
  return cuts;
}

/// Where a sequence's logits go, and what a dump is told.
struct Feed {
  const ScoreWork& work;
  const ModelSpec& spec;
  Tape& tape;
  Dumper* dumper;
  Sheet& sheet;

  void begin(std::vector<std::int64_t> positions, std::vector<std::int64_t> sequences) const {
    if (dumper != nullptr) dumper->begin(std::move(positions), std::move(sequences));
  }
  void end() const {
    if (dumper != nullptr) dumper->end();
  }
};

void feed_steps(const Feed& feed, std::size_t index) {
  const Sequence& sequence = feed.work.sequences[index];
  const Cut cut = decode_cut(feed.work);
  Inputs inputs;
  inputs.caches.push_back(empty_cache(feed.work, feed.spec));
  for (std::int64_t position = 1; position <= length_of(sequence); ++position) {
    inputs.tokens = {sequence[static_cast<std::size_t>(position - 1)] + 1};
    inputs.positions = {position};
    feed.begin({position}, {static_cast<std::int64_t>(index)});
    feed.sheet.add(index, row_of(feed.tape.run(cut, inputs), 0));
    feed.end();
  }
}

/// One chunk through the parts; `caches` go from layer to layer.
Result run_chunk(const Feed& feed, std::vector<std::int64_t> tokens,
                 const std::vector<std::int64_t>& positions, std::vector<KvCache>& caches) {
  Inputs inputs;
  inputs.tokens = std::move(tokens);
  const auto rows = static_cast<std::int64_t>(positions.size());
  const std::vector<Cut> cuts = chunk_cuts(feed.work, feed.spec, rows);
  Result result = feed.tape.run(cuts.front(), inputs);
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const bool layer = cuts[i].part == Cut::Part::kLayer;
    Inputs next;
    next.given = std::move(result.outputs);
    if (layer) next.positions = positions;
    if (layer) next.caches.swap(caches);
    result = feed.tape.run(cuts[i], next);
    if (layer) next.caches.swap(caches);
  }
  return result;
}

void feed_chunks(const Feed& feed, std::size_t index) {
  const Sequence& sequence = feed.work.sequences[index];
  std::vector<KvCache> caches = {empty_cache(feed.work, feed.spec)};
  for (std::int64_t done = 0; done < length_of(sequence);) {
    const std::int64_t rows = std::min(feed.work.mode.size, length_of(sequence) - done);
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> positions;
    for (std::int64_t i = done; i < done + rows; ++i) {
      tokens.push_back(sequence[static_cast<std::size_t>(i)] + 1);
      positions.push_back(i + 1);
    }
    feed.begin(positions,
               std::vector<std::int64_t>(positions.size(), static_cast<std::int64_t>(index)));
    const Result result = run_chunk(feed, std::move(tokens), positions, caches);
    feed.end();
    for (std::int64_t row = 0; row < rows; ++row) feed.sheet.add(index, row_of(result, row));
    done += rows;
  }
}

/// Sequences [first, last) together, a row each. A sequence that is at its end leaves the batch.
void feed_batch(const Feed& feed, std::size_t first, std::size_t last) {
  std::vector<std::size_t> active;
  Inputs inputs;
  for (std::size_t index = first; index < last; ++index) {
    active.push_back(index);
    inputs.caches.push_back(empty_cache(feed.work, feed.spec));
  }
  for (std::int64_t position = 1; !active.empty(); ++position) {
    inputs.tokens.clear();
    for (const std::size_t index : active) {
      inputs.tokens.push_back(feed.work.sequences[index][static_cast<std::size_t>(position - 1)] +
                              1);
    }
    inputs.positions.assign(active.size(), position);
    feed.begin(inputs.positions, {active.begin(), active.end()});
    const auto rows = static_cast<std::int64_t>(active.size());
    const Result result = feed.tape.run(batch_cut(feed.work, rows), inputs);
    feed.end();
    std::vector<std::size_t> left;
    std::vector<KvCache> caches;
    for (std::size_t row = 0; row < active.size(); ++row) {
      feed.sheet.add(active[row], row_of(result, static_cast<std::int64_t>(row)));
      if (position == length_of(feed.work.sequences[active[row]])) {
        feed.sheet.end(active[row]);
        continue;
      }
      left.push_back(active[row]);
      caches.push_back(std::move(inputs.caches[row]));
    }
    active = std::move(left);
    inputs.caches = std::move(caches);
  }
}

}  // namespace

std::string ScoreMode::text() const {
  switch (kind) {
    case Kind::kStep:
      return "every token one decode step";
    case Kind::kChunk:
      return fmt::format("in chunks of {} tokens", size);
    case Kind::kBatch:
      return fmt::format("{} sequences together", size);
  }
  return "";
}

ScoreWork score_work(std::vector<Sequence> sequences, std::optional<std::int64_t> context,
                     ScoreMode mode) {
  std::int64_t longest = 0;
  for (const Sequence& sequence : sequences) longest = std::max(longest, length_of(sequence));
  if (context && *context < longest) {
    throw Error("--context", "shorter than the longest sequence", fmt::to_string(*context),
                fmt::format("{} or more", longest));
  }
  return {std::move(sequences), context.value_or(longest), mode};
}

std::string inputs_sha256(const ScoreWork& work) {
  std::string text;
  for (const Sequence& sequence : work.sequences) {
    text += fmt::format("{}\n", fmt::join(sequence, ","));
  }
  return sha256_hex(text);
}

std::vector<Cut> score_cuts(const ScoreWork& work, const ModelSpec& spec) {
  std::vector<Cut> cuts;
  std::set<std::string> seen;
  const auto take = [&](const Cut& cut) {
    if (seen.insert(cut.text()).second) cuts.push_back(cut);
  };
  switch (work.mode.kind) {
    case ScoreMode::Kind::kStep:
      take(decode_cut(work));
      break;
    case ScoreMode::Kind::kChunk:
      for (const Sequence& sequence : work.sequences) {
        const std::int64_t rest = length_of(sequence) % work.mode.size;
        for (const std::int64_t rows :
             {length_of(sequence) - rest == 0 ? 0 : work.mode.size, rest}) {
          if (rows == 0) continue;
          for (const Cut& cut : chunk_cuts(work, spec, rows)) take(cut);
        }
      }
      break;
    case ScoreMode::Kind::kBatch: {
      const auto size = static_cast<std::size_t>(work.mode.size);
      for (std::size_t first = 0; first < work.sequences.size(); first += size) {
        take(batch_cut(work,
                       static_cast<std::int64_t>(std::min(size, work.sequences.size() - first))));
      }
      break;
    }
  }
  return cuts;
}

void check_score_memory(const ScoreWork& work, const ModelSpec& spec, std::string_view option) {
  const bool batch = work.mode.kind == ScoreMode::Kind::kBatch;
  const std::int64_t rows =
      batch ? std::min(work.mode.size, static_cast<std::int64_t>(work.sequences.size())) : 1;
  check_host_memory(batch_cut(work, rows), spec, work.context, option);
}

Scored score(const ScoreWork& work, const ModelSpec& spec, Tape& tape, Dumper* dumper,
             const RowSeen& seen) {
  Sheet sheet(work.sequences, seen);
  const Feed feed{work, spec, tape, dumper, sheet};
  if (work.mode.kind == ScoreMode::Kind::kBatch) {
    const auto size = static_cast<std::size_t>(work.mode.size);
    for (std::size_t first = 0; first < work.sequences.size(); first += size) {
      feed_batch(feed, first, std::min(work.sequences.size(), first + size));
    }
    return sheet.finish();
  }
  for (std::size_t index = 0; index < work.sequences.size(); ++index) {
    if (work.mode.kind == ScoreMode::Kind::kStep) {
      feed_steps(feed, index);
    } else {
      feed_chunks(feed, index);
    }
    sheet.end(index);
  }
  return sheet.finish();
}

double negative_log_likelihood(std::span<const float> logits, std::int64_t id) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(id)]);
}

}  // namespace logos::bench
