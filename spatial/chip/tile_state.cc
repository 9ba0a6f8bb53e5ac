#include "spatial/chip/tile_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "program/check.h"
#include "program/divide_up.h"
#include "program/error.h"

namespace logos::spatial {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

const char* kind_name(StageKind kind) {
  switch (kind) {
    case StageKind::kEmbedding:
      return "the embedding";
    case StageKind::kLayer:
      return "layer";
    case StageKind::kHead:
      return "the head";
  }
  CHECK_UNREACHABLE();
}

void fill_bytes(std::span<std::byte> bytes, std::uint32_t pattern) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(pattern >> (8 * (i % 4)));
  }
}

/// Bytes of `count` elements whose bits are a pattern of 32, repeated.
template <typename T>
std::vector<T> filled(std::int64_t count, std::uint32_t pattern) {
  std::vector<T> values(at(count));
  fill_bytes(std::as_writable_bytes(std::span(values)), pattern);
  return values;
}

}  // namespace

BlockRows rows_of_block(const Plan& plan, const Stage& stage, std::int32_t block) {
  const std::int32_t first = block * plan.block_rows;
  return {first, std::min(plan.block_rows, stage.rows - first)};
}

std::int32_t blocks_of(const Plan& plan, const Stage& stage) {
  return divide_up(stage.rows, plan.block_rows);
}

std::int32_t slots_of(const Plan& plan, const Stage& stage) {
  return std::min(plan.slots, blocks_of(plan, stage));
}

TileState::TileState(const Plan& plan, const Stage& stage, const StageMap& map, std::int32_t tile,
                     std::span<const std::int64_t> positions, std::uint32_t fill)
    : plan_(plan), stage_(stage), map_(map), tile_(tile) {
  lay_memory(fill);
  find_overlaps();
  for (const Buffer& buffer : stage.buffers) {
    const auto slots = stage.areas[at(buffer.area)].slots;
    auto& fills = fills_.emplace_back();
    for (std::int32_t slot = 0; slot < slots; ++slot) {
      for (std::size_t chunk = 0; chunk < buffer.expected.size(); ++chunk) {
        fills.emplace_back().block = slot;
      }
    }
  }
  const std::int32_t blocks = blocks_of(plan, stage);
  done.resize(at(blocks));
  done_origin.resize(at(blocks));
  credits.resize(stage.next.size());
  if (stage.kind != StageKind::kLayer) return;

  sequences_ = plan.is_chunk ? 1 : plan.rows;
  cache_fills_.resize(at(blocks));
  cache_due_.resize(at(blocks));
  const std::int64_t last = *std::max_element(positions.begin(), positions.end());
  for (const ServedGroup& served : this->map().groups) {
    const Group& group = stage.groups[at(served.group)];
    reach_ = std::max(reach_, entries_of(0, last - 1, served.index, group.tiles).end);
    for (std::size_t row = 0; row < positions.size(); ++row) {
      if ((positions[row] - 1) % group.tiles != served.index) continue;
      cache_due_[row / at(plan.block_rows)] += 2 * (2 * plan.head_columns + 1);
    }
  }
  if (reach_ > stage.cache_entries) {
    throw Error("spatial: positions of the run", "more than the tiles of a layer can hold",
                fmt::to_string(last), fmt::format("{} at most", plan.capacity));
  }
  for (std::size_t i = 0; i < this->map().groups.size() * at(sequences_); ++i) {
    const std::int64_t count = reach_ * plan.head_columns;
    caches_.push_back({filled<std::int16_t>(count, fill), filled<std::int16_t>(count, fill),
                       filled<std::int8_t>(reach_, fill), filled<std::int8_t>(reach_, fill)});
  }
}

/// One memory for all areas but the cache, as they lie: some over others.
void TileState::lay_memory(std::uint32_t fill) {
  std::int64_t end = 0;
  origin_ = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < stage_.areas.size(); ++i) {
    const Area& area = stage_.areas[i];
    if (static_cast<int>(i) == stage_.cache || (area.leader_only && !leads())) continue;
    origin_ = std::min(origin_, area.offset);
    end = std::max(end, area.offset + (area.slots - 1) * area.stride + area.bytes);
  }
  // Zeros of calloc take no memory before they are written: an area may be made for more positions
  // than a run has.
  bytes_ = std::max<std::int64_t>(0, end - origin_);
  memory_.reset(static_cast<std::byte*>(std::calloc(at(std::max<std::int64_t>(1, bytes_)), 1)));
  if (!memory_) throw std::bad_alloc();
  if (fill != 0) fill_bytes({memory_.get(), at(bytes_)}, fill);
}

