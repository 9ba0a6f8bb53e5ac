// What a layer does: the part of BoardLowering that all boards have.

#include <algorithm>
#include <bit>
#include <utility>

#include "program/check.h"
#include "rtl/lowering/board_lowering.h"
#include "rtl/lowering/layout.h"
#include "rtl/lowering/lowering_units.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kLargestGroup = 16;

void fill_cache(const CacheItem& cache, Instruction* i) {
  i->cache_base = narrow(cache.base);
  i->cache_head_stride = narrow(cache.head_stride);
  i->cache_row_stride = narrow(cache.row_stride);
  i->values_offset = narrow(cache.values_offset);
}

}  // namespace

std::uint32_t BoardLowering::epsilon() const {
  return std::bit_cast<std::uint32_t>(static_cast<float>(program_.norm_epsilon));
}

Ended BoardLowering::norm(int norm_op, int block, std::int64_t gain, bool last_row) {
  Instruction i;
  i.source = narrow(x_.base);
  i.source_stride = narrow(x_.stride);
  i.destination = narrow(t_.base);
  i.destination_stride = narrow(t_.stride);
  i.columns = narrow(program_.columns);
  i.words = narrow(divide_up(program_.columns, 64));
  i.gain = narrow(gain);
  i.epsilon = epsilon();
  i.peaks = static_cast<std::uint32_t>(x_peaks_);
  i.last_row = last_row ? 1 : 0;
  i.line = line(norm_op);
  i.apart = line(block) - i.line;
  return emitter_.emit(Op::kNorm, i, {x_ready_, block_read_});
}

Ended BoardLowering::quantize(int block, const Region& from, std::int64_t columns, Peaks peaks,
                              Ended after) {
  Instruction i;
  i.source = narrow(from.base);
  i.source_stride = narrow(from.stride);
  i.first = narrow(from.first);
  i.columns = narrow(columns);
  i.words = narrow(divide_up(from.first + columns, 64));
  i.peaks = static_cast<std::uint32_t>(peaks);
  i.line = line(block);
  return emitter_.emit(Op::kQuantize, i, {after, block_read_});
}

MatrixPart BoardLowering::part_of(int product, int bias) const {
  const Matrix& matrix = matrix_of(product);
  MatrixPart part;
  part.tensor = matrix.tensor;
  part.first_row = matrix.row_share.begin;
  part.rows = matrix.row_share.size();
  if (bias >= 0) {
    part.bias = program_.vectors[static_cast<std::size_t>(op(bias).vector)].tensor;
  }
  return part;
}

/// Places a matrix and fills what its instruction says of it.
Instruction BoardLowering::product_of(int product, std::vector<MatrixPart> parts) {
  const Share& columns = matrix_of(product).column_share;
  MatrixItem item;
  item.parts = std::move(parts);
  item.first_column = columns.begin / kLanes * kLanes;
  item.columns = columns.end - item.first_column;
  item.lead = columns.begin - item.first_column;
  item.base = allocate(matrix_beats(item));
  Instruction i;
  i.stream_base = narrow(item.base);
  i.stream_beats = narrow(matrix_beats(item));
  i.words = narrow(matrix_words(item));
  i.columns = narrow(part_slots(item.parts.front()));
  i.bias = has_bias(item) ? 1 : 0;
  i.line = line(product);
  i.chain = 1;
  board_.matrices.push_back(std::move(item));
  return i;
}

Ended BoardLowering::project(const Projection& projection, const Region& to, Ended block) {
  MatrixPart part = part_of(projection.product, projection.bias);
  part.head_columns = program_.head_columns;
  Instruction i = product_of(projection.product, {std::move(part)});
  i.variant = static_cast<std::uint32_t>(Post::kPlain);
  i.destination = narrow(to.base);
  i.destination_stride = narrow(to.stride);
  return emitter_.emit(Op::kProduct, i, {block, heads_read_});
}

Ended BoardLowering::process_heads(const Projection& projection, const Region& from,
                                   HeadTarget target, std::int64_t gain, const CacheItem& cache,
                                   Ended product) {
  const Value& value = result(projection.block);
  Instruction i;
  i.source = narrow(from.base);
  i.source_stride = narrow(from.stride);
  i.heads = narrow(value.heads);
  i.head_columns = narrow(value.columns);
  i.columns = narrow(value.heads * value.columns);
  i.target = static_cast<std::uint32_t>(target);
  i.rotate = projection.rotation >= 0 ? 1 : 0;
  i.norm = projection.norm >= 0 ? 1 : 0;
  i.gain = narrow(gain);
  i.epsilon = epsilon();
  i.chain = 1;
  i.line = line(projection.norm >= 0 ? projection.norm : projection.block);
  i.apart = line(projection.block) - i.line;
  fill_cache(cache, &i);
  return emitter_.emit(Op::kHeads, i, {product, rotary_ready_, gains_ready_, queries_read_});
}

