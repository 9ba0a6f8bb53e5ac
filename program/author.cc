#include "program/author.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/check.h"
#include "program/check_facts.h"
#include "program/decimal.h"
#include "program/text/printer.h"
#include "program/text/syntax.h"

namespace logos {
namespace {

/// The `; each chip holds …` of a declaration; empty on one chip.
std::string clause(const Facts& facts, HeldShare share) {
  return facts.chips == 1 ? "" : fmt::format("; each chip holds {}", share_words(share));
}

bool is_whole(const Facts& facts) { return facts.cut.part == Cut::Part::kWhole; }
bool has_layers(const Facts& facts) {
  return is_whole(facts) || facts.cut.part == Cut::Part::kLayer;
}
bool has_embedding(const Facts& facts) {
  return is_whole(facts) || facts.cut.part == Cut::Part::kEmbedding;
}
bool has_head(const Facts& facts) { return is_whole(facts) || facts.cut.part == Cut::Part::kHead; }

std::string rotary(const Rotary& rotary) {
  switch (rotary.kind) {
    case Rotary::Kind::kPlain:
      return fmt::format("plain({})", shortest_decimal(rotary.base));
    case Rotary::Kind::kLinear:
      return fmt::format("linear({}, {})", shortest_decimal(rotary.base),
                         shortest_decimal(rotary.factor));
    case Rotary::Kind::kLlama3:
      return fmt::format("llama3({}, {}, {}, {}, {})", shortest_decimal(rotary.base),
                         shortest_decimal(rotary.factor), shortest_decimal(rotary.low),
                         shortest_decimal(rotary.high), shortest_decimal(rotary.original));
  }
  CHECK_UNREACHABLE();
}

std::string model(const Facts& facts) {
  const ModelSpec& spec = facts.spec;
  std::string text = "\n## Model\n";
  text += fmt::format("Let arithmetic be \"OFA-1 profile {}, groups of 32\".\n",
                      spec.profile == Profile::kA ? "A" : "B");
  text += fmt::format("Let layers be {}.\n", spec.layers);
  text += fmt::format("Let columns be {}.\n", spec.columns);
  text += fmt::format("Let query_heads be {}.\n", spec.query_heads);
  text += fmt::format("Let key_heads be {}.\n", spec.key_heads);
  text += fmt::format("Let head_columns be {}.\n", spec.head_columns);
  text += fmt::format("Let hidden_columns be {}.\n", spec.hidden_columns);
  text += fmt::format("Let vocabulary be {}.\n", spec.vocabulary);
  text += fmt::format("Let norm_epsilon be {}.\n", shortest_decimal(spec.norm_epsilon));
  text += fmt::format("Let rotary be {}.\n", rotary(spec.rotary));
  if (spec.window) text += fmt::format("Let window be {}.\n", *spec.window);
  if (facts.chips > 1) text += fmt::format("Let chips be {}.\n", facts.chips);
  return text;
}

std::string weight(const Facts& facts, std::string_view name, std::string_view tensor,
                   std::int64_t rows, std::int64_t columns, HeldShare share) {
  return fmt::format("Weight \"{}\" is \"{}.weight\": {} rows of {}{}.\n", name, tensor, rows,
                     columns, clause(facts, share));
}

std::string gain(std::string_view name, std::string_view tensor, std::int64_t size) {
  return fmt::format("Gain \"{}\" is \"{}.weight\": {}.\n", name, tensor, size);
}

/// A projection to heads with its bias, where the model has one; held by heads.
std::string projection(const Facts& facts, std::string_view name, std::string_view letter,
                       std::int64_t heads, HeldShare share) {
  const std::int64_t rows = heads * facts.spec.head_columns;
  const std::string layer_name = fmt::format("{} {{n}}", name);
  const std::string tensor = fmt::format("model.layers.{{n - 1}}.self_attn.{}_proj", letter);
  std::string text = "    " + weight(facts, layer_name, tensor, rows, facts.spec.columns, share);
  if (facts.spec.qkv_bias) {
    text += fmt::format("    Bias \"{}\" is \"{}.bias\": {}{}.\n", layer_name, tensor, rows,
                        clause(facts, share));
  }
  return text;
}

std::string cache(const Facts& facts, std::string_view name) {
  const Cut& cut = facts.cut;
  const std::string positions =
      cut.work == Cut::Work::kPrefill ? "the run's" : fmt::format("{}", cut.context);
  return fmt::format("    Cache \"{} {{n}}\" has {} positions of {} heads of {}, {}{}.\n", name,
                     positions, facts.spec.key_heads, facts.spec.head_columns,
                     cut.work == Cut::Work::kBatch ? "one for each row" : "shared by all rows",
                     clause(facts, HeldShare::kKeyHeads));
}

std::string layers_manifest(const Facts& facts) {
  const ModelSpec& spec = facts.spec;
  const bool whole = is_whole(facts);
  const std::string layer = "model.layers.{n - 1}.";
  std::string text = fmt::format("Repeat for n from {} to {}:\n", whole ? 1 : facts.cut.layer,
                                 whole ? spec.layers : facts.cut.layer);
  text += "    " + gain("input norm {n}", layer + "input_layernorm", spec.columns);
  text += projection(facts, "query", "q", spec.query_heads, HeldShare::kQueryHeadRows);
  text += projection(facts, "key", "k", spec.key_heads, HeldShare::kKeyHeadRows);
  text += projection(facts, "value", "v", spec.key_heads, HeldShare::kKeyHeadRows);
  if (spec.qk_norm) {
    text += "    " + gain("query norm {n}", layer + "self_attn.q_norm", spec.head_columns);
    text += "    " + gain("key norm {n}", layer + "self_attn.k_norm", spec.head_columns);
  }
  text += "    " + weight(facts, "output {n}", layer + "self_attn.o_proj", spec.columns,
                          spec.query_heads * spec.head_columns, HeldShare::kQueryHeadColumns);
  text += "    " + gain("post norm {n}", layer + "post_attention_layernorm", spec.columns);
  text += "    " + weight(facts, "gate {n}", layer + "mlp.gate_proj", spec.hidden_columns,
                          spec.columns, HeldShare::kRows);
  text += "    " + weight(facts, "up {n}", layer + "mlp.up_proj", spec.hidden_columns, spec.columns,
                          HeldShare::kRows);
  text += "    " + weight(facts, "down {n}", layer + "mlp.down_proj", spec.columns,
                          spec.hidden_columns, HeldShare::kColumns);
  text += cache(facts, "keys");
  text += cache(facts, "values");
  return text;
}

std::string manifest(const Facts& facts) {
  const ModelSpec& spec = facts.spec;
  std::string text = "\n## Manifest\n";
  if (!facts.directory.empty()) text += fmt::format("Weights lie under \"{}\".\n", facts.directory);
  if (has_embedding(facts) || (has_head(facts) && spec.tied_head)) {
    text += weight(facts, "embedding", "model.embed_tokens", spec.vocabulary, spec.columns,
                   HeldShare::kRows);
  }
  if (has_layers(facts)) text += layers_manifest(facts);
  if (has_head(facts)) {
    text += gain("final norm", "model.norm", spec.columns);
    if (!spec.tied_head) {
      text += weight(facts, "head", "lm_head", spec.vocabulary, spec.columns, HeldShare::kRows);
    }
  }
  return text;
}

/// `    Let q be heads(product(a, weight "query {n}"), head_columns).`, with its bias if it has
/// one.
std::string let_heads(const Facts& facts, std::string_view letter, std::string_view name) {
  std::string product = fmt::format("product(a, weight \"{} {{n}}\")", name);
  if (facts.spec.qkv_bias) product = fmt::format("with_bias({}, bias \"{} {{n}}\")", product, name);
  return fmt::format("    Let {} be heads({}, head_columns).\n", letter, product);
}

/// A product whose input lies over the chips by columns: its quantizer needs the greatest value of
/// all chips, and its sums are added before they are rounded.
std::string let_sum(const Facts& facts, std::string_view result, std::string_view input,
                    std::string_view name) {
  if (facts.chips == 1) {
    return fmt::format("    Let {} be product(quantized({}), weight \"{} {{n}}\").\n", result,
                       input, name);
  }
  return fmt::format("    Let {0}_peak be greatest_over_chips(peak({0})).\n", input) +
         fmt::format(
             "    Let {0}_sums be sums(quantized_at({1}, {1}_peak), weight \"{2} {{n}}\").\n",
             result, input, name) +
         fmt::format("    Let {0} be scaled(sum_over_chips({0}_sums)).\n", result);
}

std::string attend(const Facts& facts) {
  const bool norm = facts.spec.qk_norm;
  std::string text =
      "\n## To attend (x: Rows, n: Int) -> Rows:\n"
      "    Let input_norm be rms_norm(x, gain \"input norm {n}\", norm_epsilon).\n"
      "    Let a be quantized(input_norm).\n";
  text += let_heads(facts, "q", "query");
  text += let_heads(facts, "k", "key");
  text += let_heads(facts, "v", "value");
  if (norm) {
    text +=
        "    Let q_norm be rms_norm(q, gain \"query norm {n}\", norm_epsilon).\n"
        "    Let k_norm be rms_norm(k, gain \"key norm {n}\", norm_epsilon).\n";
  }
  text += fmt::format("    Let q_rope be rotated({}, positions, rotary).\n", norm ? "q_norm" : "q");
  text += fmt::format("    Let k_rope be rotated({}, positions, rotary).\n", norm ? "k_norm" : "k");
  text +=
      "    Push quantized(k_rope) to cache \"keys {n}\" at positions.\n"
      "    Push quantized(v) to cache \"values {n}\" at positions.\n";
  text += fmt::format(
      "    Let attention be attended(quantized(q_rope), cache \"keys {{n}}\", "
      "cache \"values {{n}}\", positions{}).\n",
      facts.spec.window ? ", window" : "");
  text += let_sum(facts, "o", "attention", "output");
  text += "    Return x + o.\n";
  return text;
}

std::string feed_forward(const Facts& facts) {
  return "\n## To feed_forward (x: Rows, n: Int) -> Rows:\n"
         "    Let post_norm be rms_norm(x, gain \"post norm {n}\", norm_epsilon).\n"
         "    Let a be quantized(post_norm).\n"
         "    Let gate be product(a, weight \"gate {n}\").\n"
         "    Let up be product(a, weight \"up {n}\").\n"
         "    Let silu_times be silu(gate) * up.\n" +
         let_sum(facts, "down", "silu_times", "down") + "    Return x + down.\n";
}

std::string head(const Facts& facts) {
  const std::string logits = fmt::format("product(quantized(final_norm), weight \"{}\")",
                                         facts.spec.tied_head ? "embedding" : "head");
  return "\n## To head (x: Rows) -> Rows:\n"
         "    Let final_norm be rms_norm(x, gain \"final norm\", norm_epsilon).\n" +
         fmt::format("    Let logits be {}.\n",
                     facts.chips == 1 ? logits : fmt::format("joined_over_chips({})", logits)) +
         "    Return logits.\n";
}

std::string list(const std::vector<std::int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

/// Placeholders, all equal.
std::string ones(std::int64_t rows) {
  return rows == 1 ? "[1]" : fmt::format("repeated(1, {})", rows);
}

std::string inputs(const Facts& facts) {
  const std::int64_t rows = facts.cut.rows;
  std::string text = "\n## Inputs\n";
  if (takes_tokens(facts.cut)) {
    text +=
        fmt::format("Let tokens be {}.\n", facts.tokens.empty() ? ones(rows) : list(facts.tokens));
  }
  if (takes_positions(facts.cut)) {
    std::string positions;
    if (facts.cut.work == Cut::Work::kPrefill) {
      positions = fmt::format("counted({}, {})",
                              facts.positions.empty() ? 1 : facts.positions.front(), rows);
    } else {
      positions = facts.positions.empty() ? ones(rows) : list(facts.positions);
    }
    text += fmt::format("Let positions be {}.\n", positions);
  }
  if (!has_embedding(facts)) text += fmt::format("Let x be given({}, columns).\n", rows);
  return text;
}

std::string main_section(const Facts& facts) {
  std::string text = "\n## Main\n";
  if (has_embedding(facts)) {
    const std::string_view embedded = "embedded(tokens, weight \"embedding\")";
    text += facts.chips == 1 ? fmt::format("Let x be {}.\n", embedded)
                             : fmt::format("Let x be held_over_chips({}).\n", embedded);
  }
  if (is_whole(facts)) {
    text +=
        "Repeat for n from 1 to layers:\n"
        "    Set x to attend(x, n).\n"
        "    Set x to feed_forward(x, n).\n";
  } else if (has_layers(facts)) {
    text +=
        fmt::format("Set x to attend(x, {0}).\nSet x to feed_forward(x, {0}).\n", facts.cut.layer);
  }
  if (!has_head(facts)) {
    text += "Show x.\n";
  } else {
    const bool chunk = facts.cut.work == Cut::Work::kPrefill;
    text += chunk ? "Show head(last_row(x)).\n" : "Show head(x).\n";
  }
  return text;
}

}  // namespace

std::string author(const Facts& facts) {
  check_facts(facts);
  std::string text = print_title(facts.cut, facts.chips) + "\n" + model(facts) + manifest(facts);
  if (has_layers(facts)) text += attend(facts) + feed_forward(facts);
  if (has_head(facts)) text += head(facts);
  return text + inputs(facts) + main_section(facts);
}

}  // namespace logos
