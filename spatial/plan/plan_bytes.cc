#include "spatial/plan/plan_bytes.h"

#include <algorithm>
#include <initializer_list>

#include "program/identity.h"
#include "sim/records.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kVersion = 2;

using records::count;
using records::kMaxInt32;
using records::number;

/// An index into a table, -1 where there is none.
template <typename Archive>
void index(Archive& archive, int& value) {
  number(archive, value, -1, kMaxInt32);
}
template <typename Archive>
void indices(Archive& archive, std::initializer_list<int*> values) {
  for (int* value : values) index(archive, *value);
}
template <typename Archive>
void counts(Archive& archive, std::initializer_list<std::int32_t*> values) {
  for (std::int32_t* value : values) count(archive, *value);
}
template <typename Archive>
void transfer(Archive& archive, Share& share) {
  number(archive, share.begin, 0, kMaxInt32);
  number(archive, share.end, 0, kMaxInt32);
}
template <typename Archive, typename Int>
void numbers(Archive& archive, std::vector<Int>& values, std::int64_t lowest,
             std::int64_t highest) {
  archive.list(values, [&](auto& inner, Int& value) { number(inner, value, lowest, highest); });
}

template <typename Archive>
void transfer(Archive& archive, Buffers& named) {
  indices(archive,
          {&named.entry, &named.row, &named.vectors, &named.queries, &named.peaks, &named.partials,
           &named.attention, &named.middle, &named.tile_peaks, &named.chip_peaks,
           &named.chip_peaks_2, &named.peak, &named.peak_2, &named.hidden, &named.addends,
           &named.totals, &named.addends_2, &named.totals_2, &named.joined});
}

template <typename Archive>
void transfer(Archive& archive, Group& group) {
  counts(archive,
         {&group.key_head, &group.first_tile, &group.tiles, &group.first_query, &group.queries});
  archive.list(group.vectors, [](auto& inner, HeadVector& vector) {
    number(inner, vector.kind, 0, 2);
    counts(inner, {&vector.head, &vector.owner});
  });
}

template <typename Archive>
void transfer(Archive& archive, Step& step) {
  number(archive, step.opcode, 0, static_cast<std::int64_t>(Opcode::kDone));
  indices(archive, {&step.operation, &step.buffer});
  count(archive, step.chunk);
  index(archive, step.vector);
  numbers(archive, step.matrices, 0, kMaxInt32);
  index(archive, step.partition);
  counts(archive, {&step.first_column, &step.last_column});
  number(archive, step.second, 0, 1);
}

template <typename Archive>
void transfer_tables(Archive& archive, Stage& stage) {
  archive.list(stage.matrices, [](auto& inner, StageMatrix& matrix) {
    inner.text(matrix.tensor);
    counts(inner, {&matrix.rows, &matrix.columns});
    transfer(inner, matrix.column_share);
  });
  archive.list(stage.vectors, [](auto& inner, StageVector& vector) {
    inner.text(vector.tensor);
    count(inner, vector.size);
  });
  archive.list(stage.partitions, [](auto& inner, Partition& partition) {
    numbers(inner, partition.boundary, 0, kMaxInt32);
  });
  archive.list(stage.areas, [](auto& inner, Area& area) {
    inner.text(area.name);
    count(inner, area.offset);
    count(inner, area.bytes);
    count(inner, area.slots);
    count(inner, area.stride);
    number(inner, area.leader_only, 0, 1);
  });
  archive.list(stage.buffers, [](auto& inner, Buffer& buffer) {
    index(inner, buffer.area);
    count(inner, buffer.row_bytes);
    inner.list(buffer.expected, [](auto& chunk, std::vector<std::int64_t>& tiles) {
      numbers(chunk, tiles, 0, kMaxInt32);
    });
  });
  transfer(archive, stage.named);
}

