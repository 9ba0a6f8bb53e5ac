#include "spatial/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/timeline_parts.h"
#include "spatial/bound.h"
#include "spatial/map.h"

namespace logos::spatial {
namespace {

constexpr std::size_t kLinks = 32;  ///< of a chip that have a track: the busiest

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool waits(Opcode opcode) {
  return opcode == Opcode::kWaitEntry || opcode == Opcode::kWait || opcode == Opcode::kWaitCache ||
         opcode == Opcode::kWaitCredit;
}

class Builder {
 public:
  Builder(const Plan& plan, const ChipConfig& config, const RunReport& report, Timeline& timeline)
      : plan_(plan), config_(config), report_(report), timeline_(timeline) {}

  void add_tiles() {
    for (const SequencerTrace& trace : report_.traces) {
      const Stage& stage = plan_.stages[at(trace.stage)];
      std::string name = fmt::format("tile {},{} {}", stage.x + trace.tile % stage.width,
                                     stage.y + trace.tile / stage.width, name_of(plan_, stage));
      if (trace.slot > 0) name += fmt::format(" slot {}", trace.slot + 1);
      const std::int32_t track = add_track(fmt::format("chip {} tiles", stage.chip), name);
      for (const StepRecord& record : trace.records) add_step(track, stage, record);
    }
  }

  void add_links() {
    for (std::size_t chip = 0; chip < report_.links.size(); ++chip) {
      std::vector<std::size_t> order = busiest(report_.links[chip]);
      if (order.empty()) continue;
      const std::string group = fmt::format("chip {} links", chip);
      add_counter(add_track(group, fmt::format("{} that carry", order.size())), [&](std::size_t i) {
        std::uint64_t flits = 0;
        for (const std::size_t link : order) flits += report_.link_time.flits[i][chip][link];
        return static_cast<double>(flits) / static_cast<double>(order.size());
      });
      if (order.size() > kLinks) {
        only_some_links_ = true;
        order.resize(kLinks);
      }
      for (const std::size_t link : order) {
        add_counter(add_track(group, name_of_link(report_.links[chip][link])), [&](std::size_t i) {
          return static_cast<double>(report_.link_time.flits[i][chip][link]);
        });
      }
    }
    for (std::size_t link = 0; link < report_.chip_links.size(); ++link) {
      const ChipLinkLoad& load = report_.chip_links[link];
      if (load.bytes == 0) continue;
      const std::string name = fmt::format("chip {} to {}", load.from, load.to);
      add_counter(add_track("links between chips", name), [&](std::size_t i) {
        return static_cast<double>(report_.link_time.chip_link_cycles[i][link]);
      });
    }
    if (only_some_links_) {
      timeline_.sampling = fmt::format("of each chip's links the {} busiest", kLinks);
    }
  }

 private:
  double ns(Cycles cycles) const { return static_cast<double>(cycles) / config_.clock_hz * 1e9; }

  std::int32_t add_track(const std::string& group, const std::string& name) {
    timeline_.tracks.push_back({group, name});
    return static_cast<std::int32_t>(timeline_.tracks.size()) - 1;
  }

  /// Steps of one line that follow one another are one slice, in which what waits is one of its
  /// own.
  void add_step(std::int32_t track, const Stage& stage, const StepRecord& record) {
    if (record.end == record.start) return;
    const std::int32_t line = line_of_step(plan_, stage, record.step);
    const double begin = ns(record.start);
    const double end = ns(record.end);
    auto& slices = timeline_.slices;
    Slice* last = slices.size() > last_ ? &slices[last_] : nullptr;
    if (last != nullptr && last->track == track && last->line == line && last->end_ns == begin) {
      last->end_ns = end;
    } else {
      last_ = slices.size();
      slices.push_back({track, line, stage.layer, begin, end, line > 0 ? "" : "step of no line"});
    }
    if (waits(stage.steps[at(record.step)].opcode)) {
      slices.push_back({track, 0, 0, begin, end, "wait"});
    }
  }

  /// Links that carried something, the busiest first.
  static std::vector<std::size_t> busiest(const std::vector<LinkLoad>& links) {
    std::vector<std::size_t> order;
    for (std::size_t link = 0; link < links.size(); ++link) {
      if (links[link].flits > 0) order.push_back(link);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return links[a].flits > links[b].flits; });
    return order;
  }

  std::string name_of_link(const LinkLoad& link) const {
    const std::int32_t width = config_.mesh.width;
    const std::string from = fmt::format("{},{}", link.from % width, link.from / width);
    if (link.from == link.to) return fmt::format("into tile {}", from);
    return fmt::format("{} to {},{}", from, link.to % width, link.to / width);
  }

  /// Busy cycles of each sample as a fraction of it; a last stretch that the run did not fill
  /// counts as far as the run went.
  template <typename BusyCycles>
  void add_counter(std::int32_t track, const BusyCycles& busy) {
    Counter counter{track, "busy", "fraction", {}};
    const Cycles stretch = report_.link_time.stretch;
    for (std::size_t i = 0; i < report_.link_time.flits.size(); ++i) {
      const Cycles begin = i * stretch;
      if (begin >= report_.cycles) break;
      const auto cycles = static_cast<double>(std::min(stretch, report_.cycles - begin));
      const double value = std::min(busy(i) / cycles, 1.0);
      if (counter.samples.empty() || counter.samples.back().value != value) {
        counter.samples.push_back({ns(begin), value});
      }
    }
    if (counter.samples.empty()) counter.samples.push_back({0, 0});
    timeline_.counters.push_back(std::move(counter));
  }

  const Plan& plan_;
  const ChipConfig& config_;
  const RunReport& report_;
  Timeline& timeline_;
  std::size_t last_ = 0;  ///< the last slice of a line
  bool only_some_links_ = false;
};

std::vector<LineUse> lines_of(const Plan& plan, double clock_hz,
                              std::span<const std::int64_t> positions, const RunReport& report,
                              const CriticalPath& path) {
  LineUses uses;
  for (const auto& [line, cycles] : path.by_line) {
    uses.of(line).seconds += static_cast<double>(cycles) / clock_hz;
  }
  for (const auto& [line, work] : work_by_line(plan, positions)) {
    uses.of(line).bytes += work.bytes;
    uses.of(line).macs += work.macs;
  }
  return uses.of_run(static_cast<double>(report.cycles) / clock_hz);
}

}  // namespace

Timeline timeline_of(const Plan& plan, const ChipConfig& config,
                     std::span<const std::int64_t> positions, const RunReport& report,
                     const CriticalPath& path) {
  Timeline timeline;
  std::set<std::int32_t> chips;
  for (const Stage& stage : plan.stages) chips.insert(stage.chip);
  const double tiles_hz =
      static_cast<double>(chips.size()) * config.mesh.width * config.mesh.height * config.clock_hz;
  timeline.memory = "sram";
  timeline.bytes_per_second = tiles_hz * static_cast<double>(config.sram_bytes_per_cycle);
  timeline.macs_per_second = tiles_hz * static_cast<double>(config.mac_rows * config.mac_columns);
  Builder builder(plan, config, report, timeline);
  builder.add_tiles();
  builder.add_links();
  timeline.lines = lines_of(plan, config.clock_hz, positions, report, path);
  put_in_order(timeline);
  thin(timeline, kMostSlices, kMostSamples);
  return timeline;
}

}  // namespace logos::spatial
