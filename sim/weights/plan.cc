#include "sim/weights/plan.h"

#include <fmt/format.h>

namespace logos {
namespace {

void plan_attention(const ModelSpec& spec, const std::string& layer,
                    std::vector<PlannedTensor>& plan) {
  const std::int64_t query_rows = spec.query_heads * spec.head_columns;
  const std::int64_t key_rows = spec.key_heads * spec.head_columns;
  const auto projection = [&](const char* letter, std::int64_t rows) {
    const std::string name = fmt::format("{}.self_attn.{}_proj", layer, letter);
    plan.push_back({name + ".weight", true, rows, spec.columns});
    if (spec.qkv_bias) plan.push_back({name + ".bias", false, 1, rows});
  };
  plan.push_back({layer + ".input_layernorm.weight", false, 1, spec.columns});
  projection("q", query_rows);
  projection("k", key_rows);
  projection("v", key_rows);
  if (spec.qk_norm) {
    plan.push_back({layer + ".self_attn.q_norm.weight", false, 1, spec.head_columns});
    plan.push_back({layer + ".self_attn.k_norm.weight", false, 1, spec.head_columns});
  }
  plan.push_back({layer + ".self_attn.o_proj.weight", true, spec.columns, query_rows});
}

void plan_feed_forward(const ModelSpec& spec, const std::string& layer,
                       std::vector<PlannedTensor>& plan) {
  plan.push_back({layer + ".post_attention_layernorm.weight", false, 1, spec.columns});
  plan.push_back({layer + ".mlp.gate_proj.weight", true, spec.hidden_columns, spec.columns});
  plan.push_back({layer + ".mlp.up_proj.weight", true, spec.hidden_columns, spec.columns});
  plan.push_back({layer + ".mlp.down_proj.weight", true, spec.columns, spec.hidden_columns});
}

}  // namespace

std::vector<PlannedTensor> weight_plan(const ModelSpec& spec) {
  std::vector<PlannedTensor> plan;
  plan.push_back({"model.embed_tokens.weight", true, spec.vocabulary, spec.columns});
  for (std::int64_t n = 0; n < spec.layers; ++n) {
    const std::string layer = fmt::format("model.layers.{}", n);
    plan_attention(spec, layer, plan);
    plan_feed_forward(spec, layer, plan);
  }
  plan.push_back({"model.norm.weight", false, 1, spec.columns});
  if (!spec.tied_head) plan.push_back({"lm_head.weight", true, spec.vocabulary, spec.columns});
  return plan;
}

}  // namespace logos
