#include "sim/reference/timeline.h"

#include "program/check.h"
#include "sim/reference/traffic.h"
#include "sim/timeline_parts.h"

namespace logos::reference {
namespace {

constexpr double kNs = 1e9;

/// Operations nested in a line follow one another: one slice.
void add_slice(const Operation& operation, const Span& span, std::vector<Slice>& slices) {
  const auto layer = static_cast<std::int32_t>(operation.layer);
  if (!slices.empty() && slices.back().line == operation.line && slices.back().layer == layer) {
    slices.back().end_ns = span.end * kNs;
    return;
  }
  slices.push_back({0, operation.line, layer, span.begin * kNs, span.end * kNs});
}

}  // namespace

Timeline timeline_of(std::span<const Program> programs, const Inputs& inputs,
                     std::span<const Span> spans, double run_seconds) {
  const std::vector<Operation>& operations = programs.front().operations;
  CHECK(spans.size() == operations.size());
  Timeline timeline;
  timeline.tracks = {{"host", "operations"}};
  timeline.memory = "ram";
  LineUses uses;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    add_slice(operations[i], spans[i], timeline.slices);
    LineUse& use = uses.of(operations[i].line);
    use.seconds += spans[i].end - spans[i].begin;
    for (const Program& program : programs) {
      const Traffic traffic = traffic_of(program, program.operations[i], inputs);
      use.bytes += traffic.bytes;
      use.macs += traffic.macs;
    }
  }
  timeline.lines = uses.of_run(run_seconds);
  thin(timeline, kMostSlices, kMostSamples);
  return timeline;
}

}  // namespace logos::reference