void TileState::find_overlaps() {
  for (const Buffer& buffer : stage_.buffers) {
    const Area& area = stage_.areas[at(buffer.area)];
    auto& others = overlaps_.emplace_back();
    for (std::size_t other = 0; other < stage_.buffers.size(); ++other) {
      const Area& there = stage_.areas[at(stage_.buffers[other].area)];
      const bool apart =
          area.offset + area.bytes <= there.offset || there.offset + there.bytes <= area.offset;
      if (!apart && &stage_.buffers[other] != &buffer) others.push_back(static_cast<int>(other));
    }
  }
}

std::string TileState::name() const {
  const std::string chip =
      plan_.text_chips > 1 ? fmt::format(" of text chip {}", stage_.text_chip) : "";
  const std::string layer = stage_.layer > 0 ? fmt::format(" {}", stage_.layer) : "";
  return fmt::format("spatial: tile {} of {}{}{} (chip {}, tile {})", tile_, kind_name(stage_.kind),
                     layer, chip, stage_.chip, map().node);
}

std::byte* TileState::row(int area, std::int32_t block, std::int64_t row, std::int64_t row_bytes) {
  const Area& place = stage_.areas[at(area)];
  const std::int64_t offset =
      place.offset - origin_ + block % place.slots * place.stride + row * row_bytes;
  CHECK(offset >= 0 && offset < bytes_);
  return memory_.get() + offset;
}

std::byte* TileState::buffer_row(int buffer, std::int32_t block, std::int64_t row) {
  const Buffer& place = stage_.buffers[at(buffer)];
  return this->row(place.area, block, row, place.row_bytes);
}

Fill& TileState::fill_of(int buffer, std::int32_t chunk, std::int32_t block) {
  const Buffer& place = stage_.buffers[at(buffer)];
  const std::int32_t slot = block % stage_.areas[at(place.area)].slots;
  return fills_[at(buffer)][at(slot) * place.expected.size() + at(chunk)];
}

const Fill& TileState::fill(int buffer, std::int32_t chunk, std::int32_t block) const {
  return const_cast<TileState*>(this)->fill_of(buffer, chunk, block);
}

std::int64_t TileState::due(int buffer, std::int32_t chunk, std::int32_t block) const {
  return stage_.buffers[at(buffer)].expected[at(chunk)][at(tile_)] *
         rows_of_block(plan_, stage_, block).count;
}

bool TileState::full(int buffer, std::int32_t chunk, std::int32_t block) const {
  const Fill& state = fill(buffer, chunk, block);
  return state.block == block && state.got == due(buffer, chunk, block);
}

void TileState::require_full(int buffer, std::int32_t chunk, std::int32_t block,
                             std::string_view step) const {
  if (full(buffer, chunk, block)) return;
  const Area& area = stage_.areas[at(stage_.buffers[at(buffer)].area)];
  throw Error(name(),
              fmt::format("{} of block {} reads \"{}\" before it is full", step, block, area.name),
              fmt::format("{} bytes", fill(buffer, chunk, block).got),
              fmt::format("{} bytes", due(buffer, chunk, block)));
}

void TileState::check_arrival(const Message& message, std::int64_t bytes) {
  const Buffer& place = stage_.buffers[at(message.buffer)];
  const std::string& area = stage_.areas[at(place.area)].name;
  const Fill& state = fill_of(message.buffer, message.chunk, message.block);
  if (state.block != message.block) {
    throw Error(name(), fmt::format("rows arrive in \"{}\", which has not been freed", area),
                fmt::format("block {}", message.block), fmt::format("block {}", state.block));
  }
  const std::int64_t whole = due(message.buffer, message.chunk, message.block);
  if (state.got + bytes > whole) {
    throw Error(name(), fmt::format("more arrives in \"{}\" than is due", area),
                fmt::format("{} bytes", state.got + bytes), fmt::format("{} bytes", whole));
  }
  for (const int other : overlaps_[at(message.buffer)]) {
    const auto chunks = static_cast<std::int32_t>(stage_.buffers[at(other)].expected.size());
    for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
      if (fill_of(other, chunk, message.block).got == 0) continue;
      throw Error(name(), fmt::format("rows arrive in \"{}\" while it still holds others", area));
    }
  }
}

