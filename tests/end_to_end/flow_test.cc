// The two programs together, as a person uses them: what one writes, the other runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Ended {
  int status = -1;
  std::string out;
  std::string err;
};

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Flow : public ::testing::Test {
 protected:
  /// Runs a command line of the shell in `directory`; stores go to the test's own folder.
  Ended shell(const std::string& command, const std::string& directory = "/") const {
    const auto out = folder / "out";
    const auto err = folder / "err";
    const std::string line =
        fmt::format("cd {} && LOGOS_STORE={} {} >{} 2>{}", directory, (folder / "store").string(),
                    command, out.string(), err.string());
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, contents(out), contents(err)};
  }
  Ended bench(const std::string& arguments) const {
    return shell(LOGOS_BINARY_DIR "/bin/bench " + arguments);
  }
  Ended program(const std::string& arguments, const std::string& directory = "/") const {
    return shell(LOGOS_BINARY_DIR "/bin/program " + arguments, directory);
  }
  /// The only cut of a run that must succeed on every lane.
  json cut_of(const std::string& arguments) const {
    const Ended ended = bench(arguments + " --format json");
    EXPECT_EQ(ended.status, 0) << ended.err;
    const json report = json::parse(ended.out);
    EXPECT_EQ(report["cuts"].size(), 1u);
    for (const json& lane : report["cuts"][0]["lanes"]) {
      EXPECT_EQ(lane["agrees"], true) << lane;
      EXPECT_EQ(lane["output_sha256"], report["cuts"][0]["lanes"][0]["output_sha256"]);
    }
    return report["cuts"][0];
  }
  static std::string digest(const json& cut) { return cut["lanes"][0]["output_sha256"]; }

  TemporaryFolder folder;
};

TEST_F(Flow, BothProgramsNameTheSameIdentity) {
  for (const auto& [cut, chips] :
       std::vector<std::pair<std::string, int>>{{"decode:8", 1},
                                                {"prefill:5", 3},
                                                {"batch:2x4", 2},
                                                {"layer:2@prefill:5", 4},
                                                {"embedding@decode:8", 1},
                                                {"head@batch:2x4", 2}}) {
    const Ended ended = program(fmt::format("identity --cut {} --chips {}", cut, chips));
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json identity = cut_of(fmt::format("--cut {} --chips {}", cut, chips))["identity"];
    EXPECT_EQ(ended.out,
              fmt::format("{} {} {}\n", identity["cut"].get<std::string>(),
                          identity["chips"].get<int>(), identity["sha256"].get<std::string>()));
  }
}

TEST_F(Flow, AnIdentityDependsOnNeitherFolderNorLocaleNorRun) {
  const Ended here = program("identity --cut prefill:256");
  for (const std::string environment : {"LC_ALL=C", "LC_ALL=de_DE.UTF-8", "TZ=Asia/Tokyo"}) {
    const Ended there =
        shell("env " + environment + " " LOGOS_BINARY_DIR "/bin/program identity --cut prefill:256",
              folder.path().string());
    EXPECT_EQ(there.out, here.out) << environment;
  }
}

TEST_F(Flow, AWrittenTextRunsAsItsCut) {
  const auto file = folder / "cut.lg";
  for (const std::string options : {"--cut decode:8", "--cut prefill:6 --chips 2"}) {
    const Ended written = program("write " + options);
    ASSERT_EQ(written.status, 0) << written.err;
    std::ofstream(file) << written.out;
    EXPECT_EQ(program("check " + file.string()).status, 0);
    EXPECT_EQ(program("identity " + file.string()).out, program("identity " + options).out);
    const json by_text = cut_of("--text " + file.string());
    const json by_cut = cut_of(options);
    EXPECT_EQ(by_text["identity"], by_cut["identity"]);
    EXPECT_EQ(digest(by_text), digest(by_cut));
  }
}

