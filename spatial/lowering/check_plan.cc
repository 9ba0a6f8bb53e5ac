#include "spatial/lowering/check_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "program/check_facts.h"
#include "program/error.h"
#include "spatial/lowering/sizes.h"
#include "spatial/lowering/stage_tables.h"
#include "spatial/plan/plan_bytes.h"

namespace logos::spatial {
namespace {

/// The part of a model that a plan's stages are.
Cut::Part part_of(const Plan& plan) {
  const auto has = [&](StageKind kind) {
    return std::any_of(plan.stages.begin(), plan.stages.end(),
                       [&](const Stage& stage) { return stage.kind == kind; });
  };
  const bool embeds = has(StageKind::kEmbedding);
  const bool heads = has(StageKind::kHead);
  if (has(StageKind::kLayer)) return embeds || heads ? Cut::Part::kWhole : Cut::Part::kLayer;
  return embeds && !heads ? Cut::Part::kEmbedding : Cut::Part::kHead;
}

/// What a text would state of the cut, as the plan does.
Facts facts_of(const Plan& plan) {
  Facts facts;
  ModelSpec& spec = facts.spec;
  if (!plan.stages.empty()) spec.profile = plan.stages.front().profile;
  spec.layers = 1;
  spec.columns = plan.columns;
  spec.query_heads = plan.query_heads;
  spec.key_heads = plan.key_heads;
  spec.head_columns = plan.head_columns;
  spec.hidden_columns = plan.hidden;
  spec.vocabulary = plan.vocabulary;
  spec.norm_epsilon = plan.norm_epsilon;
  spec.rotary = plan.rotary;
  if (plan.window > 0) spec.window = plan.window;
  facts.cut.work = plan.is_chunk    ? Cut::Work::kPrefill
                   : plan.rows == 1 ? Cut::Work::kDecode
                                    : Cut::Work::kBatch;
  facts.cut.part = part_of(plan);
  facts.cut.rows = plan.rows;
  facts.cut.context = plan.is_chunk ? 0 : plan.capacity;
  facts.chips = plan.text_chips;
  return facts;
}

/// The stage without its place and without what only its program says.
Stage without_source(Stage stage) {
  stage.layer = stage.chip = stage.x = stage.y = 0;
  stage.next.clear();
  stage.peers.clear();
  for (StageMatrix& matrix : stage.matrices) matrix.tensor.clear();
  for (StageVector& vector : stage.vectors) vector.tensor.clear();
  for (Step& step : stage.steps) step.operation = -1;
  stage.query = stage.key = stage.value = {};
  stage.attended = -1;
  return stage;
}

class PlanCheck {
 public:
  PlanCheck(const Plan& plan, const ChipConfig& config, const WeightStore& weights,
            std::string_view where)
      : plan_(plan), config_(config), weights_(weights), where_(where), facts_(facts_of(plan)) {}

  void check(std::int64_t text_chips) {
    check_model(text_chips);
    check_order();
    check_outputs();
    for (std::int64_t chip = 0; chip < text_chips; ++chip) {
      shares_.push_back(share_of_model(facts_, chip));
    }
    for (std::size_t i = 0; i < plan_.stages.size(); ++i) check_stage(i);
    check_tiles();
  }

 private:
  void hold(bool condition, std::string_view what) const {
    if (!condition) throw Error(where_, fmt::format("damaged plan: {}", what));
  }
  std::size_t group_size() const { return static_cast<std::size_t>(plan_.text_chips); }
  const Stage& stage(std::size_t index) const { return plan_.stages[index]; }
  bool is_last(std::size_t index) const { return index + group_size() >= plan_.stages.size(); }

  void check_model(std::int64_t text_chips) {
    hold(plan_.text_chips == text_chips, "another number of text chips");
    hold(plan_.chips == config_.chips, "another number of chips");
    try {
      validate(facts_.spec, where_);
    } catch (const Error& error) {
      throw Error(where_, fmt::format("damaged plan: {}", error.what()));
    }
    hold(plan_.rows >= 1 && plan_.rows <= kMostRunRows, "rows");
    hold(plan_.text_chips <= plan_.query_heads, "more text chips than query heads");
    check_sizes(facts_, plan_.capacity);
    const bool has_blocks = plan_.block_rows >= 1 && plan_.block_rows <= config_.block_rows &&
                            plan_.slots >= 1 && plan_.slots <= config_.streams;
    hold(has_blocks, "rows or number of blocks");
    const Blocks blocks = Sizes::of_rows({plan_.block_rows, plan_.slots}, plan_.rows);
    hold(blocks.rows == plan_.block_rows && blocks.slots == plan_.slots, "more than all rows");
    hold(!plan_.lines.empty() && plan_.lines.size() == plan_.layers.size() &&
             plan_.lines.size() == plan_.names.size(),
         "operations");
  }

