#include "program/gguf_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "program/check.h"
#include "program/error.h"
#include "program/gguf_keys.h"
#include "program/safetensors_header.h"

namespace logos {
namespace {

constexpr std::string_view kEmbedding = "token_embd.weight";
constexpr std::string_view kRotaryFactors = "rope_freqs.weight";

void check_same(const GgufKeys& keys, std::string_view key, std::int64_t want,
                std::string_view what) {
  const auto value = keys.whole(key);
  if (!value || *value == want) return;
  throw Error(keys.place(key), fmt::format("another number than {}", what), fmt::to_string(*value),
              fmt::to_string(want));
}

/// The rows of the embedding; what the keys say of the vocabulary must agree.
std::int64_t vocabulary_of(const GgufKeys& keys, const GgufHeader& header) {
  const GgufTensor* embedding = header.tensor(kEmbedding);
  if (embedding == nullptr) {
    throw Error(tensor_place(header.file, kEmbedding), "is missing", "none", "the embedding");
  }
  if (embedding->shape.size() != 2) {
    throw Error(tensor_place(header.file, kEmbedding), "is no matrix",
                fmt::format("{} dimensions", embedding->shape.size()), "2");
  }
  const std::int64_t rows = embedding->shape[1];
  check_same(keys, "vocab_size", rows, "the rows of token_embd.weight");
  static constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
  const GgufValue* tokens = header.value(kTokens);
  if (tokens == nullptr) return rows;
  const auto* array = std::get_if<GgufArray>(&tokens->value);
  if (array == nullptr || array->element != GgufType::kString) {
    throw Error(key_place(header.file, kTokens), "no array of STRING", name_of(tokens->type),
                "an array of STRING");
  }
  if (array->count != static_cast<std::uint64_t>(rows)) {
    throw Error(key_place(header.file, kTokens), "another number than the rows of the embedding",
                fmt::to_string(array->count), fmt::to_string(rows));
  }
  return rows;
}

std::int64_t head_columns_of(const GgufKeys& keys, const ModelSpec& spec) {
  if (const auto stated = keys.whole("attention.key_length")) return *stated;
  if (spec.query_heads < 1 || spec.columns % spec.query_heads != 0) {
    throw Error(keys.place("attention.key_length"),
                "missing, and embedding_length is no multiple of attention.head_count",
                fmt::format("{} columns over {} heads", spec.columns, spec.query_heads),
                "attention.key_length");
  }
  return spec.columns / spec.query_heads;
}

Rotary rotary_of(const GgufKeys& keys, std::vector<std::string>* remarks) {
  Rotary rotary;
  if (const auto base = keys.decimal("rope.freq_base")) {
    rotary.base = *base;
  } else {
    remarks->push_back(fmt::format("{} is missing: 10000", keys.place("rope.freq_base")));
  }
  const auto type = keys.text("rope.scaling.type");
  const auto factor = keys.decimal("rope.scaling.factor");
  if (!type && factor && *factor != 1) {
    throw Error(keys.place("rope.scaling.factor"), "a factor without rope.scaling.type",
                fmt::format("{}", *factor), "rope.scaling.type");
  }
  if (!type || *type == "none") return rotary;
  if (*type != "linear") {
    throw Error(keys.place("rope.scaling.type"), "a rotation that is not supported",
                fmt::format("\"{}\"", *type), "none or linear");
  }
  if (!factor) {
    throw Error(keys.place("rope.scaling.factor"), "missing", "nothing",
                "the number that linear takes");
  }
  rotary.kind = Rotary::Kind::kLinear;
  rotary.factor = *factor;
  return rotary;
}

/// What llama3(base, factor, 1, 4, 8192) divides the frequency of pair `i` by.
double llama3_divisor(const Rotary& rotary, std::size_t i, std::size_t pairs) {
  const double turns = std::pow(rotary.base, static_cast<double>(i) / static_cast<double>(pairs));
  const double wavelength = 2 * std::numbers::pi * turns;
  if (wavelength < rotary.original / rotary.high) return 1;
  if (wavelength > rotary.original / rotary.low) return rotary.factor;
  const double s = (rotary.original / wavelength - rotary.low) / (rotary.high - rotary.low);
  return 1 / ((1 - s) / rotary.factor + s);
}

/// `rope_freqs.weight`: the divisors of a Llama 3 rotation, whose own numbers a file does not
/// state.
Rotary llama3_rotary(const InputFile& file, const GgufTensor& tensor, const ModelSpec& spec,
                     const Rotary& plain) {
  const std::string place = tensor_place(file.path(), tensor.name);
  const auto pairs = static_cast<std::size_t>(spec.head_columns / 2);
  if (tensor.type != GgufTensorType::kF32 ||
      tensor.shape != std::vector<std::int64_t>{spec.head_columns / 2}) {
    throw Error(place, "not a factor for each pair of a head's columns",
                fmt::format("{} of [{}]", name_of(tensor.type), fmt::join(tensor.shape, ", ")),
                fmt::format("F32 of [{}]", pairs));
  }
  if (plain.kind != Rotary::Kind::kPlain) {
    throw Error(place, "together with rope.scaling.type", "linear", "none");
  }
  std::vector<float> factors(pairs);
  file.read_at(tensor.begin, std::as_writable_bytes(std::span(factors)));
  float largest = 0;
  for (const float factor : factors) {
    if (!std::isfinite(factor)) {
      throw Error(place, "a factor is not finite", fmt::format("{}", factor), "a finite number");
    }
    largest = std::max(largest, factor);
  }
  Rotary rotary = plain;
  rotary.kind = Rotary::Kind::kLlama3;
  rotary.factor = by_shortest_decimal(largest);
  rotary.original = 8192;
  constexpr double kTolerance = 1e-4;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double want = llama3_divisor(rotary, i, pairs);
    if (std::fabs(double{factors[i]} - want) <= kTolerance * want) continue;
    throw Error(place,
                fmt::format("factor {} is not that of llama3({}, {}, 1, 4, 8192)", i, rotary.base,
                            rotary.factor),
                fmt::format("{}", factors[i]), fmt::format("{}", want));
  }
  return rotary;
}

}  // namespace

