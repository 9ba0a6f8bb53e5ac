#include <algorithm>

#include "program/shares.h"
#include "spatial/lowering/layer_steps.h"
#include "spatial/lowering/rows.h"
#include "spatial/lowering/stage_builder.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kSumBytes = 8;
constexpr int kRoundsOfJoined = 2;  // a text chip may run one round of slots ahead of another

/// Rows as they come; gives the region of `row`, which is free again when operands are made of it.
int add_arrival_buffers(StageBuilder& builder, const ModelShare& share, StageKind kind, int slots) {
  const std::int64_t row = row_bytes(share, kind);
  builder.stage().named.entry = builder.leader_buffer("entry", row, 1);
  const int region = builder.region(slots);
  builder.stage().named.row =
      builder.buffer(builder.area("row", region, 0, row), [=](std::int32_t) { return row; });
  return region;
}

/// The tile's logits of every text chip.
std::int64_t joined_bytes(const ModelShare& share, std::int32_t tile, std::int32_t tiles) {
  std::int64_t logits = 0;
  for (std::int64_t chip = 0; chip < share.text_chips; ++chip) {
    const Share rows = share_of(share.vocabulary, chip, share.text_chips);
    logits += share_of(rows.size(), tile, tiles).size();
  }
  return logits * kValueBytes;
}

}  // namespace

Stage head_stage(const ModelShare& share, const StageShape& shape, const StageSource& source) {
  StageBuilder builder(StageKind::kHead, share, shape, source);
  Stage& stage = builder.stage();
  const HeadStructure none;
  const HeadStructure& head = source.head != nullptr ? *source.head : none;
  const Share columns = {0, share.columns};
  const int logits = builder.partition(share.table_rows);
  const int table = builder.matrix(head.product, share.vocabulary, share.columns, columns);
  const int gain = builder.vector(head.norm, share.columns);
  const int region = add_arrival_buffers(builder, share, StageKind::kHead, shape.slots);
  const std::int64_t most = builder.most_of(logits);
  if (share.split()) {
    const auto bytes = [&](std::int32_t tile) { return joined_bytes(share, tile, shape.tiles); };
    const int area =
        builder.own_area("joined logits", builder.most(bytes), kRoundsOfJoined * shape.slots);
    stage.named.joined = builder.buffer(area, bytes);
  }
  stage.operands = builder.slot_area("operands", share.columns * kIntegerBytes);
  stage.sums = builder.area("sums", region, 0, most * kSumBytes);
  stage.values = builder.area("values", region, builder.end_of(stage.sums), most * kValueBytes);

  add_arrival(builder, head.norm);
  builder.step(
      {.opcode = Opcode::kNorm, .operation = head.norm, .buffer = stage.named.row, .vector = gain});
  builder.release(stage.named.row);
  const auto last_column = static_cast<std::int32_t>(share.columns);
  builder.step({.opcode = Opcode::kProduct,
                .operation = head.product,
                .matrices = {table},
                .partition = logits,
                .last_column = last_column});
  builder.step({.opcode = Opcode::kScale,
                .operation = head.product,
                .matrices = {table},
                .partition = logits});
  if (share.split()) {
    builder.step({.opcode = Opcode::kSendJoined, .operation = head.joined, .partition = logits});
    builder.wait(stage.named.joined, head.joined);
    builder.release(stage.named.joined);
  }
  builder.step({.opcode = Opcode::kShow, .operation = source.show, .partition = logits});
  builder.step(Opcode::kDone);
  return builder.finish(builder.held(table, most) + share.columns * kValueBytes);
}

Stage embedding_stage(const ModelShare& share, const StageShape& shape, const StageSource& source) {
  StageBuilder builder(StageKind::kEmbedding, share, shape, source);
  Stage& stage = builder.stage();
  const Share columns = {0, share.columns};
  const int rows = builder.partition(share.table_rows);
  const int table = builder.matrix(source.embedded, share.vocabulary, share.columns, columns);
  add_arrival_buffers(builder, share, StageKind::kEmbedding, shape.slots);
  const bool alone = source.show >= 0;
  if (alone) {  // a block's rows may all lie in one tile
    stage.own = builder.slot_area("own rows", share.columns * kValueBytes);
  }
  if (alone && share.split()) {
    const std::int64_t headings = share.text_chips * static_cast<std::int64_t>(sizeof(Heading));
    stage.named.joined = builder.leader_buffer("held rows", headings + share.columns * kValueBytes,
                                               kRoundsOfJoined * shape.slots);
  }

  add_arrival(builder, source.embedded);
  if (!alone) builder.step(Opcode::kWaitCredit);
  builder.step({.opcode = Opcode::kEmbed,
                .operation = source.embedded,
                .matrices = {table},
                .partition = rows});
  if (!alone) builder.step({.opcode = Opcode::kSendNext, .partition = rows});
  if (stage.named.joined >= 0) {
    builder.wait(stage.named.joined, source.held);
    builder.step({.opcode = Opcode::kShow, .operation = source.show, .partition = rows});
    builder.release(stage.named.joined);
  }
  builder.release(stage.named.row);
  builder.step(Opcode::kDone);
  const std::int64_t held = builder.held(table, builder.most_of(rows));
  return builder.finish(source.own_table ? held : 0);
}

}  // namespace logos::spatial