  /// [embedding], layers in order, [head]; of each kind one a text chip, each on its own chip.
  void check_order() const {
    hold(!plan_.stages.empty() && plan_.stages.size() % group_size() == 0, "number of stages");
    std::int32_t layer = 0;
    for (std::size_t first = 0; first < plan_.stages.size(); first += group_size()) {
      const Stage& one = stage(first);
      const bool in_order = one.kind == StageKind::kEmbedding ? first == 0
                            : one.kind == StageKind::kHead
                                ? is_last(first)
                                : one.layer >= 1 && (layer == 0 || one.layer == layer + 1);
      hold(in_order, "order of the stages");
      hold((one.kind == StageKind::kLayer) == (one.layer > 0), "layer of a stage");
      if (one.kind == StageKind::kLayer) layer = one.layer;
      for (std::size_t chip = 0; chip < group_size(); ++chip) check_peer(first, chip);
    }
    for (std::size_t chip = 0; chip < group_size(); ++chip) {
      hold(plan_.first.size() == group_size() && std::cmp_equal(plan_.first[chip], chip),
           "stages that the host feeds");
    }
    hold((layer > 0) == (plan_.capacity > 0), "positions of caches");
    const bool embeds = stage(0).kind == StageKind::kEmbedding;
    hold(plan_.has_tokens == embeds && plan_.has_given == !embeds &&
             plan_.has_positions == (layer > 0),
         "inputs");
  }

  /// The stage of a text chip among those of one program, the first of which is at `first`.
  void check_peer(std::size_t first, std::size_t chip) const {
    const Stage& one = stage(first);
    const Stage& other = stage(first + chip);
    hold(std::cmp_equal(other.text_chip, chip) && other.kind == one.kind &&
             other.layer == one.layer && other.tiles == one.tiles,
         "stages of the text chips");
    hold(other.x == one.x && other.y == one.y && other.width == one.width &&
             other.height == one.height &&
             std::cmp_equal(other.chip, static_cast<std::size_t>(one.chip) + chip),
         "place of a text chip's stage");
    std::vector<int> peers;
    std::vector<int> next;
    for (std::size_t i = 0; i < group_size(); ++i) {
      peers.push_back(static_cast<int>(first + i));
      const bool takes = one.kind == StageKind::kEmbedding || i == chip;
      if (takes && !is_last(first)) next.push_back(static_cast<int>(first + group_size() + i));
    }
    hold(other.peers == peers && other.next == next, "links of a stage");
  }

  void check_outputs() const {
    const bool head = plan_.stages.back().kind == StageKind::kHead;
    hold(plan_.output_columns == (head ? plan_.vocabulary : plan_.columns), "columns of outputs");
    hold(plan_.output_rows == (head && plan_.is_chunk ? 1 : plan_.rows), "rows of outputs");
  }

  void check_stage(std::size_t index) const {
    const Stage& given = stage(index);
    hold(given.width >= 1 && given.x <= config_.mesh.width - given.width && given.height >= 1 &&
             given.y <= config_.mesh.height - given.height,
         "place outside the mesh");
    hold(given.tiles >= given.width && (given.tiles - 1) / given.width == given.height - 1,
         "tiles of a stage");
    hold(given.chip < config_.chips, "a chip that is none");
    hold(given.base % kAreaAlignment == 0 && given.base <= config_.sram_bytes, "begin in SRAM");
    const ModelShare& share = shares_[static_cast<std::size_t>(given.text_chip)];
    // What is made again is then no larger than the plan.
    hold(!given.partitions.empty() &&
             std::cmp_equal(given.partitions.front().boundary.size(), given.tiles + 1) &&
             (given.kind != StageKind::kLayer ||
              std::cmp_equal(given.groups.size(), share.key_heads.size())),
         "tables of a stage");
    const Stage expected = made_again(given, share, is_last(index));
    hold(serialise_stage(without_source(expected)) == serialise_stage(without_source(given)),
         "a stage that lowering does not make");
    hold(expected.used_bytes <= config_.sram_bytes - given.base, "more than a tile's SRAM");
    check_source(given);
  }

