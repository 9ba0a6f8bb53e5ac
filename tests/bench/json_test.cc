#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& [key, value] : object.items()) names.insert(key);
  return names;
}

json run_json(std::vector<std::string> arguments, const Launch& launch = {}, int status = 0) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ended ended = run_bench(arguments, launch);
  EXPECT_EQ(ended.status, status) << ended.err;
  json object = json::parse(ended.out, nullptr, false);
  EXPECT_FALSE(object.is_discarded()) << ended.out;
  return object;
}

const std::set<std::string> kLaneKeys = {
    "lane",   "agrees",       "output_sha256",     "fault", "seconds", "time_class",
    "cycles", "clock_hz",     "tokens_per_second", "bytes", "macs",    "cycles_by_category",
    "bound",  "host_seconds", "simulation_seconds"};

TEST(JsonOutput, HasEveryKeyOfTheContract) {
  const json object = run_json({"--cut", "prefill:4,layer:2@decode:5"});
  EXPECT_EQ(keys(object), (std::set<std::string>{"context", "cuts"}));
  const json& context = object["context"];
  EXPECT_EQ(keys(context), (std::set<std::string>{"versions", "git", "model", "weights",
                                                  "weights_sha256", "configurations", "inputs",
                                                  "conditions", "time_notes", "host"}));
  EXPECT_EQ(keys(context["git"]), (std::set<std::string>{"commit", "dirty"}));
  if (!context["git"]["commit"].is_null()) {
    EXPECT_THAT(context["git"]["commit"].get<std::string>(), testing::MatchesRegex("[0-9a-f]{40}"));
    EXPECT_TRUE(context["git"]["dirty"].is_boolean());
  }
  const std::vector<std::string> lanes = built_lanes();
  EXPECT_EQ(keys(context["configurations"]), std::set<std::string>(lanes.begin(), lanes.end()));
  EXPECT_EQ(keys(context["inputs"]), (std::set<std::string>{"prefill:4", "layer:2@decode:5"}));
  EXPECT_EQ(keys(context["conditions"]), std::set<std::string>{});
  EXPECT_EQ(context["model"], "kjv");
  EXPECT_EQ(context["weights_sha256"].get<std::string>().size(), 64u);
  ASSERT_EQ(object["cuts"].size(), 2u);
  for (const json& cut : object["cuts"]) {
    EXPECT_EQ(keys(cut), (std::set<std::string>{"cut", "identity", "lanes"}));
    EXPECT_EQ(keys(cut["identity"]), (std::set<std::string>{"cut", "chips", "sha256"}));
    EXPECT_EQ(cut["identity"]["cut"], cut["cut"]);
    ASSERT_EQ(cut["lanes"].size(), built_lanes().size());
    for (const json& lane : cut["lanes"]) {
      std::set<std::string> wanted = kLaneKeys;
      if (lane["lane"] == "spatial") wanted.insert({"chip_fraction", "interval"});
      EXPECT_EQ(keys(lane), wanted) << lane["lane"];
    }
  }
}

TEST(JsonOutput, SaysWhatALaneHasAndNullForTheRest) {
  const json object = run_json({"--cut", "prefill:4,layer:1@prefill:4"});
  const json& reference = object["cuts"][0]["lanes"][0];
  EXPECT_EQ(reference["lane"], "reference");
  EXPECT_EQ(reference["time_class"], "measured");
  EXPECT_TRUE(reference["cycles"].is_null());
  EXPECT_TRUE(reference["clock_hz"].is_null());
  EXPECT_GT(reference["bytes"]["ram"], 0);
  EXPECT_GT(reference["macs"], 0);
  const json& cuda = object["cuts"][0]["lanes"][1];
  EXPECT_EQ(cuda["lane"], "cuda");
  EXPECT_GT(cuda["bytes"]["hbm"], 0);
  EXPECT_EQ(keys(cuda["bound"]), (std::set<std::string>{"name", "fraction"}));
  EXPECT_NEAR(cuda["tokens_per_second"].get<double>(), 4 / cuda["seconds"].get<double>(), 1e-6);
  const json& part = object["cuts"][1]["lanes"][1];
  EXPECT_TRUE(part["tokens_per_second"].is_null());
  EXPECT_EQ(cuda["output_sha256"], reference["output_sha256"]);
}

TEST(JsonOutput, CategoriesAreAllOfThem) {
  const json lane = run_json({"--cut", "decode:4", "--lanes", "cuda"})["cuts"][0]["lanes"][0];
  if (lane["time_class"] == "measured") return;  // a GPU's time has no categories of its own
  EXPECT_EQ(keys(lane["cycles_by_category"]),
            (std::set<std::string>{"weight_stream", "kv_stream", "compute", "movement",
                                   "synchronisation", "idle"}));
}