TEST_F(Flow, ATextWithOneByteChangedIsRefusedByBoth) {
  const std::string text = program("write --cut decode:8").out;
  const auto file = folder / "edited.lg";
  const auto both_refuse = [&](std::string_view from, std::string_view to) {
    std::string edited = text;
    const std::size_t at = edited.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    std::ofstream(file) << edited.replace(at, from.size(), to);
    const Ended checked = program("check " + file.string());
    EXPECT_EQ(checked.status, 2) << to;
    EXPECT_THAT(checked.err, HasSubstr("edited.lg")) << to;
    const Ended run = bench("--text " + file.string());
    EXPECT_EQ(run.status, 2) << to;
    EXPECT_EQ(run.out, "") << to;
  };
  both_refuse("Return x + o", "Return o + x");
  both_refuse("input norm", "input morm");
  both_refuse("self_attn.q_proj", "self_attn.k_proj");
  both_refuse(" be 3.\n", " be 3 .\n");
  both_refuse("Show head(x).\n", "Show head(x).");
}

TEST_F(Flow, AnEditedEpsilonIsAnotherProgram) {
  std::string text = program("write --cut decode:8").out;
  const std::string from = "norm_epsilon be 0.00001.";
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, from.size(), "norm_epsilon be 0.00002.");
  const auto file = folder / "epsilon.lg";
  std::ofstream(file) << text;
  EXPECT_EQ(program("check " + file.string()).status, 0);
  EXPECT_NE(program("identity " + file.string()).out, program("identity --cut decode:8").out);
  const Ended run = bench("--model kjv --text " + file.string());
  EXPECT_EQ(run.status, 2) << "the text's facts are not those of the model";
}

TEST_F(Flow, PartsComposeOverChips) {
  for (const std::string cut : {"decode:20", "prefill:9", "batch:3x7"}) {
    const std::string whole = digest(cut_of("--cut " + cut));
    for (const int chips : {1, 2, 4}) {
      EXPECT_EQ(digest(cut_of(fmt::format("--cut head@{} --chips {}", cut, chips))), whole)
          << cut << " over " << chips;
    }
  }
}

TEST_F(Flow, SavedArtifactsGiveTheSameRunAndATruncatedOneIsRefused) {
  const std::string options =
      fmt::format("--cut decode:8 --lanes cuda --artifacts {}", (folder / "kept").string());
  const std::string first = digest(cut_of(options));
  EXPECT_EQ(digest(cut_of(options)), first);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "kept")) {
    files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 1u);
  std::filesystem::resize_file(files[0], std::filesystem::file_size(files[0]) - 1);
  const Ended ended = bench(options);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err + ended.out,
              AllOf(HasSubstr(files[0].filename().string()), HasSubstr("truncated")));
}

TEST_F(Flow, ATruncatedStoreOfWeightsIsSaidAndPackedAgain) {
  const std::string first = digest(cut_of("--cut decode:8"));
  std::vector<std::filesystem::path> stores;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "store")) {
    if (entry.path().extension() == ".weights") stores.push_back(entry.path());
  }
  ASSERT_EQ(stores.size(), 1u);
  const auto whole = std::filesystem::file_size(stores[0]);
  std::filesystem::resize_file(stores[0], whole / 2);
  const Ended ended = bench("--cut decode:8 --format json");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(digest(json::parse(ended.out)["cuts"][0]), first);
  EXPECT_THAT(ended.err, AllOf(HasSubstr(stores[0].filename().string()),
                               HasSubstr(fmt::format("got {} bytes, want {}", whole / 2, whole))));
  EXPECT_EQ(std::filesystem::file_size(stores[0]), whole);
}

TEST_F(Flow, TheEmbeddedModelContinuesItsPromptAlikeOnEveryLane) {
  const json cut = cut_of("--cut decode:64 --generate 24");
  ASSERT_GE(cut["lanes"].size(), 2u);
  const json& generated = cut["lanes"][0]["generated"];
  EXPECT_EQ(generated["tokens"].size(), 24u);
  for (const auto& lane : cut["lanes"]) EXPECT_EQ(lane["generated"], generated) << lane["lane"];
}

}  // namespace
}  // namespace logos
