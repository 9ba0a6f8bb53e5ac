#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "bench/history/database.h"
#include "bench/sweep/sweep_result.h"
#include "sim/whole_file.h"
#include "tests/bench/started.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Arguments = std::vector<std::string>;

Arguments sweep(const Arguments& more) {
  Arguments arguments = {"sweep", "--lanes", "cuda", "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// What does not depend on the host and the hour.
json lasting(json result) {
  for (json& point : result["points"]) {
    for (json& lane : point["result"]["cuts"][0]["lanes"]) {
      lane.erase("host_seconds");
      lane.erase("simulation_seconds");
    }
  }
  return result;
}

/// Finished runs in a history by the cut and the number of chips.
std::map<std::string, int> finished(const std::filesystem::path& file) {
  std::map<std::string, int> counts;
  const Ended list = run_bench({"history", "--format", "json", "--history", file.string()});
  if (list.status != 0) return counts;  // there is no file yet
  const json listed = json::parse(list.out);
  for (const json& run : listed["runs"]) {
    if (run["ended"].is_null()) continue;
    const json& cut = run["result"]["cuts"][0];
    ++counts[fmt::format("{} {}", cut["cut"].get<std::string>(), cut["identity"]["chips"].dump())];
  }
  return counts;
}

TEST(ASweep, RunsTheProductOfItsLists) {
  const Ended ended = run_bench(sweep(
      {"--cut", "decode:{2..4*2},prefill:2", "--chips", "1,2", "--vary", "gpu.launch_us=1,2"}));
  ASSERT_EQ(ended.status, 0) << ended.err;
  const json result = json::parse(ended.out);
  ASSERT_EQ(result["points"].size(), 12u);
  EXPECT_EQ(result["axes"][0]["name"], "cut");
  EXPECT_EQ(result["axes"][2]["name"], "gpu.launch_us");
  EXPECT_EQ(result["axes"][0]["series"][0]["pattern"], "decode:{}");
  const json& point = result["points"][5];
  EXPECT_EQ(point["values"]["cut"], "decode:4");
  EXPECT_EQ(point["values"]["chips"], "1");
  EXPECT_EQ(point["values"]["gpu.launch_us"], "2");
  EXPECT_EQ(point["result"]["cuts"][0]["cut"], "decode:4");
  const auto seconds = [&](std::size_t index) {
    return result["points"][index]["result"]["cuts"][0]["lanes"][0]["seconds"].get<double>();
  };
  EXPECT_LT(seconds(0), seconds(1));
  EXPECT_THAT(ended.err, HasSubstr("without --history no point is kept"));
  // What a lane says of itself it says once, not at every point.
  EXPECT_LE(std::count(ended.err.begin(), ended.err.end(), '\n'), 2) << ended.err;
}

TEST(ASweep, HasThePointsThatRunsOfTheirOwnGive) {
  const json result = json::parse(run_bench(sweep({"--cut", "decode:{2..3}"})).out);
  const json own = json::parse(
      run_bench({"--cut", "decode:3", "--lanes", "cuda", "--format", "json", "--chips", "1"}).out);
  json point = result["points"][1]["result"];
  for (json* object : {&point}) {
    EXPECT_EQ((*object)["context"], own["context"]);
    EXPECT_EQ((*object)["cuts"][0]["identity"], own["cuts"][0]["identity"]);
    for (const char* key : {"output_sha256", "seconds", "bytes", "macs"}) {
      EXPECT_EQ((*object)["cuts"][0]["lanes"][0][key], own["cuts"][0]["lanes"][0][key]);
    }
  }
}

TEST(ASweep, ThatIsKilledGoesOnWhereItWas) {
  TemporaryFolder folder;
  const Arguments points = sweep({"--cut", "decode:{1..12}", "--chips", "1,2", "--history"});
  Arguments here = points;
  here.push_back((folder / "h").string());
  std::map<std::string, int> before;
  {
    Started run(here, folder / "out");
    for (int look = 0; look < 600 && before.size() < 5; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      before = finished(folder / "h");
    }
    run.kill();
    EXPECT_EQ(run.wait(), 128 + 9);
  }
  before = finished(folder / "h");
  ASSERT_GE(before.size(), 5u);
  ASSERT_LT(before.size(), 24u) << "it was through before it was killed";

  const Ended resumed = run_bench(here);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  const auto after = finished(folder / "h");
  EXPECT_EQ(after.size(), 24u);
  for (const auto& [point, count] : after) EXPECT_EQ(count, 1) << point;

  Arguments whole = points;
  whole.push_back((folder / "whole").string());
  const Ended uninterrupted = run_bench(whole);
  EXPECT_EQ(lasting(json::parse(resumed.out)), lasting(json::parse(uninterrupted.out)));

  const Ended again = run_bench(here);
  EXPECT_EQ(again.out, resumed.out);
  EXPECT_EQ(finished(folder / "h"), after);
}

TEST(ASweep, OfOtherInputsIsAnotherSweep) {
  TemporaryFolder folder;
  const std::filesystem::path model = folder / "kj";
  std::filesystem::copy(LOGOS_SOURCE_DIR "/models/kjv", model);
  const Arguments points = sweep(
      {"--model", model.string(), "--cut", "decode:{2..3}", "--history", (folder / "h").string()});
  const Ended first = run_bench(points);
  ASSERT_EQ(first.status, 0) << first.err;
  std::ofstream(model / "prompt.txt") << "And it came to pass";
  const Ended other = run_bench(points);
  EXPECT_NE(json::parse(first.out)["points"][0]["result"]["cuts"],
            json::parse(other.out)["points"][0]["result"]["cuts"]);
}

TEST(ASweep, OfOtherOptionsIsAnotherSweep) {
  TemporaryFolder folder;
  const std::string file = (folder / "h").string();
  ASSERT_EQ(run_bench(sweep({"--cut", "decode:{1..2}", "--history", file})).status, 0);
  ASSERT_EQ(
      run_bench(sweep({"--cut", "decode:{1..2}", "--position", "1", "--history", file})).status, 0);
  EXPECT_EQ(finished(file)["decode:1 1"], 2);
}

TEST(ASweep, UnderMpirunIsSharedOut) {
  TemporaryFolder folder;
  const std::string file = (folder / "h").string();
  // Points that take longer than one process may begin behind the other.
  const std::string points =
      "sweep --cut 'prefill:{201..206}' --chips 1,2 --lanes cuda --format json";
  const Ended ended = run_shell(fmt::format(
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; mpirun --oversubscribe -n "
      "2 {} {} --history '{}' --out '{}'",
      bench_in_shell(), points, file, (folder / "o").string()));
  ASSERT_EQ(ended.status, 0) << ended.out;
  const auto counts = finished(file);
  EXPECT_EQ(counts.size(), 12u);
  for (const auto& [point, count] : counts) EXPECT_EQ(count, 1) << point;
  const json shared = json::parse(read_whole_file(folder / "o"));
  const json alone =
      json::parse(run_bench(sweep({"--cut", "prefill:{201..206}", "--chips", "1,2"})).out);
  EXPECT_EQ(lasting(shared), lasting(alone));
  // Both processes had a part of it.
  const Database database(file, [](std::string_view) {});
  Statement owners = database.statement("SELECT count(DISTINCT owner) FROM run");
  ASSERT_TRUE(owners.step());
  EXPECT_EQ(owners.integer(0), 2);
}

TEST(ASweep, AsASlurmArrayIsPrintedByItsFirst) {
  TemporaryFolder folder;
  const std::string file = (folder / "h").string();
  const Arguments arguments = sweep({"--cut", "decode:{1..4}", "--history", file});
  const auto task = [&](const std::string& id) {
    return run_bench(arguments, {.environment = {{"SLURM_ARRAY_TASK_ID", id},
                                                 {"SLURM_ARRAY_TASK_COUNT", "2"},
                                                 {"SLURM_ARRAY_TASK_MIN", "1"}}});
  };
  const Ended second = task("2");
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(second.out, "");
  const Ended first = task("1");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(json::parse(first.out)["points"].size(), 4u);
  for (const auto& [point, count] : finished(file)) EXPECT_EQ(count, 1) << point;
}

TEST(ASweep, PrintsATableAndCsv) {
  TemporaryFolder folder;
  const std::string file = (folder / "h").string();
  const Arguments points = {"sweep",     "--cut", "decode:{2..4*2}", "--lanes", "reference,cuda",
                            "--history", file};
  const auto in = [&](const std::string& format) {
    Arguments arguments = points;
    arguments.insert(arguments.end(), {"--format", format});
    return run_bench(arguments);
  };
  const Ended console = in("console");
  EXPECT_EQ(console.status, 0) << console.err;
  EXPECT_THAT(console.out, HasSubstr("cut       reference"));
  EXPECT_THAT(console.out, HasSubstr("times of cuda are within 30 %"));
  EXPECT_THAT(console.out, HasSubstr("no crossovers"));
  const Ended csv = in("csv");
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 5);
  EXPECT_THAT(csv.out, HasSubstr("axis.cut"));
  const json result = json::parse(in("json").out);
  const double seconds =
      result["points"][1]["result"]["cuts"][0]["lanes"][1]["seconds"].get<double>();
  EXPECT_THAT(csv.out, HasSubstr(json(seconds).dump()));
}

/// The object of a run of two machines and the reference.
nlohmann::ordered_json run_of(double cuda, double spatial) {
  const auto lane = [](const char* name, double seconds, const char* time_class) {
    return nlohmann::ordered_json{
        {"lane", name}, {"agrees", true}, {"seconds", seconds}, {"time_class", time_class}};
  };
  return {{"context", {{"time_notes", {{"cuda", "modelled: uncalibrated, +-30 %"}}}}},
          {"cuts",
           {{{"cut", "a"},
             {"lanes",
              {lane("reference", 1e-9, "measured"), lane("cuda", cuda, "modelled"),
               lane("spatial", spatial, "simulated")}}}}}};
}

/// The last words of the lines of a table over the cuts `a`, `b` …
std::vector<std::string> fastest_in(const std::string& console) {
  std::vector<std::string> words;
  std::istringstream lines(console);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 1 && line[1] == ' ' && line[0] != ' ') {
      words.push_back(line.substr(line.find_last_of(' ') + 1));
    }
  }
  return words;
}