TEST(JsonOutput, OfALaneThatRefusesHasTheReasonInstead) {
  const json object = run_json({"--cut", "decode:4"},
                               {.environment = {{"LOGOS_ALTER", "refuse"}}, .altered = true}, 2);
  const json& lane = object["cuts"][0]["lanes"][1];
  EXPECT_EQ(keys(lane), (std::set<std::string>{"lane", "refused"}));
  EXPECT_EQ(lane["refused"], "altered lane: holds no cut at all");
  EXPECT_EQ(object["cuts"][0]["lanes"][0]["agrees"], true);
}

TEST(JsonOutput, OfALaneThatFailsHasTheCauseInstead) {
  const json object = run_json({"--cut", "decode:4"},
                               {.environment = {{"LOGOS_ALTER", "throw"}}, .altered = true}, 2);
  const json& lane = object["cuts"][0]["lanes"][1];
  EXPECT_EQ(keys(lane), (std::set<std::string>{"lane", "failed"}));
  EXPECT_EQ(lane["failed"], "altered lane: the machine caught fire");
}

TEST(JsonOutput, NamesACycleLimitThatWasReached) {
  const json object =
      run_json({"--cut", "decode:4", "--lanes", "cuda", "--cycle-limit", "10"}, {}, 2);
  EXPECT_THAT(object["cuts"][0]["lanes"][0]["failed"].get<std::string>(),
              testing::HasSubstr("cycle limit reached"));
}

TEST(JsonOutput, HasTheErrorOfTheArithmeticWhereAsked) {
  const json cuts =
      run_json({"--cut", "prefill:9,head@decode:9,batch:2x9,layer:1@decode:9", "--exact"})["cuts"];
  const json& error = cuts[0]["lanes"][0]["error"];
  EXPECT_EQ(keys(error), (std::set<std::string>{"kl", "max_logit_error", "top1"}));
  EXPECT_GT(error["kl"], 0.0);
  EXPECT_LT(error["kl"], 0.01);
  EXPECT_GT(error["max_logit_error"], 0.0);
  EXPECT_LT(error["max_logit_error"], 0.5);
  EXPECT_EQ(error["top1"], 1.0);
  for (int cut = 0; cut < 3; ++cut) {  // the same tokens, so the same logits
    for (const json& lane : cuts[cut]["lanes"]) {
      EXPECT_EQ(lane["error"]["max_logit_error"], error["max_logit_error"]);
      EXPECT_NEAR(lane["error"]["kl"].get<double>(), error["kl"].get<double>(), 1e-15);
    }
  }
}

TEST(JsonOutput, GivesTheErrorOfRowsThatAreNoLogits) {
  const json cuts =
      run_json({"--cut", "embedding@prefill:9,layer:1@decode:9,layer:3@prefill:9,layer:2@batch:2x9",
                "--exact"})["cuts"];
  ASSERT_EQ(cuts.size(), 4u);
  for (const json& cut : cuts) {
    for (const json& lane : cut["lanes"]) {
      const json& error = lane["error"];
      EXPECT_EQ(keys(error), (std::set<std::string>{"kl", "max_logit_error", "top1"}));
      EXPECT_TRUE(error["kl"].is_null());
      EXPECT_TRUE(error["top1"].is_null());
      EXPECT_GT(error["max_logit_error"], 0.0) << cut["cut"];
      EXPECT_LT(error["max_logit_error"], 0.5) << cut["cut"];
    }
  }
}

TEST(JsonOutput, OfAScoreHasTheErrorWhereAsked) {
  const std::vector<std::string> base = {"--score", "--tokens", "73,110,32,116,104,101", "--exact"};
  std::vector<json> errors;
  for (const std::vector<std::string>& mode :
       {std::vector<std::string>{}, {"--chunk", "4"}, {"--batch", "2"}, {"--chips", "2"}}) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), mode.begin(), mode.end());
    const json object = run_json(arguments);
    for (const json& lane : object["lanes"]) {
      EXPECT_EQ(keys(lane), (std::set<std::string>{"lane", "agrees", "fault", "score", "error"}));
      errors.push_back(lane["error"]);
    }
  }
  ASSERT_EQ(errors.size(), 4 * built_lanes().size());
  EXPECT_GT(errors[0]["kl"], 0.0);
  EXPECT_LT(errors[0]["kl"], 0.01);
  EXPECT_GT(errors[0]["max_logit_error"], 0.0);
  EXPECT_LT(errors[0]["max_logit_error"], 0.5);
  for (const json& error : errors) EXPECT_EQ(error, errors[0]);  // the same bits, in one order
  // The last position's is the one of the decode step there, so the largest is no smaller.
  const json step = run_json({"--cut", "decode:6", "--tokens", base[2], "--exact"});
  EXPECT_GE(errors[0]["max_logit_error"], step["cuts"][0]["lanes"][0]["error"]["max_logit_error"]);
}