CacheItem BoardLowering::place_cache(const LayerStructure& layer) {
  const Cache& cache = program_.caches[static_cast<std::size_t>(op(layer.attended).keys)];
  const std::int64_t blocks = divide_up(capacity_, 128);
  CacheItem item;
  item.layer = cache.layer;
  item.first_head = cache.head_share.begin;
  item.heads = cache.head_share.size();
  item.values_offset = blocks * key_block_beats(cache.head_columns);
  item.head_stride = cache_head_beats(cache.head_columns, capacity_);
  const std::int64_t row = item.head_stride * item.heads;
  item.row_stride = cache.one_for_each_row ? row : 0;
  item.base = allocate(row * (cache.one_for_each_row ? program_.rows : 1));
  return item;
}

Ended BoardLowering::attend(const LayerStructure& layer, const CacheItem& cache, Ended query,
                            Ended writes) {
  const Value& value = result(layer.query.block);
  Instruction i;
  i.heads = narrow(cache.heads);
  i.group = narrow(program_.query_group);
  i.words = narrow(value.heads);
  // Where the first key head's query heads begin: before this chip's own, it may be.
  i.source = narrow((cache.first_head * program_.query_group - value.first) & 0xFFFF);
  i.head_columns = narrow(value.columns);
  i.columns = narrow(value.heads * value.columns);
  i.window = narrow(program_.window.value_or(0));
  i.destination = narrow(attention_.base);
  i.destination_stride = narrow(attention_.stride);
  i.first = narrow(attention_.first);
  i.fence = 1;
  i.fence_need = narrow(writes.count % 256);
  i.track = 1;
  i.line = line(layer.attended);
  fill_cache(cache, &i);
  hold("query heads that read one key head", program_.query_group, kLargestGroup);
  hold("words of query memory", engine_.rows * value.heads * divide_up(value.columns, kLanes),
       engine_.query_words);
  return emitter_.emit(Op::kAttend, i, {query, writes, norm_read_});
}

void BoardLowering::enter_layer(std::size_t index) {
  const LayerStructure& layer = structure_.layers[index];
  const CacheItem& cache = board_.caches.emplace_back(place_cache(layer));
  const Ended block = norm(layer.input_norm, layer.input_block, input_gain(index), false);
  norm_read_ = block;
  // Keys and values first: their way to the cache is over when attention reads it.
  const Ended key = project(layer.key, k_, block);
  const Ended value = project(layer.value, v_, block);
  const Ended key_done =
      process_heads(layer.key, k_, HeadTarget::kKeys, head_gain(index, true), cache, key);
  const Ended value_done = process_heads(layer.value, v_, HeadTarget::kValues, 0, cache, value);
  const Ended query = project(layer.query, q_, block);
  const Ended query_done =
      process_heads(layer.query, q_, HeadTarget::kQuery, head_gain(index, false), cache, query);
  block_read_ = query;
  heads_read_ = query_done;
  load_gain(layer.post_norm, post_gain());
  load_layer_gains(index + 1);
  CHECK(key_done.count < value_done.count);
  const Ended attention = attend(layer, cache, query_done, value_done);
  queries_read_ = attention;
  contract(layer.output, attention_, result(layer.attended).columns, Peaks::kOfAttend, attention);
  const Ended post = norm(layer.post_norm, layer.post_block, post_gain(), false);
  const Ended hidden = gate_and_up(layer, post);
  block_read_ = hidden;
  contract(layer.down, hidden_, result(layer.multiply).columns, Peaks::kOfProduct, hidden);
  heads_read_ = x_ready_;  // hidden rows and projections share their place
}

Ended BoardLowering::gate_and_up(const LayerStructure& layer, Ended block) {
  MatrixPart gate = part_of(layer.gate, -1);
  MatrixPart up = part_of(layer.up, -1);
  gate.lead = up.lead = hidden_.first;
  Instruction i = product_of(layer.gate, {std::move(gate), std::move(up)});
  i.variant = static_cast<std::uint32_t>(Post::kSilu);
  i.destination = narrow(hidden_.base);
  i.destination_stride = narrow(hidden_.stride);
  i.track = 1;
  return emitter_.emit(Op::kProduct, i, {block});
}

}  // namespace logos::d5005