template <typename Archive>
void transfer_attention(Archive& archive, Stage& stage) {
  archive.list(stage.groups, [](auto& inner, Group& group) { transfer(inner, group); });
  indices(archive, {&stage.query_matrix, &stage.key_matrix, &stage.value_matrix, &stage.query_bias,
                    &stage.key_bias, &stage.value_bias, &stage.query_gain, &stage.key_gain});
  transfer(archive, stage.query_heads);
  transfer(archive, stage.key_heads);
  index(archive, stage.projection);
  count(archive, stage.cache_entries);
  for (VectorOperations* of : {&stage.query, &stage.key, &stage.value}) {
    indices(archive, {&of->product, &of->bias, &of->norm, &of->rotation, &of->block});
  }
  indices(archive, {&stage.attended, &stage.operands, &stage.sums, &stage.values, &stage.own,
                    &stage.scores, &stage.cache});
}

template <typename Archive>
void transfer_schedule(Archive& archive, Stage& stage) {
  transfer_tables(archive, stage);
  archive.list(stage.steps, [](auto& inner, Step& step) { transfer(inner, step); });
  transfer_attention(archive, stage);
}

template <typename Archive>
void transfer(Archive& archive, Stage& stage) {
  number(archive, stage.kind, 0, 2);
  number(archive, stage.profile, 0, 1);
  counts(archive, {&stage.layer, &stage.text_chip, &stage.chip, &stage.x, &stage.y, &stage.width,
                   &stage.height, &stage.tiles, &stage.leader, &stage.rows});
  numbers(archive, stage.next, 0, kMaxInt32);
  numbers(archive, stage.peers, 0, kMaxInt32);
  count(archive, stage.base);
  count(archive, stage.held_bytes);
  count(archive, stage.used_bytes);
  transfer_schedule(archive, stage);
}

template <typename Archive>
void transfer_model(Archive& archive, Plan& plan) {
  for (std::int64_t* value :
       {&plan.rows, &plan.columns, &plan.hidden, &plan.vocabulary, &plan.head_columns,
        &plan.query_heads, &plan.key_heads, &plan.window, &plan.capacity, &plan.text_chips,
        &plan.chips, &plan.output_columns, &plan.output_rows}) {
    number(archive, *value, 0, kMaxInt32);
  }
  records::real(archive, plan.norm_epsilon);
  for (bool* flag : {&plan.is_chunk, &plan.has_tokens, &plan.has_positions, &plan.has_given}) {
    number(archive, *flag, 0, 1);
  }
  count(archive, plan.block_rows);
  count(archive, plan.slots);
  number(archive, plan.rotary.kind, 0, 2);
  for (double* value : {&plan.rotary.base, &plan.rotary.factor, &plan.rotary.low, &plan.rotary.high,
                        &plan.rotary.original}) {
    records::real(archive, *value);
  }
}

/// A stage, and its tables and steps alone, as values of their own.
struct StageRecord {
  Stage stage;
};
struct ScheduleRecord {
  Stage stage;
};
template <typename Archive>
void transfer(Archive& archive, StageRecord& record) {
  transfer(archive, record.stage);
}
template <typename Archive>
void transfer(Archive& archive, ScheduleRecord& record) {
  transfer_schedule(archive, record.stage);
}

}  // namespace

template <typename Archive>
void transfer(Archive& archive, Plan& plan) {
  std::int64_t version = kVersion;
  archive.integer(version, kVersion, kVersion);
  transfer_model(archive, plan);
  archive.list(plan.stages, [](auto& inner, Stage& stage) { transfer(inner, stage); });
  numbers(archive, plan.first, 0, kMaxInt32);
  numbers(archive, plan.lines, 0, kMaxInt32);
  numbers(archive, plan.layers, 0, kMaxInt32);
  archive.list(plan.names, [](auto& inner, std::string& name) { inner.text(name); });
}

std::string serialise_plan(const Plan& plan) { return records::serialise(plan); }

Plan parse_plan(std::string_view payload, std::string_view where) {
  return records::parse<Plan>(payload, where);
}

std::string serialise_stage(const Stage& stage) { return records::serialise(StageRecord{stage}); }

std::string schedule_sha256(const Stage& stage) {
  ScheduleRecord schedule{stage};
  for (Area& area : schedule.stage.areas) area.offset -= std::min(stage.base, area.offset);
  return sha256_hex(records::serialise(schedule));
}

}  // namespace logos::spatial