TEST(JsonOutput, StatesTheErrorOfModelledTimes) {
  for (const std::vector<std::string>& work :
       {std::vector<std::string>{"--cut", "decode:4"}, {"--score", "--tokens", "1,2"}}) {
    const json notes = run_json(work)["context"]["time_notes"];
    ASSERT_TRUE(notes.is_object());
    EXPECT_FALSE(notes.contains("reference"));  // a measured time of this host, nothing to add
    const std::string note = notes["cuda"];
    if (note.starts_with("measured")) continue;
    EXPECT_EQ(note, "modelled: uncalibrated, +-30 %");
  }
}

TEST(JsonOutput, ShowsBytesOfAPathEscaped) {
  TemporaryFolder folder;
  const std::filesystem::path model = folder / "m\x1b[31m\xff";
  std::filesystem::copy(std::filesystem::path(LOGOS_SOURCE_DIR) / "models" / "kjv", model);
  const std::vector<std::string> arguments = {"--cut", "decode:2", "--model", model.string()};
  const std::string name = run_json(arguments)["context"]["model"];
  EXPECT_THAT(name, testing::EndsWith("m\\x1b[31m\\xff"));
  EXPECT_THAT(run_bench(arguments).out, testing::HasSubstr("m\\x1b[31m\\xff, weights"));
}

TEST(JsonOutput, OfAScoreHasEveryKey) {
  const json object = run_json({"--score", "--tokens", "1,2,3"});
  EXPECT_EQ(keys(object), (std::set<std::string>{"context", "lanes"}));
  ASSERT_EQ(object["lanes"].size(), built_lanes().size());
  for (const json& lane : object["lanes"]) {
    EXPECT_EQ(keys(lane), (std::set<std::string>{"lane", "agrees", "fault", "score"}));
    EXPECT_EQ(keys(lane["score"]),
              (std::set<std::string>{"positions", "logits_sha256", "nll", "perplexity"}));
    EXPECT_EQ(lane["score"]["positions"], 3);
  }
}

TEST(JsonOutput, OfAScoreWithNothingToPredictHasNoPerplexity) {
  const json lane =
      run_json({"--score", "--tokens", "1", "--lanes", "reference"})["lanes"][0]["score"];
  EXPECT_EQ(lane["nll"], 0.0);
  EXPECT_TRUE(lane["perplexity"].is_null());
}

/// What is left of a result when the times that this host took are taken out.
json without_times(json object) {
  for (json& cut : object["cuts"]) {
    for (json& lane : cut["lanes"]) {
      lane.erase("host_seconds");
      lane.erase("simulation_seconds");
      if (lane["time_class"] != "measured") continue;
      for (const char* key : {"seconds", "tokens_per_second", "bound"}) lane.erase(key);
    }
  }
  return object;
}

TEST(JsonOutput, IsTheSameAgainButForMeasuredTimes) {
  const std::vector<std::string> arguments = {"--cut", "decode:9,batch:2x3"};
  EXPECT_EQ(without_times(run_json(arguments)), without_times(run_json(arguments)));
}

TEST(CsvOutput, HoldsTheSameNumbers) {
  const json lane = run_json({"--cut", "decode:4", "--lanes", "cuda"})["cuts"][0]["lanes"][0];
  const Ended ended = run_bench({"--cut", "decode:4", "--lanes", "cuda", "--format", "csv"});
  ASSERT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, testing::StartsWith("cut,identity.cut,identity.chips,identity.sha256,"
                                             "lane,agrees,output_sha256,fault,seconds,time_class"));
  EXPECT_THAT(ended.out,
              testing::HasSubstr("cuda,true," + lane["output_sha256"].get<std::string>()));
  if (lane["time_class"] == "measured") return;
  EXPECT_THAT(ended.out, testing::HasSubstr(lane["seconds"].dump() + ",modelled," +
                                            lane["cycles"].dump() + ","));
  EXPECT_THAT(ended.out, testing::HasSubstr(",\"modelled: uncalibrated, +-30 %\","));
}

}  // namespace
}  // namespace logos::bench
