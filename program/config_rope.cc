#include "program/config_rope.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/config_keys.h"

namespace logos {
namespace {

constexpr double kDefaultTheta = 10000;  // of all four model classes

/// The kind of a block, under `rope_type`, `type`, or both with one value; "default" without.
std::string kind_of(const ConfigObject& block) {
  const auto rope_type = block.string("rope_type");
  const auto type = block.string("type");
  if (rope_type && type && *rope_type != *type) {
    block.fail("rope_type", "rope_type and type contradict",
               fmt::format("rope_type \"{}\"", *rope_type), fmt::format("type \"{}\"", *type));
  }
  if (rope_type) return *rope_type;
  return type.value_or("default");
}

double required(const ConfigObject& block, std::string_view key, std::string_view kind) {
  const auto value = block.number(key);
  if (!value) block.fail(key, "missing", "nothing", fmt::format("the number that {} takes", kind));
  return *value;
}

/// A block that is read in part would look right on short prompts: a key that its kind does not
/// take is refused unless it is neutral.
void check_block_keys(const ConfigObject& block, std::string_view kind,
                      const std::vector<std::string_view>& taken) {
  for (const auto& [key, value] : block.members().items()) {
    if (std::find(taken.begin(), taken.end(), key) != taken.end() || is_neutral(value)) continue;
    block.fail(key, fmt::format("not a key of the kind {}", kind), shown(value),
               "null, or no such key");
  }
}

/// A block's own base stays where `rotary` has it unless it states one.
void read_block(const ConfigObject& block, Rotary* rotary) {
  const std::string kind = kind_of(block);
  std::vector<std::string_view> taken = {"rope_type", "type", "rope_theta"};
  if (kind == "linear") {
    rotary->kind = Rotary::Kind::kLinear;
    taken.emplace_back("factor");
    rotary->factor = required(block, "factor", kind);
  } else if (kind == "llama3") {
    rotary->kind = Rotary::Kind::kLlama3;
    taken.insert(taken.end(), {"factor", "low_freq_factor", "high_freq_factor",
                               "original_max_position_embeddings"});
    rotary->factor = required(block, "factor", kind);
    rotary->low = required(block, "low_freq_factor", kind);
    rotary->high = required(block, "high_freq_factor", kind);
    rotary->original = required(block, "original_max_position_embeddings", kind);
  } else if (kind != "default") {
    block.fail(block.has("rope_type") ? "rope_type" : "type", "a rotation that is not supported",
               shown(nlohmann::json(kind)), "default, linear or llama3");
  }
  check_block_keys(block, kind, taken);
  if (const auto theta = block.number("rope_theta")) rotary->base = *theta;
}

}  // namespace

Rotary read_rotary(const ConfigObject& config, std::vector<std::string>* remarks) {
  const auto theta = config.number("rope_theta");
  Rotary plain;
  plain.base = theta.value_or(kDefaultTheta);
  bool stated = theta.has_value();
  std::optional<Rotary> result;
  for (const std::string_view name : {"rope_parameters", "rope_scaling"}) {
    const auto block = config.object(name);
    if (!block) continue;
    if (block->members().empty()) {
      remarks->push_back(fmt::format("{} is empty: plain rotation", name));
      continue;
    }
    Rotary rotary = plain;
    read_block(*block, &rotary);
    if (block->has("rope_theta")) {
      if (stated && rotary.base != plain.base) {
        block->fail("rope_theta", "contradicts the other rope_theta",
                    fmt::format("{}", rotary.base), fmt::format("{}", plain.base));
      }
      stated = true;
      plain.base = rotary.base;
      if (result) result->base = rotary.base;
    }
    if (result && !(rotary == *result)) {
      config.fail(name, "rope_parameters and rope_scaling contradict");
    }
    result = rotary;
  }
  if (!stated) remarks->push_back("rope_theta is missing: 10000");
  return result.value_or(plain);
}

}  // namespace logos
