#include "sim/timeline_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace logos {
namespace {

bool in_order(const Slice& a, const Slice& b) {
  return std::tuple(a.track, a.begin_ns, -a.end_ns) < std::tuple(b.track, b.begin_ns, -b.end_ns);
}

void say(Timeline& timeline, const std::string& what) {
  if (!timeline.sampling.empty()) timeline.sampling += "; ";
  timeline.sampling += what;
}

/// Keeps the longest. Of equally long ones those that come first, so that a parent is not left out
/// before what it holds.
void keep_longest(std::vector<Slice>& slices, std::size_t most) {
  std::vector<std::size_t> order(slices.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return slices[a].end_ns - slices[a].begin_ns > slices[b].end_ns - slices[b].begin_ns;
  });
  order.resize(most);
  std::sort(order.begin(), order.end());
  std::vector<Slice> kept;
  kept.reserve(most);
  for (const std::size_t index : order) kept.push_back(std::move(slices[index]));
  slices = std::move(kept);
}

/// The mean of each of `most` equal stretches between the first sample and the last.
std::vector<Sample> means(const std::vector<Sample>& samples, std::size_t most) {
  const double begin = samples.front().ns;
  const double stretch = (samples.back().ns - begin) / static_cast<double>(most - 1);
  std::vector<Sample> kept;
  std::size_t at = 0;  // the sample that holds at the stretch's begin
  for (std::size_t i = 0; i + 1 < most; ++i) {
    const double from = begin + static_cast<double>(i) * stretch;
    const double to = from + stretch;
    double area = 0;
    double now = from;
    while (at + 1 < samples.size() && samples[at + 1].ns < to) {
      area += samples[at].value * (std::max(samples[at + 1].ns, now) - now);
      now = std::max(samples[at + 1].ns, now);
      ++at;
    }
    area += samples[at].value * (to - now);
    kept.push_back({from, area / stretch});
  }
  kept.push_back(samples.back());
  return kept;
}

}  // namespace

LineUse& LineUses::of(std::int32_t line) {
  LineUse& use = uses_[line];
  use.line = line;
  return use;
}

std::vector<LineUse> LineUses::of_run(double run_seconds) {
  double told = 0;
  for (const auto& [line, use] : uses_) told += line == 0 ? 0 : use.seconds;
  of(0).seconds = std::max(run_seconds - told, 0.0);
  std::vector<LineUse> lines;
  for (const auto& [line, use] : uses_) lines.push_back(use);
  return lines;
}

void put_in_order(Timeline& timeline) {
  std::stable_sort(timeline.slices.begin(), timeline.slices.end(), in_order);
  for (Counter& counter : timeline.counters) {
    auto& samples = counter.samples;
    std::stable_sort(samples.begin(), samples.end(),
                     [](const Sample& a, const Sample& b) { return a.ns < b.ns; });
    std::vector<Sample> last;
    for (const Sample& sample : samples) {
      if (!last.empty() && last.back().ns == sample.ns) last.pop_back();
      last.push_back(sample);
    }
    samples = std::move(last);
  }
}

void thin(Timeline& timeline, std::size_t most_slices, std::size_t most_samples) {
  most_samples = std::max<std::size_t>(most_samples, 2);
  if (timeline.slices.size() > most_slices) {
    say(timeline, fmt::format("of {} slices the {} longest", timeline.slices.size(), most_slices));
    keep_longest(timeline.slices, most_slices);
  }
  bool averaged = false;
  for (Counter& counter : timeline.counters) {
    if (counter.samples.size() <= most_samples) continue;
    averaged = true;
    counter.samples = means(counter.samples, most_samples);
  }
  if (averaged) say(timeline, fmt::format("counters as {} means each", most_samples));
}

}  // namespace logos