  Stage made_again(const Stage& given, const ModelShare& share, bool last) const {
    StageShape shape;
    shape.width = given.width;
    shape.height = given.height;
    shape.tiles = given.tiles;
    const bool head = given.kind == StageKind::kHead;
    const Blocks blocks =
        Sizes::of_rows({plan_.block_rows, plan_.slots}, head ? share.head_rows : share.rows);
    shape.block_rows = blocks.rows;
    shape.slots = blocks.slots;
    shape.capacity = plan_.capacity;
    shape.base = given.base;
    StageSource source;
    source.show = last ? 0 : -1;
    if (head) return head_stage(share, shape, source);
    if (given.kind == StageKind::kEmbedding) {
      source.own_table = !is_tied(given);
      return embedding_stage(share, shape, source);
    }
    LayerStructure layer;
    layer.query = projection(given.query_bias, given.query_gain);
    layer.key = projection(given.key_bias, given.key_gain);
    layer.value = projection(given.value_bias, -1);
    source.layer = &layer;
    return layer_stage(share, shape, source);
  }

  static Projection projection(int bias, int gain) {
    Projection projection;
    projection.bias = bias >= 0 ? 0 : -1;
    projection.norm = gain >= 0 ? 0 : -1;
    return projection;
  }

  /// Whether the head holds the embedding's table: then both are in the same tiles.
  bool is_tied(const Stage& embedding) const {
    const Stage& head = plan_.stages[plan_.stages.size() - group_size() +
                                     static_cast<std::size_t>(embedding.text_chip)];
    if (head.kind != StageKind::kHead || head.matrices.size() != 1 ||
        embedding.matrices.size() != 1 ||
        head.matrices.front().tensor != embedding.matrices.front().tensor) {
      return false;
    }
    hold(head.chip == embedding.chip && head.x == embedding.x && head.y == embedding.y &&
             head.width == embedding.width && head.tiles == embedding.tiles,
         "an embedding that is not where its table lies");
    return true;
  }

  void check_source(const Stage& stage) const {
    for (const StageMatrix& matrix : stage.matrices) {
      const MatrixView view = weights_.matrix(matrix.tensor);
      hold(view.rows == matrix.rows && view.columns == matrix.columns, "size of a matrix");
      hold(view.profile() == stage.profile, "profile of a matrix");
    }
    for (const StageVector& vector : stage.vectors) {
      hold(std::cmp_equal(weights_.vector(vector.tensor).size(), vector.size), "size of a vector");
    }
    const auto check = [&](int operation) {
      hold(std::cmp_less(operation, plan_.lines.size()) || operation < 0, "an operation");
    };
    for (const Step& step : stage.steps) check(step.operation);
    for (const VectorOperations* of : {&stage.query, &stage.key, &stage.value}) {
      for (const int one : {of->product, of->bias, of->norm, of->rotation, of->block}) check(one);
    }
    check(stage.attended);
  }

  /// No two stages have the same bytes of a tile.
  void check_tiles() const {
    using Tile = std::pair<std::int32_t, std::int32_t>;  // chip, node
    std::map<Tile, std::vector<std::pair<std::int64_t, std::int64_t>>> taken;
    for (const Stage& stage : plan_.stages) {
      for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
        const std::int32_t x = stage.x + tile % stage.width;
        const std::int32_t y = stage.y + tile / stage.width;
        taken[{stage.chip, y * config_.mesh.width + x}].emplace_back(stage.base,
                                                                     stage.base + stage.used_bytes);
      }
    }
    for (auto& [tile, areas] : taken) {
      std::sort(areas.begin(), areas.end());
      for (std::size_t i = 1; i < areas.size(); ++i) {
        hold(areas[i].first >= areas[i - 1].second, "two stages in the same place");
      }
    }
  }

  const Plan& plan_;
  const ChipConfig& config_;
  const WeightStore& weights_;
  std::string_view where_;
  Facts facts_;
  std::vector<ModelShare> shares_;
};

}  // namespace

void check_plan(const Plan& plan, const ChipConfig& config, std::int64_t text_chips,
                const WeightStore& weights, std::string_view where) {
  PlanCheck(plan, config, weights, where).check(text_chips);
}

}  // namespace logos::spatial
