#include "spatial/lowering/layer_steps.h"

namespace logos::spatial {
namespace {

class LayerSteps {
 public:
  LayerSteps(StageBuilder& builder, const LayerParts& parts, const LayerStructure& layer)
      : builder_(builder), parts_(parts), layer_(layer), named_(builder.stage().named) {}

  void add(int show) {
    add_arrival(builder_, layer_.input_norm);
    on_share(Opcode::kKeepOwn, -1, parts_.output);
    norm(layer_.input_norm, named_.row, parts_.input_gain);
    attend();
    contract_attention();
    feed_forward();
    if (show >= 0) {
      on_share(Opcode::kShow, show, parts_.output);
    } else {
      builder_.step(Opcode::kWaitCredit);
      on_share(Opcode::kSendNext, -1, parts_.output);
    }
    builder_.step(Opcode::kDone);
  }

 private:
  void on_share(Opcode opcode, int operation, int partition, bool second = false) {
    builder_.step(
        {.opcode = opcode, .operation = operation, .partition = partition, .second = second});
  }

  void norm(int operation, int buffer, int gain) {
    builder_.step(
        {.opcode = Opcode::kNorm, .operation = operation, .buffer = buffer, .vector = gain});
  }

  void attend() {
    const Stage& stage = builder_.stage();
    builder_.step({.opcode = Opcode::kProject,
                   .operation = layer_.query.product,
                   .matrices = {stage.query_matrix, stage.key_matrix, stage.value_matrix},
                   .partition = stage.projection,
                   .last_column = stage.matrices[0].columns});
    builder_.wait(named_.vectors, layer_.query.block);
    builder_.step(Opcode::kHeads, layer_.query.block);
    builder_.release(named_.vectors);
    const int attended = layer_.attended;
    builder_.step(Opcode::kWaitCache, layer_.key.push);
    builder_.wait(named_.queries, attended);
    builder_.step(Opcode::kScores, attended);
    builder_.wait(named_.peaks, attended);
    builder_.release(named_.row);
    builder_.step(Opcode::kWeigh, attended);
    builder_.release(named_.queries);
    builder_.release(named_.peaks);
    builder_.wait(named_.partials, attended);
    builder_.step(Opcode::kFinish, attended);
    builder_.release(named_.partials);
  }

  /// The largest of the text chips' peaks, at every tile.
  void exchange_peak(const Contraction& contraction, int chip_peaks, int peak, bool second) {
    builder_.step(
        {.opcode = Opcode::kExchangePeak, .operation = contraction.greatest, .second = second});
    builder_.wait(chip_peaks, contraction.greatest);
    builder_.step(
        {.opcode = Opcode::kSendPeak, .operation = contraction.greatest, .second = second});
    builder_.release(chip_peaks);
    builder_.wait(peak, contraction.greatest);
  }

  /// Sums over the text chips, in the place of the own ones.
  void exchange_sums(const Contraction& contraction, int addends, int totals, bool second) {
    const int total = contraction.total;
    on_share(Opcode::kSendAddends, total, parts_.output, second);
    builder_.wait(addends, total);
    on_share(Opcode::kSendTotals, total, parts_.output, second);
    builder_.release(addends);
    builder_.wait(totals, total);
    on_share(Opcode::kTakeTotals, total, parts_.output, second);
    builder_.release(totals);
  }

  /// own <- own + the sums' values.
  void add_to_own(const Contraction& contraction, int matrix) {
    builder_.step({.opcode = Opcode::kScale,
                   .operation = parts_.split ? contraction.scaled : contraction.product,
                   .matrices = {matrix},
                   .partition = parts_.output});
    on_share(Opcode::kAddOwn, contraction.residual, parts_.output);
  }

  void contract_attention() {
    const Contraction& contraction = layer_.output;
    builder_.wait(named_.attention, contraction.block);
    if (parts_.split) {
      builder_.step(Opcode::kPeak, contraction.peak);
      exchange_peak(contraction, named_.chip_peaks, named_.peak, false);
    }
    builder_.step(
        {.opcode = Opcode::kQuantize, .operation = contraction.block, .buffer = named_.attention});
    builder_.release(named_.attention);
    if (parts_.split) builder_.release(named_.peak);
    builder_.step({.opcode = Opcode::kProduct,
                   .operation = contraction.product,
                   .matrices = {parts_.output_matrix},
                   .partition = parts_.output,
                   .last_column = static_cast<std::int32_t>(parts_.attention_columns)});
    if (parts_.split) exchange_sums(contraction, named_.addends, named_.totals, false);
    add_to_own(contraction, parts_.output_matrix);
    on_share(Opcode::kSendMiddle, contraction.residual, parts_.output);
    builder_.wait(named_.middle, layer_.post_norm);
  }

  void feed_forward() {
    const Contraction& contraction = layer_.down;
    norm(layer_.post_norm, named_.middle, parts_.post_gain);
    builder_.release(named_.middle);
    builder_.step({.opcode = Opcode::kProduct,
                   .operation = layer_.gate,
                   .matrices = {parts_.gate, parts_.up},
                   .partition = parts_.hidden,
                   .last_column = builder_.stage().matrices[0].columns});
    on_share(Opcode::kSilu, layer_.multiply, parts_.hidden);
    const int peak = parts_.split ? contraction.peak : contraction.block;
    builder_.wait(named_.tile_peaks, peak);
    builder_.step({.opcode = Opcode::kPeak, .operation = peak, .second = true});
    builder_.release(named_.tile_peaks);
    if (parts_.split) {
      exchange_peak(contraction, named_.chip_peaks_2, named_.peak_2, true);
    } else {
      builder_.step({.opcode = Opcode::kSendPeak, .operation = peak, .second = true});
      builder_.wait(named_.peak_2, peak);
    }
    on_share(Opcode::kQuantizeHidden, contraction.block, parts_.hidden);
    builder_.release(named_.peak_2);
    multiply_hidden();
    if (parts_.split) exchange_sums(contraction, named_.addends_2, named_.totals_2, true);
    add_to_own(contraction, parts_.down);
  }

  void multiply_hidden() {
    const Buffer& hidden = builder_.stage().buffers[static_cast<std::size_t>(named_.hidden)];
    std::int32_t column = 0;
    for (std::size_t c = 0; c < hidden.expected.size(); ++c) {
      const auto chunk = static_cast<std::int32_t>(c);
      const auto columns = static_cast<std::int32_t>(hidden.expected[c].front() / 2);
      builder_.wait(named_.hidden, layer_.down.product, chunk);
      builder_.step({.opcode = Opcode::kProduct,
                     .operation = layer_.down.product,
                     .buffer = named_.hidden,
                     .chunk = chunk,
                     .matrices = {parts_.down},
                     .partition = parts_.output,
                     .first_column = column,
                     .last_column = column + columns});
      column += columns;
    }
    builder_.release(named_.hidden);
  }

  StageBuilder& builder_;
  const LayerParts& parts_;
  const LayerStructure& layer_;
  const Buffers& named_;
};

}  // namespace

void add_arrival(StageBuilder& builder, int operation) {
  builder.step(Opcode::kWaitEntry, operation);
  builder.step(Opcode::kForward, operation);
  builder.wait(builder.stage().named.row, operation);
}

void add_layer_steps(StageBuilder& builder, const LayerParts& parts, const LayerStructure& layer,
                     int show) {
  LayerSteps(builder, parts, layer).add(show);
}

}  // namespace logos::spatial
