#include "sim/structure.h"

#include <fmt/format.h>

#include "program/error.h"

namespace logos {
namespace {

/// Walks the operations in order and takes those that come as expected: by word and by the value
/// they work on.
class Cursor {
 public:
  Cursor(const Program& program, std::string_view lane) : program_(program), lane_(lane) {}

  bool next_is(Word word, int argument) const {
    if (at_ >= static_cast<int>(program_.operations.size())) return false;
    const Operation& op = operation(at_);
    return op.word == word &&
           (argument < 0 || (!op.arguments.empty() && op.arguments.front() == argument));
  }
  /// Takes the next operation if it is such a one; -1 if not.
  int take_if(Word word, int argument) { return next_is(word, argument) ? at_++ : -1; }
  int take(Word word, int argument) {
    const int taken = take_if(word, argument);
    if (taken < 0) fail();
    return taken;
  }
  int result(int index) const { return operation(index).result; }
  const Operation& operation(int index) const {
    return program_.operations[static_cast<std::size_t>(index)];
  }
  /// The layer of the next operation; 0 outside the layers.
  std::int64_t next_layer() const { return at_end() ? 0 : operation(at_).layer; }
  bool at_end() const { return at_ == static_cast<int>(program_.operations.size()); }

  [[noreturn]] void fail() const {
    const int index = at_end() ? at_ - 1 : at_;
    throw Error(fmt::format("{}: line {} of the program", lane_, operation(index).line),
                "the lane has nothing for this operation in this place");
  }

 private:
  const Program& program_;
  std::string_view lane_;
  int at_ = 0;
};

/// product[, with_bias], heads; gives the value of the heads.
int read_projection(Cursor& cursor, int block, Projection* projection) {
  projection->product = cursor.take(Word::kProduct, block);
  int value = cursor.result(projection->product);
  projection->bias = cursor.take_if(Word::kWithBias, value);
  if (projection->bias >= 0) value = cursor.result(projection->bias);
  return cursor.result(cursor.take(Word::kHeads, value));
}

int value_after(const Cursor& cursor, int taken, int value) {
  return taken >= 0 ? cursor.result(taken) : value;
}

/// quantized and product, or the steps over the chips; then x + y.
Contraction read_contraction(Cursor& cursor, int value, int x) {
  Contraction c;
  int sum = -1;
  c.peak = cursor.take_if(Word::kPeak, value);
  if (c.peak < 0) {
    c.block = cursor.take(Word::kQuantized, value);
    c.product = cursor.take(Word::kProduct, cursor.result(c.block));
    sum = cursor.result(c.product);
  } else {
    c.greatest = cursor.take(Word::kGreatestOverChips, cursor.result(c.peak));
    c.block = cursor.take(Word::kQuantizedAt, value);
    c.product = cursor.take(Word::kSums, cursor.result(c.block));
    c.total = cursor.take(Word::kSumOverChips, cursor.result(c.product));
    c.scaled = cursor.take(Word::kScaled, cursor.result(c.total));
    sum = cursor.result(c.scaled);
  }
  c.residual = cursor.take(Word::kAdd, x);
  if (cursor.operation(c.residual).arguments.back() != sum) cursor.fail();
  return c;
}

/// The attention half of a layer over the row stream x; gives the new row stream.
int read_attention(Cursor& cursor, int x, LayerStructure* layer) {
  layer->input_norm = cursor.take(Word::kRmsNorm, x);
  layer->layer = cursor.operation(layer->input_norm).layer;
  layer->input_block = cursor.take(Word::kQuantized, cursor.result(layer->input_norm));
  const int block = cursor.result(layer->input_block);
  int q = read_projection(cursor, block, &layer->query);
  int k = read_projection(cursor, block, &layer->key);
  const int v = read_projection(cursor, block, &layer->value);
  layer->query.norm = cursor.take_if(Word::kRmsNorm, q);
  q = value_after(cursor, layer->query.norm, q);
  layer->key.norm = cursor.take_if(Word::kRmsNorm, k);
  k = value_after(cursor, layer->key.norm, k);
  layer->query.rotation = cursor.take(Word::kRotated, q);
  layer->key.rotation = cursor.take(Word::kRotated, k);
  layer->key.block = cursor.take(Word::kQuantized, cursor.result(layer->key.rotation));
  layer->key.push = cursor.take(Word::kPush, cursor.result(layer->key.block));
  layer->value.block = cursor.take(Word::kQuantized, v);
  layer->value.push = cursor.take(Word::kPush, cursor.result(layer->value.block));
  layer->query.block = cursor.take(Word::kQuantized, cursor.result(layer->query.rotation));
  layer->attended = cursor.take(Word::kAttended, cursor.result(layer->query.block));
  layer->output = read_contraction(cursor, cursor.result(layer->attended), x);
  return cursor.result(layer->output.residual);
}

int read_feed_forward(Cursor& cursor, int x, LayerStructure* layer) {
  layer->post_norm = cursor.take(Word::kRmsNorm, x);
  layer->post_block = cursor.take(Word::kQuantized, cursor.result(layer->post_norm));
  const int block = cursor.result(layer->post_block);
  layer->gate = cursor.take(Word::kProduct, block);
  layer->up = cursor.take(Word::kProduct, block);
  layer->silu = cursor.take(Word::kSilu, cursor.result(layer->gate));
  layer->multiply = cursor.take(Word::kMultiply, cursor.result(layer->silu));
  if (cursor.operation(layer->multiply).arguments.back() != cursor.result(layer->up)) {
    cursor.fail();
  }
  layer->down = read_contraction(cursor, cursor.result(layer->multiply), x);
  return cursor.result(layer->down.residual);
}

int read_head(Cursor& cursor, int x, HeadStructure* head) {
  head->last_row = cursor.take_if(Word::kLastRow, x);
  x = value_after(cursor, head->last_row, x);
  head->norm = cursor.take(Word::kRmsNorm, x);
  head->block = cursor.take(Word::kQuantized, cursor.result(head->norm));
  head->product = cursor.take(Word::kProduct, cursor.result(head->block));
  const int logits = cursor.result(head->product);
  head->joined = cursor.take_if(Word::kJoinedOverChips, logits);
  return value_after(cursor, head->joined, logits);
}

}  // namespace

Structure structure_of(const Program& program, std::string_view lane) {
  Cursor cursor(program, lane);
  Structure structure;
  structure.given = cursor.take_if(Word::kGiven, -1);
  int x = -1;
  if (structure.given >= 0) {
    x = cursor.result(structure.given);
  } else {
    structure.embedded = cursor.take(Word::kEmbedded, -1);
    x = cursor.result(structure.embedded);
    structure.held = cursor.take_if(Word::kHeldOverChips, x);
    x = value_after(cursor, structure.held, x);
  }
  while (cursor.next_is(Word::kRmsNorm, x) && cursor.next_layer() > 0) {
    LayerStructure layer;
    x = read_attention(cursor, x, &layer);
    x = read_feed_forward(cursor, x, &layer);
    structure.layers.push_back(layer);
  }
  if (!cursor.next_is(Word::kShow, x)) x = read_head(cursor, x, &structure.head.emplace());
  structure.show = cursor.take(Word::kShow, x);
  if (!cursor.at_end()) cursor.fail();
  return structure;
}

}  // namespace logos
