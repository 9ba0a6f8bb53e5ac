#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "bench/history/database.h"
#include "sim/whole_file.h"
#include "tests/bench/started.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Arguments = std::vector<std::string>;

/// bench with --history in the folder.
Ended kept(const TemporaryFolder& folder, Arguments arguments, const Launch& launch = {}) {
  arguments.insert(arguments.end(), {"--history", (folder / "h").string()});
  return run_bench(arguments, launch);
}

const Arguments kRun = {"--cut", "decode:2,prefill:3", "--lanes", "reference,cuda"};

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(TheHistory, HasTheNumbersThatJsonAndCsvHave) {
  TemporaryFolder folder;
  const std::string out = (folder / "o.csv").string();
  const Ended ended = kept(folder, with(kRun, {"--format", "json"}));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(kept(folder, {"history", "--run", "last", "--format", "json"}).out, ended.out);

  const Ended csv = kept(folder, with(kRun, {"--format", "csv", "--out", out}));
  EXPECT_EQ(kept(folder, {"history", "--run", "last", "--format", "csv"}).out, csv.out);
  EXPECT_EQ(read_whole_file(out), csv.out);
}

TEST(TheHistory, NamesTheFileOfADamagedResult) {
  TemporaryFolder folder;
  ASSERT_EQ(kept(folder, kRun).status, 0);
  for (const char* object : {"{", "7", "{}"}) {
    Database(folder / "h", [](std::string_view) {})
        .statement("UPDATE result SET object = ? WHERE place = 1")
        .bind(std::string_view(object))
        .run();
    for (const Arguments& command : {Arguments{"history"}, Arguments{"compare", "1", "last"},
                                     Arguments{"history", "--run", "1", "--format", "csv"}}) {
      const Ended ended = kept(folder, command);
      EXPECT_EQ(ended.status, 2);
      EXPECT_THAT(ended.err, HasSubstr((folder / "h").string()));
      EXPECT_THAT(ended.err, HasSubstr("damaged"));
      EXPECT_THAT(ended.err, testing::Not(HasSubstr("unexpected")));
    }
  }
}

TEST(TheHistory, ListsTheRunsBesideADamagedOne) {
  TemporaryFolder folder;
  ASSERT_EQ(kept(folder, kRun).status, 0);
  ASSERT_EQ(kept(folder, kRun).status, 0);
  Database(folder / "h", [](std::string_view) {})
      .statement("UPDATE result SET object = '{' WHERE run = 1")
      .run();
  const Ended listed = kept(folder, {"history", "--format", "json"});
  EXPECT_EQ(listed.status, 2);
  EXPECT_THAT(listed.err, HasSubstr("run 1 is damaged"));
  const json runs = json::parse(listed.out)["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_THAT(runs[0]["damaged"].get<std::string>(), HasSubstr("run 1 is damaged"));
  EXPECT_FALSE(runs[1].contains("damaged"));
  EXPECT_EQ(runs[1]["result"]["cuts"].size(), 2U);
  EXPECT_THAT(kept(folder, {"history"}).out, HasSubstr("damaged"));
}

TEST(TheHistory, KeepsWhatItsDatabaseMakesBesideItFree) {
  TemporaryFolder folder;
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    for (const char* option : {"--out", "--report", "--trace"}) {
      Arguments arguments = kRun;
      arguments.insert(arguments.end(), {option, (folder / "h").string() + suffix});
      const Ended ended = kept(folder, arguments);
      EXPECT_EQ(ended.status, 2);
      EXPECT_THAT(ended.err, HasSubstr(std::string(option) + ": the same file as --history"));
    }
  }
}

