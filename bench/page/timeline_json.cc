#include "bench/page/timeline_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBins = 240;  // a phone's width has that many points, a chart four times more
constexpr std::string_view kWait = "wait";  // the name of a slice in which nothing is done
constexpr std::size_t kMostTracks = 24;     // of a group
constexpr std::size_t kMostGroups = 8;      // that are drawn
constexpr std::size_t kMostCounters = 24;   // of a name

double end_of(const Timeline& timeline) {
  double end = 0;
  for (const Slice& slice : timeline.slices) end = std::max(end, slice.end_ns);
  for (const Counter& counter : timeline.counters) {
    if (!counter.samples.empty()) end = std::max(end, counter.samples.back().ns);
  }
  return end;
}

/// Three digits are more than a screen shows.
double rounded(double value) { return std::round(value * 1000) / 1000; }

/// Calls `add(bin, share)` for each of the equal stretches of [0, end) that [begin, stop) covers,
/// with the share of the stretch that it covers.
template <typename Add>
void spread(double begin, double stop, double end, Add add) {
  const double bins = static_cast<double>(kBins);
  const double from = std::clamp(begin / end * bins, 0.0, bins);
  const double to = std::clamp(stop / end * bins, 0.0, bins);
  for (auto bin = static_cast<std::size_t>(from); bin < kBins; ++bin) {
    const auto left = static_cast<double>(bin);
    if (left >= to) return;
    const double share = std::min(to, left + 1) - std::max(from, left);
    if (share > 0) add(bin, share);
  }
}

/// How busy a track is over time, and with which line.
struct Strip {
  std::vector<double> busy = std::vector<double>(kBins, 0.0);
  std::vector<std::map<std::int32_t, double>> lines =
      std::vector<std::map<std::int32_t, double>>(kBins);
  double total = 0;
};

/// Slices nest: at each moment the innermost one counts. `slices` are of one track, by begin, the
/// longer first.
Strip strip_of(const std::vector<const Slice*>& slices, double end) {
  Strip strip;
  std::vector<const Slice*> open;
  double at = 0;
  const auto advance = [&](double to) {  // what is innermost holds until `to`
    if (!open.empty() && to > at && open.back()->name != kWait) {
      spread(at, to, end, [&](std::size_t bin, double share) {
        strip.busy[bin] += share;
        strip.lines[bin][open.back()->line] += share;
      });
      strip.total += to - at;
    }
    at = std::max(at, to);
  };
  for (const Slice* slice : slices) {
    while (!open.empty() && open.back()->end_ns <= slice->begin_ns) {
      advance(open.back()->end_ns);
      open.pop_back();
    }
    advance(slice->begin_ns);
    open.push_back(slice);
  }
  while (!open.empty()) {
    advance(open.back()->end_ns);
    open.pop_back();
  }
  return strip;
}

Json strip_json(const Track& track, const Strip& strip) {
  Json busy = Json::array();
  Json lines = Json::array();
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    busy.push_back(rounded(std::min(1.0, strip.busy[bin])));
    const auto most =
        std::max_element(strip.lines[bin].begin(), strip.lines[bin].end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    lines.push_back(most == strip.lines[bin].end() ? 0 : most->first);
  }
  return {{"group", track.group}, {"name", track.name}, {"busy", busy}, {"line", lines}};
}

/// kMostTracks of a group, in their order. One half are the busiest of each stretch of the run, so
/// that what works for a short time has its place, too; the other half are the busiest of those
/// left.
std::vector<std::size_t> busiest(std::vector<std::size_t> left, const std::vector<Strip>& strips) {
  constexpr std::size_t kStretches = kMostTracks / 2;
  std::vector<std::size_t> chosen;
  const auto choose = [&](const auto& work) {
    const auto most = std::max_element(
        left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return work(a) < work(b); });
    if (most == left.end() || work(*most) <= 0) return;
    chosen.push_back(*most);
    left.erase(most);
  };
  for (std::size_t stretch = 0; stretch < kStretches; ++stretch) {
    choose([&](std::size_t track) {
      const auto begin = strips[track].busy.begin();
      const auto bin = [&](std::size_t of) {
        return static_cast<std::ptrdiff_t>(of * kBins / kStretches);
      };
      return std::accumulate(begin + bin(stretch), begin + bin(stretch + 1), 0.0);
    });
  }
  while (chosen.size() < kMostTracks) {
    choose([&](std::size_t track) { return strips[track].total; });
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// The tracks of each group that are drawn, in their order; what is left out is said.
std::vector<std::size_t> chosen_tracks(const Timeline& timeline, const std::vector<Strip>& strips,
                                       std::vector<std::string>& left_out) {
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) {
    if (strips[i].total <= 0) continue;
    const std::string& group = timeline.tracks[i].group;
    if (members[group].empty()) groups.push_back(group);
    members[group].push_back(i);
  }
  std::vector<std::size_t> chosen;
  for (std::size_t g = 0; g < std::min(groups.size(), kMostGroups); ++g) {
    std::vector<std::size_t>& all = members[groups[g]];
    if (all.size() > kMostTracks) {
      left_out.push_back(
          fmt::format("{}: the {} busiest of {} tracks", groups[g], kMostTracks, all.size()));
      all = busiest(all, strips);
    }
    chosen.insert(chosen.end(), all.begin(), all.end());
  }
  if (groups.size() > kMostGroups) {
    left_out.push_back(fmt::format("{} of {} groups of tracks", kMostGroups, groups.size()));
  }
  return chosen;
}

