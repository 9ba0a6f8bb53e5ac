#include "spatial/lowering/stage_builder.h"

#include <algorithm>
#include <utility>

#include "program/check.h"
#include "program/shares.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kGroup = 32;  // columns that share a multiplier

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAreaAlignment - 1) / kAreaAlignment * kAreaAlignment;
}

}  // namespace

StageBuilder::StageBuilder(StageKind kind, const ModelShare& share, const StageShape& shape,
                           const StageSource& source)
    : shape_(shape), program_(source.program) {
  stage_.kind = kind;
  stage_.profile = share.profile;
  stage_.text_chip = static_cast<std::int32_t>(share.text_chip);
  stage_.rows = static_cast<std::int32_t>(kind == StageKind::kHead ? share.head_rows : share.rows);
  stage_.width = shape.width;
  stage_.height = shape.height;
  stage_.tiles = shape.tiles;
  stage_.base = shape.base;
  const std::int32_t middle = shape.height / 2 * shape.width + shape.width / 2;
  stage_.leader = std::min(middle, shape.tiles - 1);
}

std::int64_t StageBuilder::most(const std::function<std::int64_t(std::int32_t)>& of_tile) const {
  std::int64_t most = 0;
  for (std::int32_t tile = 0; tile < tiles(); ++tile) most = std::max(most, of_tile(tile));
  return most;
}

int StageBuilder::partition(Share units) {
  Partition partition;
  for (std::int32_t tile = 0; tile < tiles(); ++tile) {
    const Share part = share_of(units.size(), tile, tiles());
    if (tile == 0) partition.boundary.push_back(static_cast<std::int32_t>(units.begin));
    partition.boundary.push_back(static_cast<std::int32_t>(units.begin + part.end));
  }
  return this->partition(std::move(partition));
}

int StageBuilder::partition(Partition boundaries) {
  stage_.partitions.push_back(std::move(boundaries));
  return static_cast<int>(stage_.partitions.size()) - 1;
}

Share StageBuilder::of(int partition, std::int32_t tile) const {
  return stage_.partitions[static_cast<std::size_t>(partition)].of(tile);
}

std::int64_t StageBuilder::most_of(int partition) const {
  return most([&](std::int32_t tile) { return of(partition, tile).size(); });
}

int StageBuilder::matrix(int operation, std::int64_t rows, std::int64_t columns,
                         Share column_share) {
  StageMatrix matrix;
  if (program_ != nullptr) {
    const Operation& op = program_->operations[static_cast<std::size_t>(operation)];
    const Matrix& declared = program_->matrices[static_cast<std::size_t>(op.matrix)];
    CHECK(declared.rows == rows && declared.columns == columns);
    matrix.tensor = declared.tensor;
  }
  matrix.rows = static_cast<std::int32_t>(rows);
  matrix.columns = static_cast<std::int32_t>(columns);
  matrix.column_share = column_share;
  stage_.matrices.push_back(std::move(matrix));
  return static_cast<int>(stage_.matrices.size()) - 1;
}

int StageBuilder::vector(int operation, std::int64_t size) {
  StageVector vector;
  if (program_ != nullptr) {
    const Operation& op = program_->operations[static_cast<std::size_t>(operation)];
    const Vector& declared = program_->vectors[static_cast<std::size_t>(op.vector)];
    CHECK(declared.size == size);
    vector.tensor = declared.tensor;
  }
  vector.size = static_cast<std::int32_t>(size);
  stage_.vectors.push_back(std::move(vector));
  return static_cast<int>(stage_.vectors.size()) - 1;
}

std::int64_t StageBuilder::held(int matrix, std::int64_t rows) const {
  const Share share = stage_.matrices[static_cast<std::size_t>(matrix)].column_share;
  const std::int64_t groups = (share.end + kGroup - 1) / kGroup - share.begin / kGroup;
  return rows * (share.size() + scale_bytes(stage_.profile, groups));
}

int StageBuilder::region(int slots, bool leader_only) {
  regions_.push_back({slots, leader_only});
  return static_cast<int>(regions_.size()) - 1;
}

int StageBuilder::add_area(std::string name, std::int64_t bytes, Spot spot) {
  Region& region = regions_[spot.region];
  Area area;
  area.name = std::move(name);
  area.bytes = aligned(bytes);
  area.slots = region.slots;
  area.leader_only = region.leader_only;
  region.bytes = std::max(region.bytes, spot.at + area.bytes);
  stage_.areas.push_back(std::move(area));
  spots_.push_back(spot);
  return static_cast<int>(stage_.areas.size()) - 1;
}

int StageBuilder::area(std::string name, int region, std::int64_t at, std::int64_t row_bytes) {
  return add_area(std::move(name), row_bytes * shape_.block_rows,
                  {static_cast<std::size_t>(region), at});
}

std::int64_t StageBuilder::end_of(int area) const {
  const auto i = static_cast<std::size_t>(area);
  return spots_[i].at + stage_.areas[i].bytes;
}

int StageBuilder::own_area(std::string name, std::int64_t row_bytes, int slots, bool leader_only) {
  return area(std::move(name), region(slots, leader_only), 0, row_bytes);
}

int StageBuilder::last_area(std::string name, std::int64_t bytes) {
  const int last = region(1);
  regions_.back().is_last = true;
  return add_area(std::move(name), bytes, {static_cast<std::size_t>(last), 0});
}

int StageBuilder::buffer(int area, const BytesOfTile& expected, std::int64_t row_bytes) {
  Buffer buffer;
  buffer.area = area;
  buffer.row_bytes = row_bytes > 0 ? row_bytes : most(expected);
  buffer.expected.emplace_back();
  for (std::int32_t tile = 0; tile < tiles(); ++tile) {
    buffer.expected.back().push_back(expected(tile));
  }
  stage_.buffers.push_back(std::move(buffer));
  return static_cast<int>(stage_.buffers.size()) - 1;
}

int StageBuilder::buffer(const std::string& name, const BytesOfTile& expected) {
  return buffer(slot_area(name, most(expected)), expected);
}

int StageBuilder::leader_buffer(const std::string& name, std::int64_t row_bytes, int slots) {
  const int at = own_area(name, row_bytes, slots, true);
  const std::int32_t leader = stage_.leader;
  return buffer(at, [=](std::int32_t tile) { return tile == leader ? row_bytes : 0; });
}

void StageBuilder::wait(int buffer, int operation, std::int32_t chunk) {
  step({.opcode = Opcode::kWait, .operation = operation, .buffer = buffer, .chunk = chunk});
}

void StageBuilder::release(int buffer) { step({.opcode = Opcode::kRelease, .buffer = buffer}); }

Stage StageBuilder::finish(std::int64_t held_bytes) {
  stage_.held_bytes = held_bytes;
  const auto schedule = static_cast<std::int64_t>(stage_.steps.size()) * kStepBytes;
  std::int64_t at = aligned(held_bytes + schedule);
  const auto lay = [&](bool leader_only, bool is_last) {
    for (Region& region : regions_) {
      if (region.leader_only != leader_only || region.is_last != is_last) continue;
      region.offset = stage_.base + at;
      at += region.bytes * region.slots;
    }
  };
  lay(false, false);
  lay(true, false);
  lay(false, true);
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    const Region& region = regions_[spots_[i].region];
    stage_.areas[i].offset = region.offset + spots_[i].at;
    stage_.areas[i].stride = region.bytes;
  }
  stage_.used_bytes = at;
  return std::move(stage_);
}

}  // namespace logos::spatial