TEST(TheHistory, IsNotOverwrittenByItsOwnListing) {
  TemporaryFolder folder;
  ASSERT_EQ(kept(folder, kRun).status, 0);
  const Ended ended = kept(folder, {"history", "--out", (folder / "." / "h").string()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--out: the same file as --history"));
  EXPECT_EQ(kept(folder, {"history"}).status, 0);
}

TEST(TheHistory, IsPrintedAlsoWhereTheFileCannotBeWritten) {
  TemporaryFolder folder;
  ASSERT_EQ(kept(folder, kRun).status, 0);
  const Ended ended = kept(folder, {"history", "--out", "/dev/full"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, HasSubstr("prefill:3"));
}

TEST(TheHistory, PrintsOfARunWhatIsAskedFor) {
  TemporaryFolder folder;
  ASSERT_EQ(kept(folder, kRun).status, 0);
  const json one = json::parse(
      kept(folder, {"history", "--run", "1", "--lane", "cuda", "--format", "json"}).out);
  ASSERT_EQ(one["cuts"].size(), 2u);
  for (const json& cut : one["cuts"]) {
    ASSERT_EQ(cut["lanes"].size(), 1u);
    EXPECT_EQ(cut["lanes"][0]["lane"], "cuda");
  }
  const Ended none =
      kept(folder, {"history", "--run", "1", "--cut", "decode:9", "--format", "csv"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--cut decode:9: no result of these runs"));
}

TEST(TheHistory, ListsEveryResultOfEveryRun) {
  TemporaryFolder folder;
  ASSERT_EQ(kept(folder, kRun).status, 0);
  ASSERT_EQ(kept(folder, {"--score", "--tokens", "1,2,3", "--lanes", "reference"}).status, 0);
  const Ended list = kept(folder, {"history"});
  EXPECT_EQ(list.status, 0);
  EXPECT_EQ(std::count(list.out.begin(), list.out.end(), '\n'), 6);  // a header and five results
  EXPECT_THAT(list.out, HasSubstr("prefill:3"));
  EXPECT_THAT(list.out, HasSubstr("score"));
  const json listed = json::parse(kept(folder, {"history", "--format", "json"}).out);
  ASSERT_EQ(listed["runs"].size(), 2u);
  EXPECT_THAT(listed["runs"][0]["command"].get<std::string>(), HasSubstr("decode:2,prefill:3"));
  const json one = json::parse(
      kept(folder, {"history", "--cut", "decode:2", "--lane", "cuda", "--format", "json"}).out);
  ASSERT_EQ(one["runs"].size(), 1u);
  EXPECT_EQ(one["runs"][0]["result"]["cuts"].size(), 1u);
  EXPECT_EQ(one["runs"][0]["result"]["cuts"][0]["lanes"].size(), 1u);
}

TEST(TheHistory, OfNoFileOrNoRunIsRefused) {
  TemporaryFolder folder;
  const Ended none = kept(folder, {"history"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no such file"));
  EXPECT_EQ(run_bench({"history"}).status, 2);
  ASSERT_EQ(kept(folder, {"--cut", "decode:2", "--lanes", "reference"}).status, 0);
  const Ended run = kept(folder, {"history", "--run", "7"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("has no run 7"));
  EXPECT_EQ(kept(folder, {"history", "--format", "xml"}).status, 2);
  for (const std::vector<std::string>& filter :
       {std::vector<std::string>{"--lane", "gpu"}, {"--cut", "decode:999"}}) {
    const Ended nothing = kept(folder, {"history", filter[0], filter[1]});
    EXPECT_EQ(nothing.status, 2);
    EXPECT_THAT(nothing.err, HasSubstr(filter[0] + " " + filter[1] + ": no result"));
  }
}

TEST(TheHistory, ThatCannotBeOneIsRefusedBeforeTheRun) {
  TemporaryFolder folder;
  std::ofstream(folder / "h") << "no history";
  const Ended ended = kept(folder, kRun);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("it is not an SQLite file"));
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(read_whole_file(folder / "h"), "no history");
  const Ended missing = run_bench(with(kRun, {"--history", (folder / "none" / "h").string()}));
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr((folder / "none").string()));
  const Ended same = kept(folder, with(kRun, {"--out", (folder / "h").string()}));
  EXPECT_EQ(same.status, 2);
}

TEST(TheHistory, OnAFullDiskCostsItselfOnly) {
  TemporaryFolder folder;
  const std::string file = (folder / "h").string();
  ASSERT_EQ(kept(folder, {"--cut", "decode:2", "--lanes", "reference"}).status, 0);
  const std::uintmax_t size = std::filesystem::file_size(file);
  // No room at all: that is found before the run.
  const Ended none = kept(folder, kRun, {.file_bytes = size / 2});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr(file + ": "));
  EXPECT_EQ(none.out, "");
  // Room for the first results: the log then grows beyond the limit while the run goes on.
  const std::string out = (folder / "o").string();
  const Arguments many = {"--cut",    "decode:2,prefill:3,decode:3,decode:4,decode:5,decode:6",
                          "--lanes",  "reference,cuda",
                          "--format", "json",
                          "--out",    out};
  const Ended ended = kept(folder, many, {.file_bytes = size + 20000});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(file + ": "));
  EXPECT_THAT(ended.err, HasSubstr("the run goes on"));
  EXPECT_EQ(json::parse(ended.out)["cuts"].size(), 6u);
  EXPECT_EQ(read_whole_file(out), ended.out);
  // What was kept before stands.
  const json runs = json::parse(kept(folder, {"history", "--format", "json"}).out);
  EXPECT_FALSE(runs["runs"][0]["ended"].is_null());
}

TEST(TheHistory, OfEightRunsAtOnceHasEveryRowOnce) {
  TemporaryFolder folder;
  std::deque<Started> runs;
  for (int i = 0; i < 8; ++i) {
    runs.emplace_back(Arguments{"--cut", fmt::format("decode:{}", i + 1), "--lanes",
                                "reference,cuda", "--history", (folder / "h").string()},
                      folder / fmt::format("out{}", i));
  }
  for (Started& run : runs) EXPECT_EQ(run.wait(), 0);
  const json listed = json::parse(kept(folder, {"history", "--format", "json"}).out);
  ASSERT_EQ(listed["runs"].size(), 8u);
  std::set<std::string> cuts;
  for (const json& run : listed["runs"]) {
    EXPECT_FALSE(run["ended"].is_null());
    ASSERT_EQ(run["result"]["cuts"].size(), 1u);
    cuts.insert(run["result"]["cuts"][0]["cut"]);
    EXPECT_EQ(run["result"]["cuts"][0]["lanes"].size(), 2u);
  }
  EXPECT_EQ(cuts.size(), 8u);
}

TEST(TheHistory, OfARunThatIsKilledHasWhatWasFinished) {
  TemporaryFolder folder;
  // The first cut is quick, the second takes much longer than the test waits.
  Started run({"--cut", "decode:2,prefill:4096", "--lanes", "reference", "--history",
               (folder / "h").string()},
              folder / "out");
  json cuts = json::array();
  for (int look = 0; look < 600 && cuts.empty(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Ended list = kept(folder, {"history", "--format", "json"});
    if (list.status != 0) continue;  // there is no file yet
    const json runs = json::parse(list.out)["runs"];
    if (!runs.empty()) cuts = runs[0]["result"]["cuts"];
  }
  run.kill();
  EXPECT_EQ(run.wait(), 128 + 9);
  const json kept_run = json::parse(kept(folder, {"history", "--format", "json"}).out)["runs"][0];
  EXPECT_TRUE(kept_run["ended"].is_null());
  ASSERT_EQ(kept_run["result"]["cuts"].size(), 1u);
  const json lane = kept_run["result"]["cuts"][0]["lanes"][0];
  EXPECT_EQ(lane["output_sha256"].get<std::string>().size(), 64u);
  EXPECT_TRUE(lane["agrees"].is_null());
  EXPECT_THAT(kept(folder, {"history"}).out, HasSubstr("unfinished"));
}

TEST(Compare, ShowsNothingOfTwoEqualRunsAndMarksARegression) {
  TemporaryFolder folder;
  const Arguments run = {"--cut", "decode:2", "--lanes", "cuda"};
  ASSERT_EQ(kept(folder, run).status, 0);
  ASSERT_EQ(kept(folder, run).status, 0);
  ASSERT_EQ(kept(folder, with(run, {"--set", "gpu.launch_us=50"})).status, 0);
  const Ended same = kept(folder, {"compare", "1", "2"});
  EXPECT_EQ(same.status, 0) << same.out;
  EXPECT_THAT(same.out, HasSubstr("decode:2, cuda: same"));
  const Ended slower = kept(folder, {"compare", "last-1", "last", "--format", "json"});
  EXPECT_EQ(slower.status, 1);
  const json comparison = json::parse(slower.out);
  EXPECT_EQ(comparison["a"], 2);
  EXPECT_EQ(comparison["regressions"], 1);
  EXPECT_EQ(kept(folder, {"compare", "last", "last-1"}).status, 0);
  EXPECT_EQ(kept(folder, {"compare", "2", "3", "--tolerance", "1e6"}).status, 0);
}

TEST(Compare, RefusesWhatItCannotTake) {
  TemporaryFolder folder;
  ASSERT_EQ(kept(folder, {"--cut", "decode:2", "--lanes", "reference"}).status, 0);
  const auto refusal = [&](const Arguments& arguments) {
    const Ended ended = kept(folder, arguments);
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  EXPECT_THAT(refusal({"compare", "1"}), HasSubstr("B is required"));
  EXPECT_THAT(refusal({"compare", "1", "2"}), HasSubstr("has no run 2"));
  EXPECT_THAT(refusal({"compare", "1", "1", "--tolerance", "-1"}), HasSubstr("not a percentage"));
  EXPECT_THAT(refusal({"compare", "1", "1", "--tolerance", "x"}), HasSubstr("not a percentage"));
  EXPECT_THAT(refusal({"compare", "1", "1", "--format", "csv"}), HasSubstr("not of a comparison"));
  EXPECT_EQ(run_bench({"compare", "1", "1"}).status, 2);
}

}  // namespace
}  // namespace logos::bench
