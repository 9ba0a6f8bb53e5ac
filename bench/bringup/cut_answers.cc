#include "bench/bringup/cut_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "program/error.h"
#include "program/genuine.h"
#include "program/written.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/memory_image.h"
#include "sim/reference/reference_lane.h"

namespace logos::d5005 {
namespace {

constexpr std::byte kPadding{0xA5};
constexpr std::int64_t kLine = 64;

/// A cut, lowered, with the reference beside it.
class CutAnswer {
 public:
  CutAnswer(const bench::Model& model, const EngineSize& engine, const std::string& cut)
      : model_(model) {
    const Written written = logos::written(model.spec, Cut::parse(cut));
    identity_ = written.identity;
    plan_ = lower_programs(read_genuine(written.text, "bring-up", identity_), engine);
    artifact_ = lane_.lower(written.text, identity_, *model.weights, {});
    answer_.name = cut;
    answer_.sha256 = identity_.sha256;
    answer_.program = plan_.boards.front().program_base;
  }

  const Plan& plan() const { return plan_; }

  /// What lies in memory before the first run; `inputs.caches` with it.
  void load(const Inputs& inputs) {
    std::vector<Piece> pieces;
    std::vector<Piece> cached;
    write_image(plan_, 0, *model_.weights, inputs, identity_, kPadding,
                [&](std::int64_t at, std::span<const std::byte> bytes) {
                  auto& to = in_cache(at) ? cached : pieces;
                  to.push_back({at, {bytes.begin(), bytes.end()}});
                });
    image_ = joined(std::move(pieces));
    cache_ = joined(std::move(cached));
  }

  /// One run; the reference leaves in `inputs.caches` what it pushed. Gives its outputs.
  std::vector<float> run(Inputs& inputs) {
    const Result result =
        lane_.run(artifact_, identity_, *model_.weights, {}, inputs, RunOptions{});
    if (result.fault) throw Error(answer_.name, "FAULT, where a bring-up wants none");
    KnownRun& run = answer_.runs.emplace_back();
    run.image = std::exchange(image_, {});
    run.cache = std::exchange(cache_, {});
    run.table.resize(static_cast<std::size_t>(plan_.rows));
    for (std::size_t r = 0; r < run.table.size(); ++r) {
      if (plan_.has_tokens) run.table[r].token = static_cast<std::uint32_t>(inputs.tokens[r] - 1);
      if (plan_.has_positions) {
        run.table[r].position = static_cast<std::uint32_t>(inputs.positions[r] - 1);
      }
    }
    run.output_bytes = plan_.host_units * kLine;
    expect(result.outputs, run);
    return result.outputs;
  }

  KnownAnswer finish(int rung, std::string proves, std::string look_at, BankOf bank_of) {
    answer_.rung = rung;
    answer_.proves = std::move(proves);
    answer_.look_at = std::move(look_at);
    answer_.bank_of = bank_of;
    return std::move(answer_);
  }

 private:
  bool in_cache(std::int64_t at) const {
    const auto& caches = plan_.boards.front().caches;
    return std::any_of(caches.begin(), caches.end(), [&](const CacheItem& cache) {
      const std::int64_t rows = cache.row_stride == 0 ? 1 : plan_.rows;
      return at >= cache.base && at < cache.base + rows * cache.heads * cache.head_stride;
    });
  }

  void expect(const std::vector<float>& outputs, KnownRun& run) const {
    for (const OutputPiece& piece : plan_.outputs) {
      const std::int64_t lines = (piece.columns + 15) / 16;
      for (std::int64_t t = 0; t < plan_.output_rows; ++t) {
        Piece row;
        row.at = (piece.offset + t * lines) * kLine;
        row.bytes.resize(static_cast<std::size_t>(piece.columns) * sizeof(float));
        std::memcpy(row.bytes.data(), outputs.data() + t * plan_.output_columns + piece.first,
                    row.bytes.size());
        run.expected.push_back(std::move(row));
      }
    }
  }