TEST(ASweep, NamesNoFastestLaneWhereTheErrorsLeaveItOpen) {
  const Axis axis = {"cut", {"a", "b", "c", "d"}};
  // cuda takes 42 to 78 us: spatial is surely faster, perhaps faster, perhaps slower, slower.
  const std::string console =
      sweep_console(sweep_json({axis}, {run_of(60e-6, 41e-6), run_of(60e-6, 43e-6),
                                        run_of(60e-6, 77e-6), run_of(60e-6, 79e-6)}));
  EXPECT_THAT(fastest_in(console), testing::ElementsAre("spatial", "spatial?", "cuda?", "cuda"));
  EXPECT_THAT(console, HasSubstr("\n?: the errors of the times leave the fastest open\n"));

  const std::string settled =
      sweep_console(sweep_json({Axis{"cut", {"a"}}}, {run_of(60e-6, 41e-6)}));
  EXPECT_THAT(fastest_in(settled), testing::ElementsAre("spatial"));
  EXPECT_THAT(settled, testing::Not(HasSubstr("?")));
}

TEST(ASweep, NamesTheFastestOfTheLanesThatAgree) {
  nlohmann::ordered_json run = run_of(60e-6, 50e-6);
  run["cuts"][0]["lanes"][1]["agrees"] = false;
  const std::string console = sweep_console(sweep_json({Axis{"cut", {"a"}}}, {run}));
  EXPECT_THAT(fastest_in(console), testing::ElementsAre("spatial"));
  EXPECT_THAT(console, HasSubstr("DIFFERS"));
}

