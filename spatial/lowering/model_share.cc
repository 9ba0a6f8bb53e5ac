#include "spatial/lowering/model_share.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/error.h"
#include "program/shares.h"

namespace logos::spatial {

void check_sizes(const Facts& facts, std::int64_t capacity) {
  const std::int64_t positions =
      capacity * (facts.cut.work == Cut::Work::kBatch ? facts.cut.rows : 1);
  if (positions > kMostCachedPositions) {
    throw Error("spatial: positions of all caches", "too many", fmt::to_string(positions),
                fmt::format("{} at most", kMostCachedPositions));
  }
  const auto require_share = [&](std::string_view of_what, std::int64_t size) {
    if (facts.chips <= size) return;
    throw Error("spatial: text chips", fmt::format("more than {}", of_what),
                fmt::to_string(facts.chips), fmt::format("{} at most", size));
  };
  const Cut::Part part = facts.cut.part;
  if (part == Cut::Part::kWhole || part == Cut::Part::kLayer) {
    require_share("hidden columns", facts.spec.hidden_columns);
  }
  if (part != Cut::Part::kLayer) require_share("tokens in the vocabulary", facts.spec.vocabulary);
}

ModelShare share_of_model(const Facts& facts, std::int64_t text_chip) {
  const ModelSpec& spec = facts.spec;
  const Cut& cut = facts.cut;
  ModelShare share;
  share.profile = spec.profile;
  share.text_chip = text_chip;
  share.text_chips = facts.chips;
  share.layers = spec.layers;
  share.columns = spec.columns;
  share.head_columns = spec.head_columns;
  share.vocabulary = spec.vocabulary;
  share.all_query_heads = spec.query_heads;
  share.all_key_heads = spec.key_heads;
  share.all_hidden = spec.hidden_columns;
  share.query_heads = query_heads_of(spec, text_chip, facts.chips);
  share.key_heads = key_heads_of(spec, text_chip, facts.chips);
  share.hidden = share_of(spec.hidden_columns, text_chip, facts.chips);
  share.table_rows = share_of(spec.vocabulary, text_chip, facts.chips);
  share.rows = cut.rows;
  share.head_rows = cut.work == Cut::Work::kPrefill ? 1 : cut.rows;
  share.sequences = cut.work == Cut::Work::kBatch ? cut.rows : 1;
  share.context = cut.context;
  return share;
}

}  // namespace logos::spatial