ModelReading read_gguf_model(const InputFile& file, const GgufHeader& header) {
  const GgufKeys keys(header);
  keys.check_known();
  ModelReading reading;
  ModelSpec& spec = reading.spec;
  spec.profile = Profile::kB;
  spec.layers = keys.required("block_count");
  spec.columns = keys.required("embedding_length");
  spec.hidden_columns = keys.required("feed_forward_length");
  spec.query_heads = keys.required("attention.head_count");
  const auto key_heads = keys.whole("attention.head_count_kv");
  spec.key_heads = key_heads.value_or(spec.query_heads);
  if (!key_heads) {
    reading.remarks.push_back(fmt::format("{} is missing: as many key heads as heads, {}",
                                          keys.place("attention.head_count_kv"), spec.key_heads));
  }
  spec.head_columns = head_columns_of(keys, spec);
  check_same(keys, "attention.value_length", spec.head_columns, "attention.key_length");
  check_same(keys, "rope.dimension_count", spec.head_columns, "attention.key_length");
  spec.vocabulary = vocabulary_of(keys, header);
  const auto epsilon = keys.decimal("attention.layer_norm_rms_epsilon");
  if (!epsilon) {
    throw Error(keys.place("attention.layer_norm_rms_epsilon"), "missing", "nothing", "a FLOAT32");
  }
  spec.norm_epsilon = *epsilon;
  spec.rotary = rotary_of(keys, &reading.remarks);
  spec.qkv_bias = keys.architecture() == "qwen2";
  spec.qk_norm = keys.architecture() == "qwen3";
  spec.tied_head = header.tensor("output.weight") == nullptr;
  reading.trained_positions = keys.whole("context_length").value_or(0);
  validate(spec, file.path().string());
  const GgufTensor* factors = header.tensor(kRotaryFactors);
  if (factors != nullptr && keys.architecture() == "llama") {
    spec.rotary = llama3_rotary(file, *factors, spec, spec.rotary);
    validate(spec, file.path().string());
  }
  return reading;
}

ModelReading read_gguf_model(const std::filesystem::path& path) {
  const InputFile file(path);
  return read_gguf_model(file, read_gguf_header(file));
}

bool looks_like_gguf(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  if (path.extension() == ".gguf") return true;
  const InputFile file(path);
  std::array<char, 4> letters{};
  if (file.size() < letters.size()) return false;
  file.read_at(0, std::as_writable_bytes(std::span(letters)));
  return std::string_view(letters.data(), letters.size()) == "GGUF";
}

std::string gguf_name(std::string_view tensor) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kParts = {
      {{"input_layernorm", "attn_norm"},
       {"self_attn.q_proj", "attn_q"},
       {"self_attn.k_proj", "attn_k"},
       {"self_attn.v_proj", "attn_v"},
       {"self_attn.o_proj", "attn_output"},
       {"self_attn.q_norm", "attn_q_norm"},
       {"self_attn.k_norm", "attn_k_norm"},
       {"post_attention_layernorm", "ffn_norm"},
       {"mlp.gate_proj", "ffn_gate"},
       {"mlp.up_proj", "ffn_up"},
       {"mlp.down_proj", "ffn_down"}}};
  if (tensor == "model.embed_tokens.weight") return std::string(kEmbedding);
  if (tensor == "model.norm.weight") return "output_norm.weight";
  if (tensor == "lm_head.weight") return "output.weight";
  static constexpr std::string_view kLayers = "model.layers.";
  const std::string_view rest = tensor.substr(kLayers.size());
  const std::size_t dot = rest.find('.');
  const std::size_t last = rest.rfind('.');
  const std::string_view part = rest.substr(dot + 1, last - dot - 1);
  const auto found = std::find_if(kParts.begin(), kParts.end(),
                                  [part](const auto& entry) { return entry.first == part; });
  CHECK(tensor.starts_with(kLayers) && found != kParts.end());
  return fmt::format("blk.{}.{}{}", rest.substr(0, dot), found->second, rest.substr(last));
}

bool is_llama(const GgufHeader& header) {
  const GgufValue* architecture = header.value("general.architecture");
  const auto* name =
      architecture == nullptr ? nullptr : std::get_if<std::string>(&architecture->value);
  return name != nullptr && *name == "llama";
}

bool has_paired_rows(const GgufHeader& header, std::string_view tensor) {
  return is_llama(header) &&
         (tensor.ends_with(".q_proj.weight") || tensor.ends_with(".k_proj.weight"));
}

}  // namespace logos
