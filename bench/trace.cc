#include "bench/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "program/printable.h"
#include "sim/timeline_parts.h"

namespace logos::bench {
namespace {

constexpr std::size_t kNameBytes = 96;  ///< of a slice: what a viewer shows of a line

/// A JSON string.
std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Whole nanoseconds; a time that is none is 0.
std::int64_t whole_ns(double ns) {
  constexpr double kMost = 9e15;  // exact in the binary64 of a viewer
  return std::isfinite(ns) ? std::llround(std::clamp(ns, 0.0, kMost)) : 0;
}

/// In the format's microseconds.
std::string micros(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// The events of one process: a lane's run of a cut.
class Process {
 public:
  Process(int id, std::string_view program_text, std::string& events) : id_(id), events_(events) {
    while (!program_text.empty()) {
      const std::size_t end = std::min(program_text.find('\n'), program_text.size());
      lines_.push_back(program_text.substr(0, end));
      program_text.remove_prefix(std::min(end + 1, program_text.size()));
    }
  }

  void name(std::string_view text, std::string_view labels) {
    event(R"("ph":"M","name":"process_name","args":{{"name":{}}})", json_string(text));
    event(R"("ph":"M","name":"process_sort_index","args":{{"sort_index":{}}})", id_);
    event(R"("ph":"M","name":"process_labels","args":{{"labels":{}}})", json_string(labels));
  }

  void add(Timeline timeline) {
    for (Slice& slice : timeline.slices) {
      slice.begin_ns = static_cast<double>(whole_ns(slice.begin_ns));
      slice.end_ns = static_cast<double>(whole_ns(slice.end_ns));
    }
    put_in_order(timeline);  // what begins together only now that it is rounded, too
    for (std::size_t i = 0; i < timeline.tracks.size(); ++i) {
      const Track& track = timeline.tracks[i];
      event(R"("tid":{},"ph":"M","name":"thread_name","args":{{"name":{}}})", i + 1,
            json_string(fmt::format("{}: {}", track.group, track.name)));
      event(R"("tid":{},"ph":"M","name":"thread_sort_index","args":{{"sort_index":{}}})", i + 1,
            i + 1);
    }
    add_slices(timeline.slices);
    for (const Counter& counter : timeline.counters) {
      const Track& track = timeline.tracks[static_cast<std::size_t>(counter.track)];
      add(counter, fmt::format("{} {}: {}", track.group, track.name, counter.name));
    }
  }

 private:
  template <typename... Arguments>
  void event(fmt::format_string<const Arguments&...> form, const Arguments&... arguments) {
    if (!events_.empty()) events_ += ",\n";
    fmt::format_to(std::back_inserter(events_), "{{\"pid\":{},", id_);
    fmt::format_to(std::back_inserter(events_), form, arguments...);
    events_ += '}';
  }

  /// Ends no slice after the one that it began in: rounding and faults of a lane stay inside.
  void add_slices(const std::vector<Slice>& slices) {
    std::vector<std::int64_t> open;  // ends of the slices around this one
    std::int32_t track = -1;
    for (const Slice& slice : slices) {
      if (slice.track != track) open.clear();
      track = slice.track;
      const auto begin = static_cast<std::int64_t>(slice.begin_ns);
      std::int64_t end = std::max(begin, static_cast<std::int64_t>(slice.end_ns));
      while (!open.empty() && open.back() <= begin) open.pop_back();
      if (!open.empty()) end = std::min(end, open.back());
      open.push_back(end);
      event(
          R"("tid":{},"ph":"X","ts":{},"dur":{},"cat":"{}","name":{},"args":{{"line":{},"layer":{}}})",
          track + 1, micros(begin), micros(end - begin), slice.line > 0 ? "line" : "other",
          json_string(name_of(slice)), slice.line, slice.layer);
    }
  }

  std::string name_of(const Slice& slice) const {
    const auto at = static_cast<std::size_t>(slice.line) - 1;
    if (slice.line <= 0) return escaped(slice.name);
    if (at >= lines_.size()) return fmt::format("line {}", slice.line);
    std::string_view text = lines_[at];
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return shortened(escaped(fmt::format("{} {}", slice.line, text)), kNameBytes);
  }

  void add(const Counter& counter, const std::string& name) {
    for (const Sample& sample : counter.samples) {
      if (!std::isfinite(sample.value)) continue;
      event(R"("ph":"C","ts":{},"name":{},"args":{{{}:{}}})", micros(whole_ns(sample.ns)),
            json_string(name), json_string(counter.unit), nlohmann::json(sample.value).dump());
    }
  }

  int id_;
  std::string& events_;
  std::vector<std::string_view> lines_;
};

}  // namespace

std::string trace_json(const Report& report) {
  std::string events;
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const CutOutcome& cut : report.cuts) {
    for (const LaneOutcome& lane : cut.lanes) {
      if (!lane.result || !lane.result->timeline) continue;
      const Timeline& timeline = *lane.result->timeline;
      const Timing& timing = lane.result->timing;
      Process process(static_cast<int>(runs.size()) + 1, cut.plan.text, events);
      const std::string note = time_note(timing.time_class, timing.remark);
      process.name(fmt::format("{} on {}", cut.plan.cut.text(), lane.lane),
                   timeline.sampling.empty()
                       ? note
                       : fmt::format("{}; sampled: {}", note, timeline.sampling));
      process.add(timeline);
      runs.push_back({{"cut", cut.plan.cut.text()},
                      {"lane", lane.lane},
                      {"time", note},
                      {"sampling", timeline.sampling}});
    }
  }
  const nlohmann::ordered_json about = {{"version", report.build.version},
                                        {"model", report.model},
                                        {"weights_sha256", report.weights_sha256},
                                        {"runs", runs}};
  return fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\n\"traceEvents\":[\n{}\n]}}\n",
                     about.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
                     events);
}

}  // namespace logos::bench
