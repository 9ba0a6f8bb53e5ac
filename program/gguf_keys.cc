#include "program/gguf_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "program/check.h"
#include "program/error.h"
#include "program/safetensors_json.h"

namespace logos {
namespace {

constexpr std::array<std::string_view, 3> kArchitectures = {"llama", "qwen2", "qwen3"};

/// Keys under `ARCH.` that are read here, or that change nothing that is computed.
constexpr std::array<std::string_view, 16> kKnown = {"block_count",
                                                     "embedding_length",
                                                     "feed_forward_length",
                                                     "attention.head_count",
                                                     "attention.head_count_kv",
                                                     "attention.key_length",
                                                     "attention.value_length",
                                                     "attention.layer_norm_rms_epsilon",
                                                     "rope.dimension_count",
                                                     "rope.freq_base",
                                                     "rope.scaling.type",
                                                     "rope.scaling.factor",
                                                     "rope.scaling.finetuned",
                                                     "context_length",
                                                     "vocab_size",
                                                     "tensor_data_layout"};

/// Keys of features that are not computed here: 0 says that the model is without.
constexpr std::array<std::string_view, 3> kOnlyZero = {"expert_count", "expert_used_count",
                                                       "attention.sliding_window"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// A whole number from 0 up of any integer type; null for what is none.
std::optional<std::int64_t> whole_of(const GgufValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value.value)) {
    if (*number <= static_cast<std::uint64_t>(INT64_MAX)) return static_cast<std::int64_t>(*number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) {
    if (*number >= 0) return *number;
  }
  return std::nullopt;
}

/// A value as a message shows it.
std::string shown(const GgufValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value.value)) return fmt::to_string(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) return fmt::to_string(*number);
  if (const auto* number = std::get_if<double>(&value.value)) {
    return fmt::format("{} {}", name_of(value.type), *number);
  }
  if (const auto* text = std::get_if<std::string>(&value.value)) return in_quotes(*text);
  return std::string(name_of(value.type));
}

}  // namespace

double by_shortest_decimal(float value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  CHECK(error == std::errc());
  double wide = 0;
  const auto [read, wrong] = std::from_chars(text.data(), end, wide);
  CHECK(wrong == std::errc() && read == end);
  return wide;
}

GgufKeys::GgufKeys(const GgufHeader& header) : header_(header) {
  static constexpr std::string_view kKey = "general.architecture";
  const GgufValue* value = header.value(kKey);
  const auto* name = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
  if (name != nullptr && holds(kArchitectures, *name)) {
    architecture_ = *name;
    return;
  }
  throw Error(key_place(header.file, kKey),
              value == nullptr ? "missing" : "an architecture that is not supported",
              value == nullptr ? "nothing" : shown(*value),
              fmt::format("{}", fmt::join(kArchitectures, ", ")));
}

std::string GgufKeys::place(std::string_view key) const {
  return key_place(header_.file, fmt::format("{}.{}", architecture_, key));
}

const GgufValue* GgufKeys::find(std::string_view key) const {
  return header_.value(fmt::format("{}.{}", architecture_, key));
}

std::optional<std::int64_t> GgufKeys::whole(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto number = whole_of(*value)) return number;
  throw Error(place(key), "no whole number from 0 up", shown(*value), "a whole number");
}

std::int64_t GgufKeys::required(std::string_view key) const {
  if (const auto value = whole(key)) return *value;
  throw Error(place(key), "missing", "nothing", "a whole number");
}

std::optional<double> GgufKeys::decimal(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto* number = std::get_if<double>(&value->value);
  if (value->type != GgufType::kFloat32 || !(*number >= 0 && *number <= 3.5e38)) {
    throw Error(place(key), "no finite FLOAT32 from 0 up", shown(*value), "a FLOAT32");
  }
  return by_shortest_decimal(static_cast<float>(*number));
}

std::optional<std::string> GgufKeys::text(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&value->value)) return *text;
  throw Error(place(key), "no STRING", shown(*value), "a STRING");
}

void GgufKeys::check_known() const {
  const std::string prefix = architecture_ + ".";
  for (const auto& [key, value] : header_.values) {
    const std::string place = key_place(header_.file, key);
    if (key == "split.count" && whole_of(value) > 1) {
      throw Error(place, "one of several files", shown(value), "a model in one file");
    }
    if (!key.starts_with(prefix)) continue;
    const std::string_view name = std::string_view(key).substr(prefix.size());
    if (holds(kKnown, name)) continue;
    if (holds(kOnlyZero, name)) {
      if (whole_of(value) == 0) continue;
      throw Error(place, "not supported", shown(value), "0, or no such key");
    }
    throw Error(place, "a key that may change what is computed, and is not read", shown(value),
                "no such key");
  }
}

}  // namespace logos
