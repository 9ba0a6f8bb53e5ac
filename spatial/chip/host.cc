// The host's part of a run, which takes no time: rows that go in, caches before and after.
#include <algorithm>
#include <cstring>

#include "program/check.h"
#include "spatial/chip/machine.h"

namespace logos::spatial {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

}  // namespace

/// A block's entry of a first stage: headings, rotary rows, given x.
void Machine::feed(StageRun& run, std::int32_t block, const Origin& by) {
  const Stage& stage = run.stage;
  const BlockRows rows = rows_of_block(plan, stage, block);
  const std::int64_t skipped = plan.rows - stage.rows;  // before a chunk's last row
  const auto pairs = at(plan.head_columns / 2);
  std::vector<std::byte> bytes;
  for (std::int32_t r = rows.first; r < rows.first + rows.count; ++r) {
    const std::size_t row = at(skipped + r);
    Heading heading;
    heading.row = r;
    if (plan.has_positions) heading.position = static_cast<std::int32_t>(inputs_.positions[row]);
    if (plan.has_tokens) heading.token = static_cast<std::int32_t>(inputs_.tokens[row]);
    append(bytes, &heading, sizeof heading);
    if (stage.kind != StageKind::kHead) {
      std::vector<float> angles(2 * pairs);
      if (plan.has_positions) {
        std::copy_n(rotary_.cosines.begin() + static_cast<std::ptrdiff_t>(row * pairs), pairs,
                    angles.begin());
        std::copy_n(rotary_.sines.begin() + static_cast<std::ptrdiff_t>(row * pairs), pairs,
                    angles.begin() + static_cast<std::ptrdiff_t>(pairs));
      }
      append(bytes, angles.data(), angles.size() * sizeof(float));
    }
    if (stage.kind != StageKind::kEmbedding) {
      const std::size_t columns = at(plan.columns);
      append(bytes, inputs_.given.data() + row * columns, columns * sizeof(float));
    }
  }
  report_.host_bytes += bytes.size();
  run.tiles[at(stage.leader)]->write_whole(stage.named.entry, block, bytes, now(), by);
}

/// Every cache of every layer as a tile holds it: `visit(stage run, served group, sequence, group
/// state, cache in the inputs)`.
template <typename Visit>
void Machine::for_each_cache(const Visit& visit) {
  for (const auto& run : stages_) {
    if (run->stage.kind != StageKind::kLayer) continue;
    for (std::size_t s = 0; s < inputs_.caches.size(); ++s) {
      KvCache::Layer& layer = inputs_.caches[s].layer(run->stage.layer);
      for (const auto& tile : run->tiles) {
        for (std::size_t g = 0; g < tile->map().groups.size(); ++g) {
          const ServedGroup& served = tile->map().groups[g];
          visit(*run, served, s,
                tile->cache(static_cast<std::int32_t>(g), static_cast<std::int64_t>(s)), layer);
        }
      }
    }
  }
}

void Machine::load_caches() {
  const auto n = at(plan.head_columns);
  for_each_cache([&](StageRun& run, const ServedGroup& served, std::size_t sequence,
                     HeldCache& held, const KvCache::Layer& layer) {
    const Group& group = run.stage.groups[at(served.group)];
    const std::int64_t head = run.stage.key_heads.begin + group.key_head;
    // What the run pushes itself comes in its time.
    const std::int64_t pushed = inputs_.positions[plan.is_chunk ? 0 : sequence];
    for (std::int64_t position = served.index; position < pushed - 1; position += group.tiles) {
      const auto entry = at(position / group.tiles);
      const auto from = at(position * plan.key_heads + head);
      std::copy_n(layer.keys.begin() + static_cast<std::ptrdiff_t>(from * n), n,
                  held.keys.begin() + static_cast<std::ptrdiff_t>(entry * n));
      std::copy_n(layer.values.begin() + static_cast<std::ptrdiff_t>(from * n), n,
                  held.values.begin() + static_cast<std::ptrdiff_t>(entry * n));
      held.key_exponents[entry] = layer.key_exponents[from];
      held.value_exponents[entry] = layer.value_exponents[from];
    }
  });
}

void Machine::store_caches() {
  const auto n = at(plan.head_columns);
  for_each_cache([&](StageRun& run, const ServedGroup& served, std::size_t sequence,
                     HeldCache& held, KvCache::Layer& layer) {
    const Group& group = run.stage.groups[at(served.group)];
    const std::int64_t head = run.stage.key_heads.begin + group.key_head;
    for (std::size_t row = 0; row < inputs_.positions.size(); ++row) {
      const std::int64_t position = inputs_.positions[row] - 1;
      const bool other = !plan.is_chunk && row != sequence;
      if (other || position % group.tiles != served.index) continue;
      const auto entry = at(position / group.tiles);
      const auto to = at(position * plan.key_heads + head);
      std::copy_n(held.keys.begin() + static_cast<std::ptrdiff_t>(entry * n), n,
                  layer.keys.begin() + static_cast<std::ptrdiff_t>(to * n));
      std::copy_n(held.values.begin() + static_cast<std::ptrdiff_t>(entry * n), n,
                  layer.values.begin() + static_cast<std::ptrdiff_t>(to * n));
      layer.key_exponents[to] = held.key_exponents[entry];
      layer.value_exponents[to] = held.value_exponents[entry];
    }
  });
}

}  // namespace logos::spatial