  const bench::Model& model_;
  ReferenceLane lane_;
  Identity identity_;
  Plan plan_;
  Artifact artifact_;
  std::vector<Piece> image_;
  std::vector<Piece> cache_;
  KnownAnswer answer_;
};

KvCache empty_cache(const ModelSpec& spec, std::int64_t positions) {
  return {positions, spec.key_heads, spec.head_columns, 1, spec.layers};
}

/// Ids from 1 of the prompt, from its start again where it is too short.
std::vector<std::int64_t> prompt_tokens(const bench::Model& model, std::int64_t first,
                                        std::int64_t count) {
  std::vector<std::int64_t> tokens;
  const auto size = std::ssize(model.prompt);
  for (std::int64_t i = first; i < first + count; ++i) {
    tokens.push_back(model.prompt[static_cast<std::size_t>(i % size)] + 1);
  }
  return tokens;
}

std::vector<std::int64_t> consecutive(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

/// Rung 7: each part is given what the one before it gave.
void add_parts(const bench::Model& model, const EngineSize& engine,
               std::vector<KnownAnswer>& answers) {
  constexpr std::int64_t kRows = 11;  // two passes, the second not full
  const std::string rest = fmt::format("@prefill:{}", kRows);
  CutAnswer embedding(model, engine, "embedding" + rest);
  Inputs inputs;
  inputs.tokens = prompt_tokens(model, 0, kRows);
  embedding.load(inputs);
  std::vector<float> rows = embedding.run(inputs);
  answers.push_back(embedding.finish(7, "the embedding of a chunk",
                                     "rows_unit.sv (OpEmbed), row_table.sv", BankOf::kBytes));
  CutAnswer layer(model, engine, "layer:1" + rest);
  inputs = {};
  inputs.positions = consecutive(1, kRows);
  inputs.given = rows;
  inputs.caches.push_back(empty_cache(model.spec, kRows));
  layer.load(inputs);
  rows = layer.run(inputs);
  answers.push_back(layer.finish(7, "one whole layer of a chunk",
                                 "how the units work together: dispatcher.sv, chains, the fence",
                                 BankOf::kAny));
  CutAnswer head(model, engine, "head" + rest);
  inputs = {};
  inputs.given = rows;
  head.load(inputs);
  head.run(inputs);
  answers.push_back(head.finish(7, "the last norm and the logits of the last row",
                                "last_row in dispatcher.sv; product_unit.sv", BankOf::kOutputs));
}

/// A prompt step by step. Gives the cache that it leaves.
KvCache add_steps(const bench::Model& model, const EngineSize& engine, std::int64_t steps,
                  std::vector<KnownAnswer>& answers) {
  CutAnswer decode(model, engine, fmt::format("decode:{}", steps));
  Inputs all;
  all.positions = consecutive(1, steps);  // the rotary rows of all steps; the cache fills itself
  decode.load(all);
  Inputs inputs;
  inputs.caches.push_back(empty_cache(model.spec, steps));
  for (std::int64_t step = 1; step <= steps; ++step) {
    inputs.tokens = prompt_tokens(model, step - 1, 1);
    inputs.positions = {step};
    decode.run(inputs);
  }
  answers.push_back(decode.finish(8, "logits of every step of a prompt",
                                  "the first step that differs; its cache lines in the banks",
                                  BankOf::kOutputs));
  return inputs.caches.front();
}

void add_chunk(const bench::Model& model, const EngineSize& engine, int rung, std::int64_t rows,
               std::vector<KnownAnswer>& answers) {
  CutAnswer chunk(model, engine, fmt::format("prefill:{}", rows));
  Inputs inputs;
  inputs.tokens = prompt_tokens(model, 0, rows);
  inputs.positions = consecutive(1, rows);
  inputs.caches.push_back(empty_cache(model.spec, rows));
  chunk.load(inputs);
  chunk.run(inputs);
  answers.push_back(chunk.finish(rung, "a chunk of several passes",
                                 "passes: row_table.sv, dispatcher.sv; rows that see others' keys",
                                 BankOf::kOutputs));
}

/// Rows at different positions, each over a copy of the cache that the steps left.
void add_batch(const bench::Model& model, const EngineSize& engine, int rung, std::int64_t rows,
               const KvCache& cache, std::vector<KnownAnswer>& answers) {
  CutAnswer batch(model, engine, fmt::format("batch:{}x{}", rows, cache.positions));
  Inputs inputs;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t position = std::max<std::int64_t>(1, cache.positions - 2 * r);
    inputs.positions.push_back(position);
    inputs.tokens.push_back(prompt_tokens(model, position - 1, 1).front());
    inputs.caches.push_back(cache);
  }
  batch.load(inputs);
  batch.run(inputs);
  answers.push_back(batch.finish(rung, "a step of several sequences, each over its own cache",
                                 "cache_row_stride; row table; rows of one pass at other positions",
                                 BankOf::kOutputs));
}

}  // namespace

std::vector<KnownAnswer> cut_answers(const bench::Model& model, const EngineSize& engine,
                                     std::uint64_t seed) {
  if (model.prompt.empty()) throw Error(model.name, "no prompt.txt beside the model");
  std::vector<KnownAnswer> answers;
  add_parts(model, engine, answers);
  const KvCache cache = add_steps(model, engine, 24, answers);
  add_chunk(model, engine, 9, 29, answers);
  add_batch(model, engine, 9, 11, cache, answers);
  std::mt19937_64 random(seed);
  add_chunk(model, engine, 10, 2 + static_cast<std::int64_t>(random() % 14), answers);
  add_batch(model, engine, 10, 2 + static_cast<std::int64_t>(random() % 9), cache, answers);
  return answers;
}

}  // namespace logos::d5005