#if LOGOS_SPATIAL
TEST(ASweep, FindsTheClockAtWhichTheChipOvertakesTheGpu) {
  const Ended ended = run_bench({"sweep", "--cut", "decode:4", "--lanes", "cuda,spatial", "--vary",
                                 "chip.clock_mhz={25..400*2}", "--format", "json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const json result = json::parse(ended.out);
  ASSERT_EQ(result["crossovers"].size(), 1u);
  const json& crossover = result["crossovers"][0];
  EXPECT_EQ(crossover["axis"], "chip.clock_mhz");
  EXPECT_EQ(crossover["from_lane"], "cuda");
  EXPECT_EQ(crossover["to_lane"], "spatial");
  EXPECT_EQ(crossover["leader"], true);
  // The chip's cycles do not depend on its clock: its time is theirs over the clock.
  const json& lanes = result["points"][0]["result"]["cuts"][0]["lanes"];
  const double at = lanes[1]["cycles"].get<double>() / lanes[0]["seconds"].get<double>() / 1e6;
  EXPECT_NEAR(crossover["at"].get<double>(), at, 1e-3 * at);
  // The nearest clocks of the sweep that the GPU's error of 30 % leaves no doubt at.
  EXPECT_LT(crossover["at_least"].get<double>(), at / 1.3);
  EXPECT_GT(2 * crossover["at_least"].get<double>(), at / 1.3);
  EXPECT_GT(crossover["at_most"].get<double>(), at / 0.7);
  EXPECT_LT(crossover["at_most"].get<double>() / 2, at / 0.7);
}
#endif

TEST(ASweep, WhosePointALaneRefusesSaysSoAndGoesOn) {
  const Ended ended =
      run_bench(sweep({"--cut", "decode:2", "--vary", "gpu.memory_bytes=1,1000000000"}));
  EXPECT_EQ(ended.status, 2);
  const json result = json::parse(ended.out);
  const json& small = result["points"][0]["result"]["cuts"][0]["lanes"][0];
  EXPECT_TRUE(small.contains("refused") || small.contains("failed")) << small;
  EXPECT_EQ(result["points"][1]["result"]["cuts"][0]["lanes"][0]["agrees"], true);
}

TEST(ASweep, SaysOnTheConsoleWhyALaneHasNoTime) {
  const Ended ended = run_bench(
      {"sweep", "--lanes", "cuda", "--cut", "decode:2", "--vary", "gpu.memory_bytes=1,2"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, HasSubstr("cuda refused: "));
  EXPECT_THAT(ended.out, HasSubstr("bytes"));
}

TEST(ASweep, RefusesWhatItCannotTakeBeforeAnythingRuns) {
  TemporaryFolder folder;
  const std::string file = (folder / "h").string();
  const auto refusal = [&](const Arguments& more) {
    const Ended ended = run_bench(sweep(more));
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("--cut: missing"));
  EXPECT_THAT(refusal({"--cut", "decode:{1..2", "--history", file}), HasSubstr("--cut: a brace"));
  EXPECT_THAT(refusal({"--cut", "decode:1", "--chips", "0"}), HasSubstr("sweep at cut=decode:1"));
  EXPECT_THAT(refusal({"--cut", "decode:1", "--chips", "1,1000"}),
              HasSubstr("sweep at cut=decode:1, chips=1000"));
  EXPECT_THAT(refusal({"--cut", "decode:1", "--vary", "gpu.launch_us"}),
              HasSubstr("--vary: no parameter with its values"));
  EXPECT_THAT(refusal({"--cut", "decode:1", "--vary", "gpu.no_key=1"}), HasSubstr("no_key"));
  EXPECT_THAT(refusal({"--cut", "decode:1", "--vary", "sun.heat=1"}),
              HasSubstr("unknown owner of a setting"));
  EXPECT_THAT(
      refusal({"--cut", "decode:1", "--vary", "gpu.launch_us=1", "--vary", "gpu.launch_us=2"}),
      HasSubstr("gpu.launch_us is varied twice"));
  for (const char* option : {"--trace", "--dump", "--artifacts", "--text"}) {
    EXPECT_THAT(refusal({"--cut", "decode:1", option, (folder / "f").string()}),
                HasSubstr("sweep at"))
        << option;
  }
  EXPECT_THAT(refusal({"--cut", "decode:1", "--benchmark_filter=x"}), HasSubstr("not in a sweep"));
  EXPECT_THAT(refusal({"--cut", "decode:1", "--out", (folder / "no" / "f").string()}),
              HasSubstr((folder / "no").string()));
  EXPECT_THAT(refusal({"--cut", "decode:1", "--report", file, "--history", file}),
              HasSubstr("--report: the same file as --history"));
  EXPECT_THAT(
      refusal({"--cut", "decode:1", "--out", (folder / "." / "h").string(), "--history", file}),
      HasSubstr("--out: the same file"));
  EXPECT_EQ(folder.entries(), 0);
  const Ended alone =
      run_bench(sweep({"--cut", "decode:1"}),
                {.environment = {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("--history: missing: 2 processes share"));
}

TEST(ASweep, WritesAPageWithItsCurves) {
  TemporaryFolder folder;
  const std::string page = (folder / "r.html").string();
  const Ended ended = run_bench(sweep({"--cut", "decode:{2..8*2}", "--report", page}));
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string html = read_whole_file(page);
  EXPECT_THAT(html, HasSubstr("<html"));
  EXPECT_THAT(html, HasSubstr("decode:8"));
}

}  // namespace
}  // namespace logos::bench
