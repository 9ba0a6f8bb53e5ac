#include "bench/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/error.h"

namespace logos::bench {
namespace {

constexpr std::int64_t kChunk = 64;  // tokens of a prefill program

/// Prefills the prompt; the last chunk's row is what its last token predicts.
Result prefill(const GenerateWork& work, Tape& tape, Inputs& inputs) {
  const auto length = static_cast<std::int64_t>(work.prompt.size());
  for (std::int64_t done = 0;;) {
    Cut chunk;
    chunk.work = Cut::Work::kPrefill;
    chunk.rows = std::min(kChunk, length - done);
    inputs.tokens.clear();
    inputs.positions.clear();
    for (std::int64_t i = done; i < done + chunk.rows; ++i) {
      inputs.tokens.push_back(work.prompt[static_cast<std::size_t>(i)] + 1);
      inputs.positions.push_back(i + 1);
    }
    Result result = tape.run(chunk, inputs);
    done += chunk.rows;
    if (done == length) return result;
  }
}

}  // namespace

GenerateWork generate_work(const Plan& plan, std::int64_t count,
                           std::optional<std::int64_t> context) {
  if (plan.cut.part != Cut::Part::kWhole || plan.cut.work == Cut::Work::kBatch) {
    throw Error("--generate", "continues one sequence", plan.cut.text(),
                "a decode step or a chunk of the whole model");
  }
  GenerateWork work;
  work.prompt = plan.histories.front();
  for (const std::int64_t token : plan.tokens) work.prompt.push_back(token - 1);
  work.count = count;
  // The last generated token is not fed back.
  const auto prompt = static_cast<std::int64_t>(work.prompt.size());
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (count > kMost - prompt) {
    throw Error("--generate", "too many tokens", fmt::to_string(count),
                fmt::format("1 to {}", kMost - prompt));
  }
  const std::int64_t used = prompt + count - 1;
  work.context = context.value_or(used);
  if (work.context < used) {
    throw Error("--context", fmt::format("too short to generate {} tokens", count),
                fmt::to_string(work.context), fmt::format("{} or more", used));
  }
  return work;
}

std::int64_t first_largest(std::span<const float> values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

std::vector<std::int64_t> generate(const GenerateWork& work, const ModelSpec& spec, Tape& tape) {
  Inputs inputs;
  inputs.caches.emplace_back(work.context, spec.key_heads, spec.head_columns, 1, spec.layers);
  Cut step;
  step.context = work.context;
  std::vector<std::int64_t> generated;
  Result result = prefill(work, tape, inputs);
  for (std::int64_t i = 0; i < work.count; ++i) {
    if (i > 0) {
      inputs.tokens = {generated.back() + 1};
      inputs.positions = {static_cast<std::int64_t>(work.prompt.size()) + i};
      result = tape.run(step, inputs);
    }
    generated.push_back(first_largest(result.outputs));
  }
  return generated;
}

}  // namespace logos::bench
