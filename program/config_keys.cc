#include "program/config_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace logos {
namespace {

using nlohmann::json;

/// Which values leave a key without effect.
enum class Neutral {
  kOff,     ///< null, false
  kFactor,  ///< null, 1, 1.0
  kCount,   ///< null, false, 0
  kEmpty    ///< null, {} or []
};

struct RefusedKey {
  std::string_view key;
  Neutral neutral;
};

// What would change bits if it were not neutral, and is not supported. The names are those of
// published configs of these and of neighbouring families: a config that uses one of them asks for
// other arithmetic, whatever its model_type says.
constexpr std::array kRefused = {
    // biases on o or in the feed-forward part (q, k, v of Qwen2 have theirs without a key)
    RefusedKey{"attention_bias", Neutral::kOff},
    RefusedKey{"mlp_bias", Neutral::kOff},
    RefusedKey{"attention_out_bias", Neutral::kOff},
    RefusedKey{"qkv_bias", Neutral::kOff},
    RefusedKey{"use_bias", Neutral::kOff},
    RefusedKey{"use_qkv_bias", Neutral::kOff},
    RefusedKey{"bias", Neutral::kOff},
    RefusedKey{"lm_head_bias", Neutral::kOff},
    RefusedKey{"head_bias", Neutral::kOff},
    // rotation
    RefusedKey{"partial_rotary_factor", Neutral::kFactor},
    RefusedKey{"rotary_pct", Neutral::kFactor},
    RefusedKey{"rope_pct", Neutral::kFactor},
    RefusedKey{"rope_percent", Neutral::kFactor},
    RefusedKey{"rotary_dim", Neutral::kOff},
    RefusedKey{"rope_interleave", Neutral::kOff},
    RefusedKey{"rope_interleaved", Neutral::kOff},
    RefusedKey{"rope_local_base_freq", Neutral::kOff},
    RefusedKey{"rope_ratio", Neutral::kFactor},
    RefusedKey{"rotary_emb_base", Neutral::kOff},
    RefusedKey{"no_rope_layers", Neutral::kOff},
    RefusedKey{"no_rope_layer_interval", Neutral::kOff},
    RefusedKey{"use_nope", Neutral::kOff},
    RefusedKey{"alibi", Neutral::kOff},
    RefusedKey{"use_alibi", Neutral::kOff},
    RefusedKey{"use_dynamic_ntk", Neutral::kOff},
    RefusedKey{"use_logn_attn", Neutral::kOff},
    RefusedKey{"use_mrope", Neutral::kOff},
    RefusedKey{"position_embedding_type", Neutral::kOff},
    // factors and caps
    RefusedKey{"embedding_multiplier", Neutral::kFactor},
    RefusedKey{"embedding_scale", Neutral::kFactor},
    RefusedKey{"scale_emb", Neutral::kFactor},
    RefusedKey{"scale_embedding", Neutral::kOff},
    RefusedKey{"normalize_embedding", Neutral::kOff},
    RefusedKey{"residual_multiplier", Neutral::kFactor},
    RefusedKey{"residual_scale", Neutral::kFactor},
    RefusedKey{"scale_depth", Neutral::kOff},
    RefusedKey{"dim_model_base", Neutral::kOff},
    RefusedKey{"attention_multiplier", Neutral::kOff},
    RefusedKey{"attention_scale", Neutral::kOff},
    RefusedKey{"attn_scale", Neutral::kOff},
    RefusedKey{"query_pre_attn_scalar", Neutral::kOff},
    RefusedKey{"attn_temperature_tuning", Neutral::kOff},
    RefusedKey{"logit_scale", Neutral::kFactor},
    RefusedKey{"logits_scaling", Neutral::kFactor},
    RefusedKey{"logits_scale", Neutral::kFactor},
    RefusedKey{"logit_scaling", Neutral::kFactor},
    RefusedKey{"lm_head_multiplier", Neutral::kFactor},
    RefusedKey{"key_multiplier", Neutral::kFactor},
    RefusedKey{"output_multiplier_scale", Neutral::kFactor},
    RefusedKey{"mup_scale_factor", Neutral::kFactor},
    RefusedKey{"use_mup", Neutral::kOff},
    RefusedKey{"final_logit_softcapping", Neutral::kOff},
    RefusedKey{"attn_logit_softcapping", Neutral::kOff},
    RefusedKey{"logits_soft_cap", Neutral::kOff},
    RefusedKey{"clip_qkv", Neutral::kOff},
    // attention of another shape
    RefusedKey{"attention_chunk_size", Neutral::kOff},
    RefusedKey{"sliding_window_pattern", Neutral::kOff},
    RefusedKey{"global_attn_every_n_layers", Neutral::kOff},
    RefusedKey{"attention_sinks", Neutral::kOff},
    RefusedKey{"attention_sink_size", Neutral::kOff},
    RefusedKey{"kv_lora_rank", Neutral::kOff},
    RefusedKey{"q_lora_rank", Neutral::kOff},
    RefusedKey{"v_head_dim", Neutral::kOff},
    RefusedKey{"qk_rope_head_dim", Neutral::kOff},
    RefusedKey{"qk_nope_head_dim", Neutral::kOff},
    RefusedKey{"multi_query", Neutral::kOff},
    RefusedKey{"is_encoder_decoder", Neutral::kOff},
    RefusedKey{"add_cross_attention", Neutral::kOff},
    RefusedKey{"pruned_heads", Neutral::kEmpty},
    // norms and blocks of another shape
    RefusedKey{"qk_layernorm", Neutral::kOff},
    RefusedKey{"qk_norm", Neutral::kOff},
    RefusedKey{"use_qk_norm", Neutral::kOff},
    RefusedKey{"norm_after", Neutral::kOff},
    RefusedKey{"use_parallel_residual", Neutral::kOff},
    RefusedKey{"parallel_attn", Neutral::kOff},
    RefusedKey{"parallel_residual", Neutral::kOff},
    RefusedKey{"apply_residual_connection_post_layernorm", Neutral::kOff},
    RefusedKey{"add_rms_offset", Neutral::kOff},
    RefusedKey{"hidden_activation", Neutral::kOff},
    RefusedKey{"activation_sparsity_pattern", Neutral::kOff},
    RefusedKey{"num_kv_shared_layers", Neutral::kCount},
    RefusedKey{"use_double_wide_mlp", Neutral::kOff},
    // experts
    RefusedKey{"num_experts", Neutral::kCount},
    RefusedKey{"num_local_experts", Neutral::kCount},
    RefusedKey{"n_routed_experts", Neutral::kCount},
    RefusedKey{"n_shared_experts", Neutral::kCount},
    RefusedKey{"num_experts_per_tok", Neutral::kCount},
    RefusedKey{"moe_intermediate_size", Neutral::kCount},
    RefusedKey{"shared_expert_intermediate_size", Neutral::kCount},
    // weights that are not what the tensors say, or a model around this one
    RefusedKey{"quantization_config", Neutral::kOff},
    RefusedKey{"quantization", Neutral::kOff},
    RefusedKey{"compression_config", Neutral::kOff},
    RefusedKey{"auto_map", Neutral::kOff},
    RefusedKey{"text_config", Neutral::kOff},
    RefusedKey{"vision_config", Neutral::kOff},
    RefusedKey{"audio_config", Neutral::kOff},
};

// Read by config.cc and config_rope.cc.
constexpr std::array<std::string_view, 20> kRead = {
    "model_type",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "rms_norm_eps",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "tie_word_embeddings",
    "max_position_embeddings",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "layer_types",
    "hidden_act",
    "architectures",
};

// Written by published configs of these families; none changes a bit of a forward pass.
// `pretraining_tp` cuts matrices into slices and adds: exact sums are the same for any slices.
constexpr std::array<std::string_view, 66> kPassedOver = {
    "_name_or_path",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "attention_dropout",
    "attn_implementation",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "hidden_dropout",
    "id2label",
    "initializer_range",
    "is_decoder",
    "label2id",
    "length_penalty",
    "max_length",
    "max_sequence_length",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "pad_token_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "resid_pdrop",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
    "unk_token_id",
    "num_nextn_predict_layers",
    "embd_pdrop",
};

bool holds_neutral(const json& value, Neutral neutral) {
  if (value.is_null()) return true;
  switch (neutral) {
    case Neutral::kOff:
      return value == false;
    case Neutral::kFactor:
      return value.is_number() && value.get<double>() == 1.0;
    case Neutral::kCount:
      return value == false || (value.is_number() && value.get<double>() == 0.0);
    case Neutral::kEmpty:
      return value.is_structured() && value.empty();
  }
  return false;
}

std::string_view neutral_words(Neutral neutral) {
  switch (neutral) {
    case Neutral::kOff:
      return "false or null";
    case Neutral::kFactor:
      return "1.0 or null";
    case Neutral::kCount:
      return "0 or null";
    case Neutral::kEmpty:
      return "nothing in it";
  }
  return "";
}

/// What a family does anyway may be written out.
bool states_the_family(std::string_view key, const json& value, Family family) {
  if (key == "use_qk_norm" || key == "qk_norm") return family == Family::kQwen3 && value == true;
  if (key == "qkv_bias" || key == "use_qkv_bias") return family == Family::kQwen2 && value == true;
  if (key == "position_embedding_type") return value == "rope";
  if (key == "hidden_activation") return value == "silu";
  return false;
}

template <typename List>
bool contains(const List& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

}  // namespace

bool is_neutral(const json& value) {
  return holds_neutral(value, Neutral::kOff) || holds_neutral(value, Neutral::kFactor);
}

void check_keys(const ConfigObject& config, Family family, std::vector<std::string>* remarks) {
  for (const auto& member : config.members().items()) {
    const std::string& key = member.key();
    const json& value = member.value();
    const auto refused = std::find_if(kRefused.begin(), kRefused.end(),
                                      [&](const RefusedKey& entry) { return entry.key == key; });
    if (refused != kRefused.end()) {
      if (holds_neutral(value, refused->neutral) || states_the_family(key, value, family)) continue;
      config.fail(key, "changes the arithmetic in a way that is not supported", shown(value),
                  neutral_words(refused->neutral));
    }
    if (contains(kRead, key) || contains(kPassedOver, key) || value.is_null()) continue;
    remarks->push_back(fmt::format("key {} is not one that this model class reads: passed over",
                                   shown(json(key.substr(0, 60)))));
  }
}

}  // namespace logos
