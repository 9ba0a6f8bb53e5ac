#include "cuda/timeline.h"

#include <fmt/format.h>

#include "program/check.h"
#include "sim/timeline_parts.h"

namespace logos::cuda {
namespace {

constexpr double kNs = 1e9;

/// `part` of `whole` units that are divided as `weight` is of `weights`, by running sums.
std::uint64_t part_of(std::uint64_t whole, double before, double now) {
  const auto at = [whole](double share) {
    return share >= 1 ? whole : static_cast<std::uint64_t>(static_cast<double>(whole) * share);
  };
  return at(now) - at(before);
}

class Builder {
 public:
  Builder(const Plan& plan, Timeline& timeline) : plan_(plan), timeline_(timeline) {
    for (std::int64_t chip = 0; chip < plan.chips; ++chip) {
      const std::string group = fmt::format("chip {}", chip);
      timeline.counters.push_back(
          {static_cast<std::int32_t>(timeline.tracks.size()), "memory", "GB/s", {{0, 0}}});
      timeline.tracks.push_back({group, "kernels"});
      timeline.tracks.push_back({group, "lines"});
    }
  }

  /// A launch that takes `kernel` seconds from `begin` on, then `gap`.
  void add(const LaunchRecord& record, const LaunchOrigin& origin, double begin, double kernel,
           double gap) {
    const std::int32_t track = 2 * origin.chip;
    const double end_ns = (begin + kernel) * kNs;
    timeline_.slices.push_back({track, 0, 0, begin * kNs, end_ns, std::string(record.kernel)});
    if (kernel > 0) {
      auto& samples = timeline_.counters[static_cast<std::size_t>(origin.chip)].samples;
      samples.push_back({begin * kNs, static_cast<double>(origin.bytes) / kernel * 1e-9});
      samples.push_back({end_ns, 0});
    }
    const Group& group = plan_.groups[static_cast<std::size_t>(origin.group)];
    double weights = 0;
    for (const TimeShare& share : group.shares) weights += static_cast<double>(share.weight);
    double sum = 0;
    for (const TimeShare& share : group.shares) {
      const double before = sum / weights;
      sum += static_cast<double>(share.weight);
      add_line(share, origin, {begin, kernel, gap}, before, sum / weights);
    }
  }

  LineUses uses;

 private:
  struct Stretch {
    double begin, kernel, gap;
  };

  /// The part from `before` to `now` (fractions) of a launch.
  void add_line(const TimeShare& share, const LaunchOrigin& origin, const Stretch& launch,
                double before, double now) {
    const PlanOperation& operation = plan_.operations[static_cast<std::size_t>(share.operation)];
    const double begin_ns = (launch.begin + before * launch.kernel) * kNs;
    const double end_ns = (launch.begin + now * launch.kernel) * kNs;
    const auto layer = static_cast<std::int32_t>(operation.layer);
    const std::int32_t track = 2 * origin.chip + 1;
    auto& slices = timeline_.slices;
    const Slice* last = before > 0 ? &slices.back() : nullptr;  // of this launch
    if (last != nullptr && last->line == operation.line && last->layer == layer) {
      slices.back().end_ns = end_ns;
    } else {
      slices.push_back({track, operation.line, layer, begin_ns, end_ns});
    }
    LineUse& use = uses.of(operation.line);
    use.seconds += (now - before) * (launch.kernel + launch.gap);
    use.bytes += part_of(origin.bytes, before, now);
    use.macs += part_of(origin.macs, before, now);
  }

  const Plan& plan_;
  Timeline& timeline_;
};

}  // namespace

Timeline timeline_of(const Plan& plan, std::span<const LaunchRecord> records,
                     std::span<const LaunchOrigin> origins, const GpuConfig& gpu,
                     const Timing& timing) {
  CHECK(records.size() == origins.size());
  Timeline timeline;
  timeline.memory = "hbm";
  timeline.bytes_per_second = gpu.hbm_gb_per_s * 1e9;
  timeline.macs_per_second = peak_macs_per_second(gpu);
  double modelled = 0;
  for (const LaunchRecord& record : records) {
    const LaunchSeconds seconds = launch_seconds(record, gpu);
    modelled += seconds.kernel + seconds.gap;
  }
  const double scale = modelled > 0 ? timing.seconds / modelled : 0;
  if (timing.time_class == TimeClass::kMeasured) {
    timeline.sampling = "the run was measured as a whole; launches share its time by the model";
  }
  Builder builder(plan, timeline);
  double now = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const LaunchSeconds seconds = launch_seconds(records[i], gpu);
    builder.add(records[i], origins[i], now, seconds.kernel * scale, seconds.gap * scale);
    now += (seconds.kernel + seconds.gap) * scale;
  }
  timeline.lines = builder.uses.of_run(timing.seconds);
  put_in_order(timeline);
  thin(timeline, kMostSlices, kMostSamples);
  return timeline;
}

}  // namespace logos::cuda
