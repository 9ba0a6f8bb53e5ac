#include "bench/tokens.h"

#include <fmt/format.h>

#include <utility>

#include "program/error.h"
#include "program/token_list.h"

namespace logos::bench {
namespace {

constexpr std::uint64_t kSeed = 1;

Sequence prompt_ids(const std::string& prompt, const Model& model) {
  if (!model.vocabulary.bytes) {
    throw Error("--prompt", fmt::format("{} has no byte vocabulary", model.name),
                fmt::format("{} token ids", model.spec.vocabulary),
                "a model of the 256 byte values, or --tokens");
  }
  if (prompt.empty()) throw Error("--prompt", "an empty text");
  Sequence ids;
  for (const char c : prompt) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

}  // namespace

std::optional<std::vector<Sequence>> given_sequences(const Options& options, const Model& model) {
  if (options.prompt) return std::vector<Sequence>{prompt_ids(*options.prompt, model)};
  if (!options.tokens) return std::nullopt;
  return read_token_lists(*options.tokens, model.spec.vocabulary);
}

std::string place_of_given(const Options& options, std::size_t index) {
  if (options.prompt) return "--prompt";
  if (!options.tokens || !options.tokens->starts_with('@')) return "--tokens";
  return fmt::format("--tokens {}", place_of_sequence(*options.tokens, index));
}

Sequence default_sequence(const Model& model, std::int64_t count) {
  Sequence ids;
  ids.reserve(static_cast<std::size_t>(count));
  if (!model.prompt.empty()) {
    for (std::int64_t i = 0; i < count; ++i) {
      ids.push_back(model.prompt[static_cast<std::size_t>(i) % model.prompt.size()]);
    }
    return ids;
  }
  SplitMix64 random(kSeed);
  const auto vocabulary = static_cast<std::uint64_t>(model.spec.vocabulary);
  for (std::int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<std::int64_t>(random.next() % vocabulary));
  }
  return ids;
}

}  // namespace logos::bench
