#include "bench/sweep/sweep_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "bench/command_files.h"
#include "bench/history/history.h"
#include "bench/model.h"
#include "bench/page/document.h"
#include "bench/page/html_page.h"
#include "bench/plan.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/runner.h"
#include "bench/session.h"
#include "bench/subcommands.h"
#include "bench/sweep/share.h"
#include "bench/sweep/sweep_options.h"
#include "bench/sweep/sweep_result.h"
#include "program/error.h"
#include "program/identity.h"
#include "program/standard_streams.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kLook = std::chrono::milliseconds(200);  ///< how often others' points are looked at

/// A point with all that its run needs.
struct Point {
  std::string text;
  Options options;
  std::vector<LaneEntry> lanes;
  std::vector<Plan> plans;  ///< one
};

Point plan_point(const SweepOptions& sweep, const PointOptions& of, const Model& model,
                 const LaneTable& table) {
  Point point;
  point.text = point_text(sweep.axes, of.values);
  try {
    point.options = of.options;
    point.lanes = make_lanes(table, of.options);
    point.plans = plan_cuts(of.options, model, std::nullopt, "");
  } catch (const Error& error) {
    throw Error(fmt::format("sweep at {}", point.text), error.what());
  }
  return point;
}

/// What makes two sweeps the same: everything that could change a number of any point. A build of
/// changed sources is known by the program's own bytes.
std::string key_of(const SweepOptions& sweep, const std::vector<Point>& points,
                   const Model& model) {
  const BuildFacts build = build_facts();
  Json key = {{"version", build.version},
              {"commit", build.git_commit.value_or("")},
              {"program", ""},
              {"weights", model.weights->sha256()},
              {"arguments", sweep.rest},
              {"points", Json::array()}};
  if (!build.git_commit || build.git_dirty.value_or(true)) {
    key["program"] = sha256_hex(read_whole_file("/proc/self/exe"));
  }
  for (const Point& point : points) {
    Json lanes = Json::object();
    for (const LaneEntry& lane : point.lanes) lanes[lane.name] = lane.config.sha256();
    const Plan& plan = point.plans.front();
    key["points"].push_back({{"at", point.text},
                             {"program", plan.identity.text()},
                             {"inputs", inputs_sha256(plan)},
                             {"lanes", lanes}});
  }
  return sha256_hex(key.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// A sweep under way in its history.
class Sweep {
 public:
  Sweep(const std::vector<Point>& points, const Model& model, History& history, std::string command,
        std::int64_t number, Share share)
      : points_(points),
        model_(model),
        history_(history),
        command_(std::move(command)),
        number_(number),
        share_(share) {}

  /// Runs what is to be had. The first process then waits for the others' points, and takes those
  /// whose process has gone.
  void run() {
    std::optional<Progress> waiting;
    for (;;) {
      if (const auto point = history_.claim(number_, share_.rank, share_.size)) {
        waiting.reset();
        run_point(*point);
        continue;
      }
      if (share_.rank != 0 || open_points() == 0) break;
      if (!waiting) waiting.emplace();
      waiting->show(fmt::format("{} points are with other processes", open_points()));
      std::this_thread::sleep_for(kLook);
    }
  }

  std::vector<Json> results() const {
    std::vector<Json> results;
    for (const PointState& state : history_.points(number_)) {
      results.push_back(history_.result(state.run.value()));
    }
    return results;
  }

 private:
  std::size_t open_points() const {
    std::size_t open = 0;
    for (const PointState& state : history_.points(number_)) open += state.run ? 0 : 1;
    return open;
  }

  void run_point(std::int64_t number) {
    const Point& point = points_[static_cast<std::size_t>(number)];
    const LaneEntry reference = reference_entry();
    Session session(point.options, model_, point.lanes, reference);
    Report report = start_report(point.options, model_, point.lanes, point.plans);
    const std::int64_t run = history_.begin(command_, report_json(report));
    session.heading = heading(number);
    session.after_task = [&] { history_.keep(run, report_json(report), false); };
    run_cuts(session, point.plans, report.cuts);
    history_.finish(number_, number, run, report_json(report));
    ++done_;
  }

  /// "point 5 of 24, 7 to go (40 s): ", as if all processes went at this one's pace.
  std::string heading(std::int64_t number) const {
    const std::size_t open = open_points();
    std::string text = fmt::format("point {} of {}, {} to go", number + 1, points_.size(), open);
    if (done_ > 0) {
      const double each = (wall_seconds() - start_) / static_cast<double>(done_);
      const auto left = static_cast<double>(open) / static_cast<double>(share_.size);
      text += fmt::format(" ({})", human_seconds(each * left));
    }
    return text + ": ";
  }

  const std::vector<Point>& points_;
  const Model& model_;
  History& history_;
  std::string command_;
  std::int64_t number_;
  Share share_;
  double start_ = wall_seconds();
  std::size_t done_ = 0;  ///< by this process
};

void check_files(const SweepOptions& options, const Share& share) {
  check_standard_output();
  if (options.history.empty() && share.size > 1) {
    throw Error("--history",
                fmt::format("missing: {} processes share the points through it", share.size));
  }
  CommandFiles files;
  files.read_inputs(options.points.front().options);  // no axis names a file
  if (!options.history.empty()) files.keep_history(options.history);
  if (!options.out.empty()) files.write("--out", options.out);
  if (!options.report.empty()) files.write("--report", options.report);
}

int write_sweep(const SweepOptions& options, const Json& sweep, const std::string& command) {
  int status = sweep_status(sweep);
  const auto attempt = [&](const auto& write) {
    try {
      write();
    } catch (const Error& error) {
      say(error.what());
      status = 2;
    }
  };
  const std::string text = options.format == Format::kJson  ? json_text(sweep)
                           : options.format == Format::kCsv ? sweep_csv(sweep)
                                                            : sweep_console(sweep);
  if (!options.out.empty()) attempt([&] { write_whole_file(options.out, text); });
  if (!options.report.empty()) {
    const Json document = {{"title", "Sweep"}, {"command", command}, {"sweep", sweep}};
    attempt([&] { write_whole_file(options.report, html_page(document)); });
  }
  attempt([&] { write_standard_output(text); });
  return status;
}

}  // namespace

int sweep_command(const std::vector<std::string>& arguments, const LaneTable& table) {
  const auto parsed = parse_sweep(arguments);
  if (!parsed) return 0;
  const SweepOptions& options = *parsed;
  const Share share = share_of_environment([](const char* name) { return std::getenv(name); });
  check_files(options, share);
  History history(options.history, History::Open::kMake, say);
  if (options.history.empty()) {
    say("sweep: without --history no point is kept, and a sweep that ends early begins anew");
  }
  const Options& first = options.points.front().options;
  Model model = read_model(first.model.empty() ? kDefaultModel : first.model);
  const auto said = std::make_shared<std::set<std::string>>();
  std::vector<Point> points;
  for (PointOptions of : options.points) {
    of.options.said = said;
    points.push_back(plan_point(options, of, model, table));
  }
  load_weights(first, model);
  std::vector<std::string> whole = {"sweep"};
  whole.insert(whole.end(), arguments.begin(), arguments.end());
  const std::string command = command_text(whole);
  const std::int64_t number = history.sweep(key_of(options, points, model), command,
                                            static_cast<std::int64_t>(points.size()));
  Sweep sweep(points, model, history, command, number, share);
  sweep.run();
  // The others' results are the first's to print; and a status other than 0 would make mpirun end
  // the processes that still work.
  if (share.rank != 0) return 0;
  return write_sweep(options, sweep_json(options.axes, sweep.results()), command);
}

}  // namespace logos::bench
