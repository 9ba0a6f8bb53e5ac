#include <cmath>

#include "bench/report.h"
#include "bench/report_map.h"
#include "sim/timing.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <typename T>
Json or_null(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_floating_point_v<T>) {
    return number(*value);
  } else {
    return *value;
  }
}

Json context_json(const Report& report) {
  Json versions = {{"logos_workbench", report.build.version},
                   {"arithmetic", "OFA-1"},
                   {"compiler", report.build.compiler},
                   {"build_type", report.build.build_type}};
  for (const Library& library : libraries()) versions[library.name] = library.version;
  Json configurations = Json::object();
  for (const auto& [lane, digest] : report.configurations) configurations[lane] = digest;
  Json inputs = Json::object();
  for (const auto& [cut, digest] : report.inputs) inputs[cut] = digest;
  Json conditions = Json::object();
  for (const auto& [option, value] : report.conditions) conditions[option] = value;
  return {
      {"versions", versions},
      {"git",
       {{"commit", or_null(report.build.git_commit)}, {"dirty", or_null(report.build.git_dirty)}}},
      {"model", report.model},
      {"weights", report.weights_kind},
      {"weights_sha256", report.weights_sha256},
      {"configurations", configurations},
      {"inputs", inputs},
      {"conditions", conditions},
      {"time_notes", time_notes(report)},
      {"host",
       {{"name", report.host.name},
        {"system", report.host.system},
        {"cpu", report.host.cpu},
        {"threads", report.host.threads}}}};
}

Json divergence_json(const Divergence& divergence) {
  return {{"layer", divergence.layer > 0 ? Json(divergence.layer) : Json(nullptr)},
          {"line", divergence.line},
          {"text", divergence.text},
          {"element", {divergence.row, divergence.column}},
          {"expected", divergence.expected},
          {"got", divergence.got}};
}

Json categories_json(const Timing& timing) {
  if (!timing.cycles_by_category) return nullptr;
  Json object = Json::object();
  for (int i = 0; i < kCategories; ++i) {
    object[std::string(name_of(static_cast<Category>(i)))] =
        (*timing.cycles_by_category)[static_cast<std::size_t>(i)];
  }
  return object;
}

Json bytes_json(const Timing& timing) {
  if (timing.bytes.empty()) return nullptr;
  Json object = Json::object();
  for (const auto& [memory, bytes] : timing.bytes) object[memory] = bytes;
  return object;
}

void add_timing(Json& object, const CutOutcome& cut, const LaneOutcome& lane) {
  const Timing& timing = lane.result->timing;
  const double seconds = lane.seconds();
  object["seconds"] = number(seconds);
  object["time_class"] = name_of(timing.time_class);
  object["cycles"] = or_null(timing.cycles);
  object["clock_hz"] = or_null(timing.clock_hz);
  object["tokens_per_second"] = or_null(tokens_per_second(cut.plan.cut, seconds));
  object["bytes"] = bytes_json(timing);
  object["macs"] = timing.macs;
  object["cycles_by_category"] = categories_json(timing);
  object["bound"] = nullptr;
  if (timing.bound) {
    object["bound"] = {{"name", timing.bound->name}, {"fraction", number(timing.bound->fraction)}};
  }
  if (timing.chip_fraction) object["chip_fraction"] = number(*timing.chip_fraction);
  if (timing.interval) {
    object["interval"] = {{"cycles", timing.interval->cycles},
                          {"rows_to_fill", timing.interval->rows_to_fill}};
  }
  object["host_seconds"] = number(lane.host_seconds);
  object["simulation_seconds"] = number(lane.simulation_seconds);
}

Json error_json(const reference::ErrorOfArithmetic& error) {
  return {{"kl", number(error.kl)},
          {"max_logit_error", number(error.max_logit_error)},
          {"top1", number(error.top1)}};
}

Json lane_json(const CutOutcome& cut, const LaneOutcome& lane, bool with_map) {
  Json object = {{"lane", lane.lane}};
  if (lane.ending == Ending::kRefused) {
    object["refused"] = lane.reason;
    return object;
  }
  if (lane.ending == Ending::kFailed) {
    object["failed"] = lane.reason;
    return object;
  }
  object["agrees"] = lane.agrees;
  object["output_sha256"] = lane.output_sha256;
  object["fault"] = lane.result->fault ? Json(lane.result->fault->line) : Json(false);
  add_timing(object, cut, lane);
  if (lane.error) object["error"] = error_json(*lane.error);
  if (lane.generated) {
    object["generated"] = {{"tokens", lane.generated->tokens},
                           {"text", or_null(lane.generated->text)}};
  }
  if (lane.divergence) object["first_divergence"] = divergence_json(*lane.divergence);
  if (with_map && lane.result->map) object["map"] = map_json(*lane.result->map);
  return object;
}

Json cut_json(const CutOutcome& cut, bool with_map) {
  Json lanes = Json::array();
  for (const LaneOutcome& lane : cut.lanes) {
    if (lane.ending != Ending::kNotRun) lanes.push_back(lane_json(cut, lane, with_map));
  }
  const Identity& identity = cut.plan.identity;
  return {
      {"cut", cut.plan.cut.text()},
      {"identity", {{"cut", identity.cut}, {"chips", identity.chips}, {"sha256", identity.sha256}}},
      {"lanes", lanes}};
}

Json score_json(const Score& score) {
  return {{"positions", score.positions},
          {"logits_sha256", score.logits_sha256},
          {"nll", number(score.nll)},
          {"perplexity", or_null(score.perplexity())}};
}

Json score_lane_json(const ScoreOutcome& lane) {
  Json object = {{"lane", lane.lane}};
  if (lane.ending == Ending::kRefused) {
    object["refused"] = lane.reason;
    return object;
  }
  if (lane.ending == Ending::kFailed) {
    object["failed"] = lane.reason;
    return object;
  }
  object["agrees"] = lane.agrees;
  object["fault"] = lane.fault;
  object["score"] = score_json(lane.total);
  if (lane.error) object["error"] = error_json(*lane.error);
  if (lane.sequences.size() > 1) {
    Json sequences = Json::array();
    for (const Score& sequence : lane.sequences) sequences.push_back(score_json(sequence));
    object["sequences"] = sequences;
  }
  if (lane.divergence) object["first_divergence"] = divergence_json(*lane.divergence);
  return object;
}

}  // namespace

nlohmann::ordered_json report_json(const Report& report) {
  Json object = {{"context", context_json(report)}};
  if (report.is_score) {
    Json lanes = Json::array();
    for (const ScoreOutcome& lane : report.scores) {
      if (lane.ending != Ending::kNotRun) lanes.push_back(score_lane_json(lane));
    }
    object["lanes"] = lanes;
    return object;
  }
  Json cuts = Json::array();
  for (const CutOutcome& cut : report.cuts) {
    Json one = cut_json(cut, report.with_map);
    if (!one["lanes"].empty()) cuts.push_back(std::move(one));
  }
  object["cuts"] = cuts;
  return object;
}

std::string json_text(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace logos::bench