Json tracks_json(const Timeline& timeline, double end, std::vector<std::string>& left_out) {
  Json tracks = Json::array();
  if (!(end > 0)) return tracks;
  std::vector<std::vector<const Slice*>> slices(timeline.tracks.size());
  for (const Slice& slice : timeline.slices) {
    const auto track = static_cast<std::size_t>(slice.track);
    if (track >= slices.size()) continue;
    slices[track].push_back(&slice);
  }
  std::vector<Strip> strips;
  strips.reserve(slices.size());
  for (const auto& of_track : slices) strips.push_back(strip_of(of_track, end));
  for (const std::size_t i : chosen_tracks(timeline, strips, left_out)) {
    tracks.push_back(strip_json(timeline.tracks[i], strips[i]));
  }
  return tracks;
}

/// Means over the equal stretches: what the area under the curve is stays.
Json means(const Counter& counter, double end) {
  std::vector<double> sums(kBins, 0.0);
  for (std::size_t i = 0; i < counter.samples.size(); ++i) {
    const Sample& sample = counter.samples[i];
    const double until = i + 1 < counter.samples.size() ? counter.samples[i + 1].ns : end;
    spread(sample.ns, until, end,
           [&](std::size_t bin, double share) { sums[bin] += share * sample.value; });
  }
  Json samples = Json::array();
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double ns = end * static_cast<double>(bin) / static_cast<double>(kBins);
    samples.push_back({rounded(ns), rounded(sums[bin])});
  }
  return samples;
}

Json counters_json(const Timeline& timeline, double end, std::vector<std::string>& left_out) {
  Json counters = Json::array();
  std::map<std::string, std::size_t> kept;
  std::size_t dropped = 0;
  std::size_t longest = 0;
  for (const Counter& counter : timeline.counters) {
    if (++kept[counter.name] > kMostCounters) {
      ++dropped;
      continue;
    }
    Json samples = Json::array();
    if (counter.samples.size() > kBins && end > 0) {
      longest = std::max(longest, counter.samples.size());
      samples = means(counter, end);
    } else {
      for (const Sample& sample : counter.samples) samples.push_back({sample.ns, sample.value});
    }
    Track track;
    const auto index = static_cast<std::size_t>(counter.track);
    if (index < timeline.tracks.size()) track = timeline.tracks[index];
    counters.push_back({{"group", track.group},
                        {"track", track.name},
                        {"name", counter.name},
                        {"unit", counter.unit},
                        {"samples", samples}});
  }
  if (longest > 0) {
    left_out.push_back(
        fmt::format("counters of up to {} samples as means over {} stretches", longest, kBins));
  }
  if (dropped > 0) left_out.push_back(fmt::format("{} more counters", dropped));
  return counters;
}

}  // namespace

nlohmann::ordered_json timeline_json(const Timeline& timeline) {
  const double end = end_of(timeline);
  std::vector<std::string> left_out;
  const Json tracks = tracks_json(timeline, end, left_out);
  const Json counters = counters_json(timeline, end, left_out);
  Json lines = Json::array();
  for (const LineUse& use : timeline.lines) {
    lines.push_back(
        {{"line", use.line}, {"seconds", use.seconds}, {"bytes", use.bytes}, {"macs", use.macs}});
  }
  return {{"end_ns", end},
          {"bins", kBins},
          {"tracks", tracks},
          {"counters", counters},
          {"lines", lines},
          {"memory", timeline.memory},
          {"bytes_per_second", timeline.bytes_per_second},
          {"macs_per_second", timeline.macs_per_second},
          {"sampling", timeline.sampling},
          {"decimation", fmt::format("{}", fmt::join(left_out, "; "))}};
}

}  // namespace logos::bench
