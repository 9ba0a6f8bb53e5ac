#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "program/check.h"
#include "spatial/plan/plan_bytes.h"
#include "spatial/plan/print.h"

namespace logos::spatial {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Opcode::kDone) + 1> kOpcodes = {
    "wait_entry",   "forward",     "wait",        "release",     "wait_cache",      "wait_credit",
    "embed",        "keep_own",    "norm",        "quantize",    "quantize_hidden", "project",
    "product",      "heads",       "scores",      "weigh",       "finish",          "scale",
    "add_own",      "send_middle", "silu",        "peak",        "exchange_peak",   "send_peak",
    "send_addends", "send_totals", "take_totals", "send_joined", "send_next",       "show",
    "done"};
static_assert(kOpcodes.back() == "done");

class TilePrinter {
 public:
  TilePrinter(const Plan& plan, const Stage& stage, std::int32_t tile)
      : plan_(plan), stage_(stage), tile_(tile) {}

  std::string print() const {
    std::string text = fmt::format(
        "{}, tile {} of {} at ({}, {}) of chip {}{}, schedule {:.12}\n", title_of(plan_, stage_),
        tile_, stage_.tiles, stage_.x + tile_ % stage_.width, stage_.y + tile_ / stage_.width,
        stage_.chip, tile_ == stage_.leader ? ", the leader" : "", schedule_sha256(stage_));
    text += held();
    text += served();
    for (const Area& area : stage_.areas) {
      if (area.leader_only && tile_ != stage_.leader) continue;
      text += fmt::format("  at {:>7}: {}, {} bytes", area.offset, area.name, area.bytes);
      if (area.slots > 1) text += fmt::format(", {} times every {}", area.slots, area.stride);
      text += '\n';
    }
    int number = 0;
    for (const Step& step : stage_.steps) text += fmt::format("  {:>3} {}\n", ++number, line(step));
    return text;
  }

 private:
  Share share(int partition) const {
    return stage_.partitions[static_cast<std::size_t>(partition)].of(tile_);
  }
  std::string range(const Share& share) const {
    return share.size() == 0 ? "none" : fmt::format("{} to {}", share.begin, share.end - 1);
  }
  const std::string& tensor(int matrix) const {
    return stage_.matrices[static_cast<std::size_t>(matrix)].tensor;
  }

  /// Rows of the matrices that steps multiply by, each matrix once.
  std::string held() const {
    std::string text;
    std::set<int> told;
    for (const Step& step : stage_.steps) {
      if (step.opcode == Opcode::kScale || step.opcode == Opcode::kProject) continue;
      for (const int matrix : step.matrices) {
        if (!told.insert(matrix).second) continue;
        text += fmt::format("  holds rows {} of {}{}\n", range(share(step.partition)),
                            tensor(matrix), columns(matrix));
      }
    }
    return text;
  }
  std::string columns(int matrix) const {
    const StageMatrix& held = stage_.matrices[static_cast<std::size_t>(matrix)];
    if (held.column_share.size() == held.columns) return "";
    return fmt::format(", columns {}", range(held.column_share));
  }

  /// Of each key head's vectors: the rows that are made here, and what is gathered here.
  std::string served() const {
    std::string text;
    std::int64_t first = 0;
    for (const Group& group : stage_.groups) {
      const auto vectors = static_cast<std::int64_t>(group.vectors.size());
      if (tile_ >= group.first_tile && tile_ < group.first_tile + group.tiles) {
        text += fmt::format("  serves key head {} with {} tiles",
                            stage_.key_heads.begin + group.key_head, group.tiles);
        for (std::int64_t v = 0; v < vectors; ++v) {
          text +=
              vector(group.vectors[static_cast<std::size_t>(v)], first + v * plan_.head_columns);
        }
        text += '\n';
      }
      first += vectors * plan_.head_columns;
    }
    return text;
  }
  std::string vector(const HeadVector& vector, std::int64_t first) const {
    const Share own = share(stage_.projection);
    const std::int64_t begin = std::max(own.begin, first);
    const std::int64_t end = std::min(own.end, first + plan_.head_columns);
    if (begin >= end && vector.owner != tile_) return "";
    const bool query = vector.kind == VectorKind::kQuery;
    const char letter = query ? 'q' : vector.kind == VectorKind::kKey ? 'k' : 'v';
    const Share& heads = query ? stage_.query_heads : stage_.key_heads;
    std::string text = fmt::format("; {}{}", letter, heads.begin + vector.head);
    if (begin < end) text += fmt::format(" rows {}", range({begin - first, end - first}));
    if (vector.owner == tile_) text += " (owner)";
    return text;
  }

  std::string line(const Step& step) const {
    std::string text(name_of(step.opcode));
    if (step.second) text += " second";
    if (step.buffer >= 0) text += buffer(step);
    for (const int matrix : step.matrices) text += fmt::format(" {}", tensor(matrix));
    if (step.vector >= 0) {
      text += fmt::format(" {}", stage_.vectors[static_cast<std::size_t>(step.vector)].tensor);
    }
    if (step.partition >= 0) text += fmt::format(" [{}]", range(share(step.partition)));
    if (step.last_column > 0) {
      text += fmt::format(" columns {} to {}", step.first_column, step.last_column - 1);
    }
    if (step.operation >= 0) {
      text += fmt::format("  line {}", plan_.lines[static_cast<std::size_t>(step.operation)]);
    }
    return text;
  }

  std::string buffer(const Step& step) const {
    const Buffer& buffer = stage_.buffers[static_cast<std::size_t>(step.buffer)];
    const Area& area = stage_.areas[static_cast<std::size_t>(buffer.area)];
    std::string text = fmt::format(" {}", area.name);
    if (step.opcode != Opcode::kWait) return text;
    const auto chunk = static_cast<std::size_t>(step.chunk);
    if (buffer.expected.size() > 1) text += fmt::format(" chunk {}", step.chunk);
    return text +
           fmt::format(": {} bytes a row", buffer.expected[chunk][static_cast<std::size_t>(tile_)]);
  }
  const Plan& plan_;
  const Stage& stage_;
  std::int32_t tile_;
};

}  // namespace

std::string_view name_of(Opcode opcode) { return kOpcodes[static_cast<std::size_t>(opcode)]; }

std::string print_schedule(const Plan& plan, const Stage& stage, std::int32_t tile) {
  CHECK(tile >= 0 && tile < stage.tiles);
  return TilePrinter(plan, stage, tile).print();
}

}  // namespace logos::spatial
