#include "sim/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/attention_bound.h"
#include "program/error.h"

namespace logos {
namespace {

void check_count(std::string_view what, std::size_t got, std::size_t want) {
  if (got != want) {
    throw Error("inputs", fmt::format("count of {}", what), fmt::to_string(got),
                fmt::to_string(want));
  }
}

void check_tokens(const Program& program, const Inputs& inputs) {
  check_count("tokens", inputs.tokens.size(), program.tokens.size());
  for (std::size_t i = 0; i < inputs.tokens.size(); ++i) {
    const std::int64_t token = inputs.tokens[i];
    if (token < 1 || token > program.vocabulary) {
      throw Error(fmt::format("inputs: token {} of {}", i + 1, inputs.tokens.size()),
                  "outside the vocabulary, counted from 1", fmt::to_string(token),
                  fmt::format("1 to {}", program.vocabulary));
    }
  }
}

void check_positions(const Program& program, const Inputs& inputs) {
  check_count("positions", inputs.positions.size(), program.positions.size());
  for (std::size_t i = 0; i < inputs.positions.size(); ++i) {
    const auto where = fmt::format("inputs: position {} of {}", i + 1, inputs.positions.size());
    const std::int64_t position = inputs.positions[i];
    if (position < 1) {
      throw Error(where, "positions count from 1", fmt::to_string(position), "1 or more");
    }
    if (program.is_chunk && i > 0 && position - 1 != inputs.positions[i - 1]) {
      throw Error(where, "a chunk's positions are consecutive", fmt::to_string(position),
                  fmt::to_string(inputs.positions[i - 1] + 1));
    }
    if (program.context && position > *program.context) {
      throw Error(where, "outside the cache of the cut", fmt::to_string(position),
                  fmt::format("1 to {}", *program.context));
    }
    check_attended(position, program.window, where);
  }
}

void check_given(const Program& program, const Inputs& inputs) {
  const bool wanted = std::any_of(program.operations.begin(), program.operations.end(),
                                  [](const Operation& o) { return o.word == Word::kGiven; });
  const std::int64_t values = wanted ? program.rows * program.columns : 0;
  check_count("given values", inputs.given.size(), static_cast<std::size_t>(values));
}

/// One cache of the run against one declaration of the program.
void check_cache(const Cache& declared, const KvCache& cache, std::size_t index) {
  const auto where = fmt::format("inputs: cache {} for \"{}\"", index + 1, declared.name);
  if (cache.heads != declared.heads || cache.head_columns != declared.head_columns) {
    throw Error(where, "another shape",
                fmt::format("{} heads of {}", cache.heads, cache.head_columns),
                fmt::format("{} heads of {}", declared.heads, declared.head_columns));
  }
  const auto held = static_cast<std::int64_t>(cache.layers.size());
  if (declared.layer < cache.first_layer || declared.layer - cache.first_layer >= held) {
    throw Error(where, "missing layer",
                fmt::format("layers {} to {}", cache.first_layer, cache.first_layer + held - 1),
                fmt::to_string(declared.layer));
  }
  const KvCache::Layer& layer = cache.layer(declared.layer);
  const auto blocks = static_cast<std::size_t>(cache.positions * cache.heads);
  const std::size_t values = blocks * static_cast<std::size_t>(cache.head_columns);
  if (layer.keys.size() != values || layer.values.size() != values ||
      layer.key_exponents.size() != blocks || layer.value_exponents.size() != blocks) {
    throw Error(where, "its arrays do not hold the positions it states",
                fmt::to_string(std::min(layer.keys.size(), layer.values.size())),
                fmt::to_string(values));
  }
}

void check_caches(const Program& program, const Inputs& inputs) {
  if (program.caches.empty()) return;
  const bool each = program.caches.front().one_for_each_row;
  check_count("caches", inputs.caches.size(), each ? static_cast<std::size_t>(program.rows) : 1);
  for (const Cache& declared : program.caches) {
    for (std::size_t i = 0; i < inputs.caches.size(); ++i) {
      check_cache(declared, inputs.caches[i], i);
    }
  }
  for (std::size_t row = 0; row < inputs.positions.size(); ++row) {
    const KvCache& cache = inputs.caches[each ? row : 0];
    if (inputs.positions[row] > cache.positions) {
      throw Error(fmt::format("inputs: position {} of {}", row + 1, inputs.positions.size()),
                  "outside the cache of the run", fmt::to_string(inputs.positions[row]),
                  fmt::format("1 to {}", cache.positions));
    }
  }
}

}  // namespace

void check_inputs(const Program& program, const Inputs& inputs) {
  check_tokens(program, inputs);
  check_positions(program, inputs);
  check_given(program, inputs);
  check_caches(program, inputs);
}

}  // namespace logos
