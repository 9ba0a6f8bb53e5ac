#include "bench/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "program/error.h"
#include "sim/artifact.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

/// One name for each lane, cut and number of chips, so that a folder holds one artifact of each and
/// another model's is refused, not passed by.
fs::path artifact_file(const fs::path& dir, std::string_view lane, const Cut& cut,
                       std::int64_t chips) {
  std::string name = cut.text();
  for (char& c : name) {
    if (c == ':' || c == '@') c = c == ':' ? '_' : '.';
  }
  return dir / fmt::format("{}.{}.{}{}", lane, name, chips, kArtifactExtension);
}

}  // namespace

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Runner::Runner(const LaneEntry& lane, const Model& model, std::int64_t chips, RunOptions options,
               std::optional<fs::path> artifacts)
    : lane_(lane),
      model_(model),
      chips_(chips),
      options_(options),
      artifacts_(std::move(artifacts)) {}

Runner::Lowered& Runner::entry(const Cut& cut) {
  const auto [at, added] = lowered_.try_emplace(cut.text());
  if (added) at->second.written = written_split(model_.spec, cut, chips_);
  return at->second;
}

const Written& Runner::written(const Cut& cut) { return entry(cut).written; }

Artifact Runner::lowered(const Cut& cut, const Written& written) const {
  if (!artifacts_) {
    return lane_.lane->lower(written.text, written.identity, *model_.weights, lane_.config);
  }
  const fs::path file = artifact_file(*artifacts_, lane_.name, cut, chips_);
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    Artifact kept = load_artifact(file);
    try {
      check_artifact(kept, lane_.lane->name(), written.identity, model_.weights->sha256(),
                     lane_.config.sha256());
    } catch (const Error& error) {
      throw Error(file.string(), error.what());
    }
    return kept;
  }
  Artifact fresh = lane_.lane->lower(written.text, written.identity, *model_.weights, lane_.config);
  save(fresh, file);
  return fresh;
}

void Runner::lower(const Cut& cut, const std::string* text) {
  Lowered& lowered_cut = entry(cut);
  if (lowered_cut.artifact) return;
  if (text != nullptr) lowered_cut.written.text = *text;
  const double start = wall_seconds();
  lowered_cut.artifact = lowered(cut, lowered_cut.written);
  lowered_cut.seconds = wall_seconds() - start;
}

Ran Runner::run(const Cut& cut, Inputs& inputs, Observer* observer, bool timeline) {
  lower(cut);
  const Lowered& lowered_cut = entry(cut);
  RunOptions options = options_;
  options.observer = observer;
  options.timeline = timeline;
  const double wall = wall_seconds();
  const double cpu = cpu_seconds();
  Result result = lane_.lane->run(*lowered_cut.artifact, lowered_cut.written.identity,
                                  *model_.weights, lane_.config, inputs, options);
  Ran ran{std::move(result)};
  ran.simulation_seconds = cpu_seconds() - cpu;
  ran.host_seconds = lowered_cut.seconds + wall_seconds() - wall;
  const auto& cycles = ran.result.timing.cycles;
  if (options_.cycle_limit && cycles && *cycles > *options_.cycle_limit) {
    throw Error(fmt::format("{} on {}", cut.text(), lane_.name), "cycle limit reached",
                fmt::format("{} cycles", *cycles),
                fmt::format("at most {}", *options_.cycle_limit));
  }
  return ran;
}

}  // namespace logos::bench