void TileState::copy(const Message& message, std::int64_t begin, std::int64_t end) {
  const std::int64_t row_bytes = message.segments[0].bytes + message.segments[1].bytes;
  for (std::int64_t from = begin; from < end;) {
    const std::int64_t row = from / row_bytes;
    const std::int64_t in_row = from % row_bytes;
    const bool first = in_row < message.segments[0].bytes;
    const Segment& segment = message.segments[first ? 0 : 1];
    const std::int64_t in_segment = first ? in_row : in_row - message.segments[0].bytes;
    const std::int64_t count = std::min(end - from, segment.bytes - in_segment);
    std::memcpy(buffer_row(message.buffer, message.block, message.first_row + row) + segment.at +
                    in_segment,
                message.data.data() + from, at(count));
    from += count;
  }
}

bool TileState::write(const Message& message, std::int64_t begin, std::int64_t end, Cycles ready) {
  check_arrival(message, end - begin);
  copy(message, begin, end);
  Fill& state = fill_of(message.buffer, message.chunk, message.block);
  state.got += end - begin;
  state.ready = std::max(state.ready, ready);
  state.last = message.origin;
  return state.got == due(message.buffer, message.chunk, message.block);
}

void TileState::write_whole(int buffer, std::int32_t block, std::span<const std::byte> bytes,
                            Cycles ready, const Origin& by) {
  Fill& state = fill_of(buffer, 0, block);
  const auto count = static_cast<std::int64_t>(bytes.size());
  CHECK(state.block == block && state.got == 0 && count == due(buffer, 0, block));
  std::memcpy(buffer_row(buffer, block, 0), bytes.data(), bytes.size());
  state.got = count;
  state.ready = ready;
  state.last = by;
}

void TileState::release(int buffer, std::int32_t block) {
  const Buffer& place = stage_.buffers[at(buffer)];
  const auto chunks = static_cast<std::int32_t>(place.expected.size());
  for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
    require_full(buffer, chunk, block, "release");
    Fill& state = fill_of(buffer, chunk, block);
    state = {};
    state.block = block + stage_.areas[at(place.area)].slots;
  }
}

std::string TileState::unfinished() const {
  std::string lines;
  const std::int32_t blocks = blocks_of(plan_, stage_);
  for (std::size_t i = 0; i < fills_.size(); ++i) {
    const Buffer& buffer = stage_.buffers[i];
    for (std::size_t f = 0; f < fills_[i].size(); ++f) {
      const Fill& state = fills_[i][f];
      const bool never_filled = buffer.expected[f % buffer.expected.size()][at(tile_)] == 0;
      if (state.got == 0 && (state.block >= blocks || never_filled)) continue;
      lines += fmt::format("{}: \"{}\" for block {} holds {} bytes\n", name(),
                           stage_.areas[at(buffer.area)].name, state.block, state.got);
    }
  }
  return lines;
}

float* TileState::scores(std::int32_t block, std::int64_t row) {
  return reinterpret_cast<float*>(
      this->row(stage_.scores, block, row, map().queries * stage_.cache_entries * 4));
}

bool TileState::write_cache(const Message& message, std::int64_t begin, std::int64_t end,
                            Cycles ready) {
  const auto& groups = map().groups;
  const auto served = std::find_if(groups.begin(), groups.end(),
                                   [&](const ServedGroup& g) { return g.group == message.group; });
  CHECK(served != groups.end() && message.entry < reach_);
  HeldCache& held = cache(static_cast<std::int32_t>(served - groups.begin()), message.cache);
  auto& vectors = message.is_value ? held.values : held.keys;
  auto& exponents = message.is_value ? held.value_exponents : held.key_exponents;
  const std::int64_t vector_bytes = 2 * plan_.head_columns;
  auto* to = reinterpret_cast<std::byte*>(vectors.data() + message.entry * plan_.head_columns);
  const std::int64_t vector_end = std::min(end, vector_bytes);
  if (begin < vector_end) {
    std::memcpy(to + begin, message.data.data() + begin, at(vector_end - begin));
  }
  if (end > vector_bytes) {
    exponents[at(message.entry)] = static_cast<std::int8_t>(message.data[at(vector_bytes)]);
  }
  Fill& state = cache_fills_[at(message.block)];
  state.got += end - begin;
  state.ready = std::max(state.ready, ready);
  state.last = message.origin;
  return state.got == cache_due_[at(message.block)];
}

void TileState::require_cache(std::int32_t block, std::string_view step) const {
  if (cache_complete(block)) return;
  throw Error(name(), fmt::format("{} of block {} read a cache before its keys and values came",
                                  step, block));
}

bool TileState::cache_complete(std::int32_t block) const {
  for (std::int32_t b = 0; b <= block; ++b) {
    if (cache_fills_[at(b)].got != cache_due_[at(b)]) return false;
  }
  return true;
}

}  // namespace logos::spatial
