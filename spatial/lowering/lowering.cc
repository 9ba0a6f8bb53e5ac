#include "spatial/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/check.h"
#include "program/error.h"
#include "sim/structure.h"
#include "spatial/lowering/placement.h"
#include "spatial/lowering/stage_tables.h"

namespace logos::spatial {
namespace {

/// Makes the stages of one cut: for each program its text chips' one after the other.
class Lowering {
 public:
  Lowering(const Facts& facts, const std::vector<Program>& programs, const ChipConfig& config)
      : facts_(facts), programs_(programs), config_(config), placement_(place(facts, config)) {
    for (const Program& program : programs) structures_.push_back(structure_of(program, "spatial"));
  }

  Plan lower() {
    check_chips();
    describe();
    for (std::size_t chip = 0; chip < programs_.size(); ++chip) {
      shares_.push_back(share_of_model(facts_, static_cast<std::int64_t>(chip)));
    }
    const Structure& structure = structures_.front();
    if (structure.embedded >= 0) add_embeddings();
    for (std::size_t layer = 0; layer < structure.layers.size(); ++layer) add_layers(layer);
    if (structure.head) add_heads();
    return std::move(plan_);
  }

 private:
  std::int32_t text_chips() const { return static_cast<std::int32_t>(programs_.size()); }

  /// A whole cut needs all its chips; a part runs on one, where it would lie on a larger machine.
  void check_chips() const {
    const std::int64_t needed = std::int64_t{is_whole() ? placement_.parts : 1} * text_chips();
    if (needed <= config_.chips) return;
    throw Error(
        "spatial: chips", "too few for the program",
        fmt::format("{} of {} x {} tiles", config_.chips, config_.mesh.width, config_.mesh.height),
        fmt::format("{}: {} tiles for each of {} layers, {} for each table, on each of {} "
                    "text chips",
                    needed, placement_.layer_tiles, facts_.spec.layers, placement_.table_tiles,
                    text_chips()));
  }
  bool is_whole() const { return facts_.cut.part == Cut::Part::kWhole; }

  void describe() {
    const Program& program = programs_.front();
    plan_.rows = program.rows;
    plan_.columns = program.columns;
    plan_.hidden = facts_.spec.hidden_columns;
    plan_.vocabulary = program.vocabulary;
    plan_.head_columns = program.head_columns;
    plan_.query_heads = facts_.spec.query_heads;
    plan_.key_heads = facts_.spec.key_heads;
    plan_.norm_epsilon = program.norm_epsilon;
    plan_.window = program.window.value_or(0);
    plan_.capacity = program.caches.empty() ? 0 : placement_.capacity;
    plan_.is_chunk = program.is_chunk;
    plan_.has_tokens = !program.tokens.empty();
    plan_.has_positions = !program.positions.empty();
    plan_.has_given = structures_.front().given >= 0;
    plan_.text_chips = text_chips();
    plan_.chips = config_.chips;
    plan_.block_rows = placement_.blocks.rows;
    plan_.slots = placement_.blocks.slots;
    plan_.rotary = program.rotary;
    const Value& shown =
        program.values[static_cast<std::size_t>(program.operations.back().arguments.front())];
    plan_.output_rows = shown.rows;
    plan_.output_columns = shown.columns;
    for (const Operation& operation : program.operations) {
      plan_.lines.push_back(operation.line);
      plan_.layers.push_back(static_cast<std::int32_t>(operation.layer));
      plan_.names.push_back(operation.name);
    }
  }

  StageShape shape_of(const StagePlace& place, std::int32_t tiles, Blocks blocks) const {
    StageShape shape;
    shape.width = place.tiles.width;
    shape.height = place.tiles.height;
    shape.tiles = tiles;
    shape.block_rows = blocks.rows;
    shape.slots = blocks.slots;
    shape.capacity = placement_.capacity;
    shape.base = place.base;
    return shape;
  }

  StageSource source_of(std::size_t chip, bool last) const {
    StageSource source;
    source.program = &programs_[chip];
    source.show = last ? structures_[chip].show : -1;
    return source;
  }

  /// Adds the stages of all text chips; those before them send to these.
  template <typename Build>
  void add_stages(const StagePlace& place, const Build& build) {
    const auto first = static_cast<int>(plan_.stages.size());
    std::vector<int> added;
    added.reserve(static_cast<std::size_t>(text_chips()));
    for (int chip = 0; chip < text_chips(); ++chip) added.push_back(first + chip);
    for (int chip = 0; chip < text_chips(); ++chip) {
      Stage stage = build(static_cast<std::size_t>(chip));
      CHECK(stage.base + stage.used_bytes <= config_.sram_bytes);
      const std::int32_t parts = config_.chips / text_chips();
      stage.chip = place.part % parts * text_chips() + chip;
      stage.x = place.tiles.x;
      stage.y = place.tiles.y;
      stage.peers = added;
      plan_.stages.push_back(std::move(stage));
    }
    if (before_.empty()) {
      plan_.first = added;
    } else {
      link(added);
    }
    before_ = added;
  }

  /// An embedding's rows are each whole on one text chip, and go to all.
  void link(const std::vector<int>& after) {
    for (const int index : before_) {
      Stage& stage = plan_.stages[static_cast<std::size_t>(index)];
      if (stage.kind == StageKind::kEmbedding) {
        stage.next = after;
      } else {
        stage.next = {after[static_cast<std::size_t>(stage.text_chip)]};
      }
    }
  }

  void add_embeddings() {
    const StageShape shape =
        shape_of(placement_.embedding, placement_.table_tiles, placement_.blocks);
    add_stages(placement_.embedding, [&](std::size_t chip) {
      const Structure& structure = structures_[chip];
      StageSource source = source_of(chip, structure.layers.empty());
      source.embedded = structure.embedded;
      source.held = structure.held;
      source.own_table = !(is_whole() && facts_.spec.tied_head);
      return embedding_stage(shares_[chip], shape, source);
    });
  }

  void add_layers(std::size_t index) {
    const auto& layers = structures_.front().layers;
    const auto number = static_cast<std::size_t>(layers[index].layer);
    const StagePlace& place = placement_.layers[number - 1];
    const StageShape shape = shape_of(place, placement_.layer_tiles, placement_.blocks);
    const bool last = index + 1 == layers.size() && !structures_.front().head;
    add_stages(place, [&](std::size_t chip) {
      StageSource source = source_of(chip, last);
      source.layer = &structures_[chip].layers[index];
      return layer_stage(shares_[chip], shape, source);
    });
  }

  void add_heads() {
    const std::int64_t rows = shares_.front().head_rows;
    const StageShape shape =
        shape_of(placement_.head, placement_.table_tiles, Sizes::of_rows(placement_.blocks, rows));
    add_stages(placement_.head, [&](std::size_t chip) {
      StageSource source = source_of(chip, true);
      source.head = &*structures_[chip].head;
      return head_stage(shares_[chip], shape, source);
    });
  }

  const Facts& facts_;
  const std::vector<Program>& programs_;
  const ChipConfig& config_;
  Placement placement_;
  std::vector<Structure> structures_;
  std::vector<ModelShare> shares_;
  Plan plan_;
  std::vector<int> before_;  ///< the stages that were added last
};

}  // namespace

Plan lower_programs(const Facts& facts, const std::vector<Program>& programs,
                    const ChipConfig& config) {
  check_sizes(facts, facts.cut.context);
  return Lowering(facts, programs, config).lower();
}

}  // namespace logos::spatial
