// What every lane owes: every kind of cut, in the bits of the reference, and every refusal.
#include "tests/contract/contract.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <span>

#include "program/error.h"
#include "program/written.h"

namespace logos::contract {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Printable names for ctest: letters, digits and underscores.
std::string tidy_name(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

using EveryCut = std::tuple<std::string, std::string, std::string>;  // lane, family, cut

class Contract : public ::testing::TestWithParam<EveryCut> {};

TEST_P(Contract, GivesTheBitsOfTheReferenceOnEveryNumberOfChips) {
  const auto& [name, family, cut] = GetParam();
  const bench::LaneEntry lane = lane_named(name);
  const Job whole(family, cut, 1);
  const Inputs inputs = inputs_of(whole, 7);
  const Outcome one_chip = run(bench::reference_entry(), whole, inputs);
  for (const std::int64_t chips : {1, 2, 3}) {
    const Job job(family, cut, chips);
    const Outcome expected = run(bench::reference_entry(), job, inputs);
    const Outcome got = run(lane, job, inputs);
    EXPECT_EQ(difference(expected, got), "") << chips << " chips";
    EXPECT_TRUE(same_outputs(one_chip.result, got.result)) << chips << " chips against one";
    EXPECT_FALSE(got.result.fault) << chips << " chips";
    EXPECT_EQ(got.result.timing.macs, expected.result.timing.macs) << chips << " chips";
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Contract,
                         ::testing::Combine(::testing::ValuesIn(lane_names()),
                                            ::testing::Values("llama", "mistral", "qwen2", "qwen3",
                                                              "kjv"),
                                            ::testing::ValuesIn(cuts())),
                         [](const auto& info) {
                           return tidy_name(std::get<0>(info.param) + "_" +
                                            std::get<1>(info.param) + "_" +
                                            std::get<2>(info.param));
                         });

/// The lanes that compute profile B: all but d5005, whose engine takes multipliers of 8 bits.
std::vector<std::string> lanes_of_profile_b() {
  std::vector<std::string> names = lane_names();
  std::erase(names, "d5005");
  return names;
}

INSTANTIATE_TEST_SUITE_P(ProfileB, Contract,
                         ::testing::Combine(::testing::ValuesIn(lanes_of_profile_b()),
                                            ::testing::Values("gguf"), ::testing::ValuesIn(cuts())),
                         [](const auto& info) {
                           return tidy_name(std::get<0>(info.param) + "_" +
                                            std::get<2>(info.param));
                         });

class Profiles : public ::testing::TestWithParam<std::string> {};

/// A text of one profile never runs on weights of the other; d5005 refuses profile B by its name.
TEST_P(Profiles, AreRefusedOnWeightsOfTheOther) {
  const bench::LaneEntry lane = lane_named(GetParam());
  const Job b("gguf", "decode:5", 1);
  ModelSpec spec = small_model("gguf");
  spec.profile = Profile::kA;
  const Written a = written(spec, Cut::parse("decode:5"));
  const auto weights = synthetic_store(spec, 1);
  const auto attempt = [&](const std::string& text, const Identity& identity,
                           const WeightStore& store) -> std::string {
    try {
      const Artifact artifact = lane.lane->lower(text, identity, store, lane.config);
      Inputs inputs = inputs_of(b, 7);
      lane.lane->run(artifact, identity, store, lane.config, inputs, {});
      return "ran";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(attempt(a.text, a.identity, *weights), "ran");
  if (GetParam() == "d5005") {
    EXPECT_EQ(attempt(b.text, b.identity, *b.weights),
              "d5005: lowering: weights of another profile; got B, want A");
  } else {
    EXPECT_EQ(attempt(b.text, b.identity, *b.weights), "ran");
    EXPECT_THAT(attempt(b.text, b.identity, *weights), HasSubstr("profile"));
  }
  EXPECT_THAT(attempt(a.text, a.identity, *b.weights), HasSubstr("profile"));
}

INSTANTIATE_TEST_SUITE_P(Lanes, Profiles, ::testing::ValuesIn(lane_names()),
                         [](const auto& info) { return info.param; });

class Faults : public ::testing::TestWithParam<std::string> {};

/// A value beyond 2^41 makes its block all zero and raises FAULT (arithmetic.md, section 2); one
/// just below does not.
TEST_P(Faults, StandWhereTheReferenceHasThem) {
  const bench::LaneEntry lane = lane_named(GetParam());
  struct Case {
    std::string cut;
    std::size_t row;
    float value;
    bool faults;
  };
  for (const Case& c :
       {Case{"layer:1@decode:5", 0, -3e13F, true}, Case{"layer:2@prefill:7", 5, 2.2e12F, true},
        Case{"layer:2@batch:3x4", 1, 1e30F, true}, Case{"head@batch:3x4", 2, 4e12F, true},
        Case{"head@decode:5", 0, 2.1e12F, false}}) {
    for (const std::int64_t chips : {1, 2}) {
      const Job job("qwen3", c.cut, chips);
      Inputs inputs = inputs_of(job, 7);
      inputs
          .given[c.row * inputs.given.size() / static_cast<std::size_t>(job.programs[0].rows) + 3] =
          c.value;
      const Outcome expected = run(bench::reference_entry(), job, inputs);
      ASSERT_EQ(expected.result.fault.has_value(), c.faults) << c.cut;
      const Outcome got = run(lane, job, inputs);
      EXPECT_EQ(difference(expected, got), "") << c.cut << ", " << chips << " chips";
      ASSERT_EQ(got.result.fault.has_value(), c.faults) << c.cut << ", " << chips << " chips";
      if (!c.faults) continue;
      EXPECT_EQ(got.result.fault->layer, expected.result.fault->layer) << c.cut;
      EXPECT_EQ(got.result.fault->line, expected.result.fault->line) << c.cut;
    }
  }
}

/// Weights some of whose tensors are this many times as large.
class LouderWeights : public WeightStore {
 public:
  LouderWeights(const WeightStore& store, std::vector<std::pair<std::string, float>> factors)
      : store_(store), factors_(std::move(factors)), sha256_(sha256_hex(store.sha256() + name())) {}

  MatrixView matrix(std::string_view tensor) const override {
    MatrixView view = store_.matrix(tensor);
    view.scales = louder(tensor, view.scales);
    return view;
  }
  std::span<const float> vector(std::string_view tensor) const override {
    return louder(tensor, store_.vector(tensor));
  }
  const std::string& sha256() const override { return sha256_; }
  const std::filesystem::path& file() const override { return store_.file(); }

 private:
  std::string name() const {
    std::string text;
    for (const auto& [part, factor] : factors_) text += fmt::format(" {} {}", part, factor);
    return text;
  }
  std::span<const float> louder(std::string_view tensor, std::span<const float> values) const {
    std::vector<float>& own = own_[std::string(tensor)];
    own.assign(values.begin(), values.end());
    for (const auto& [part, factor] : factors_) {
      if (tensor.find(part) == std::string_view::npos) continue;
      for (float& value : own) value *= factor;
    }
    return own;
  }

  const WeightStore& store_;
  std::vector<std::pair<std::string, float>> factors_;
  std::string sha256_;
  mutable std::map<std::string, std::vector<float>> own_;
};

/// A norm quantizes what it reads, and what it gives is quantized: the same tensors, but each has a
/// line of its own.
TEST_P(Faults, OfANormAndOfWhatFollowsItHaveLinesOfTheirOwn) {
  const bench::LaneEntry lane = lane_named(GetParam());
  const std::vector<std::vector<std::pair<std::string, float>>> cases = {
      {{"input_layernorm", 0x1p40F}},                       // what the first norm gives
      {{"input_layernorm", 0x1p30F}, {"q_proj", 0x1p18F}},  // what a query's norm reads
      {{"q_norm", 0x1p40F}},                                // what it gives
      {{"input_layernorm", 0x1p30F}, {"k_proj", 0x1p18F}},  // the same of keys
      {{"k_norm", 0x1p40F}},
      {{"input_layernorm", 0x1p30F}, {"v_proj", 0x1p18F}},  // values have no norm
      {{"post_attention_layernorm", 0x1p40F}}};
  std::set<int> lines;
  for (const auto& factors : cases) {
    for (const std::int64_t chips : {1, 2}) {
      SCOPED_TRACE(testing::Message() << factors.back().first << ", " << chips << " chips");
      Job job("qwen3", "layer:1@prefill:7", chips);
      const LouderWeights weights(*job.weights, factors);
      job.weights = &weights;
      Inputs inputs = inputs_of(job, 7);
      inputs.given[5] = 1e3F;  // a norm makes almost sqrt(96) of it
      const Outcome expected = run(bench::reference_entry(), job, inputs);
      ASSERT_TRUE(expected.result.fault);
      const Outcome got = run(lane, job, inputs);
      EXPECT_EQ(difference(expected, got), "");
      ASSERT_TRUE(got.result.fault);
      EXPECT_EQ(got.result.fault->line, expected.result.fault->line);
      if (chips == 1) lines.insert(expected.result.fault->line);
    }
  }
  EXPECT_EQ(lines.size(), cases.size());
}

INSTANTIATE_TEST_SUITE_P(Lanes, Faults, ::testing::ValuesIn(lane_names()),
                         [](const auto& info) { return info.param; });

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class Refusals : public ::testing::TestWithParam<std::string> {
 protected:
  Refusals()
      : lane(lane_named(GetParam())),
        job("llama", "decode:5", 1),
        artifact(lane.lane->lower(job.text, job.identity, *job.weights, lane.config)) {}

  std::string run_error(const Artifact& changed, const Identity& asked,
                        const WeightStore& weights) {
    Inputs inputs = inputs_of(job, 7);
    return error_of([&] { lane.lane->run(changed, asked, weights, lane.config, inputs, {}); });
  }
  std::string lower_error(const std::string& text, const Identity& asked) {
    return error_of([&] { lane.lane->lower(text, asked, *job.weights, lane.config); });
  }
  std::string replaced(std::string_view from, std::string_view to) const {
    std::string text = job.text;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  bench::LaneEntry lane;
  Job job;
  Artifact artifact;
};

TEST_P(Refusals, TheArtifactIsItsOwn) {
  EXPECT_EQ(artifact.lane, GetParam());
  EXPECT_EQ(artifact.identity, job.identity);
  EXPECT_EQ(artifact.weights_sha256, job.weights->sha256());
  EXPECT_EQ(artifact.config_sha256, lane.config.sha256());
  EXPECT_EQ(run_error(artifact, job.identity, *job.weights), "");
}

TEST_P(Refusals, LoweringTwiceGivesTheSameBytes) {
  EXPECT_EQ(serialise(artifact),
            serialise(lane.lane->lower(job.text, job.identity, *job.weights, lane.config)));
}

TEST_P(Refusals, ARunOfAnotherIdentityNamesBoth) {
  const Job other("llama", "decode:6", 1);
  EXPECT_THAT(run_error(artifact, other.identity, *job.weights),
              AllOf(HasSubstr(job.identity.sha256), HasSubstr(other.identity.sha256)));
  const Job split("llama", "decode:5", 2);
  EXPECT_THAT(run_error(artifact, split.identity, *job.weights),
              AllOf(HasSubstr(job.identity.text()), HasSubstr(split.identity.text())));
}

TEST_P(Refusals, ARunOnOtherWeightsNamesBothDigests) {
  const WeightStore& other = small_weights("llama", 2);
  ASSERT_NE(other.sha256(), job.weights->sha256());
  EXPECT_THAT(run_error(artifact, job.identity, other),
              AllOf(HasSubstr(job.weights->sha256()), HasSubstr(other.sha256())));
}

TEST_P(Refusals, AnArtifactOfAnotherLaneOrConfigurationIsRefused) {
  Artifact changed = artifact;
  changed.lane = "another";
  EXPECT_THAT(run_error(changed, job.identity, *job.weights),
              AllOf(HasSubstr("another"), HasSubstr(GetParam())));
  changed = artifact;
  changed.config_sha256 = sha256_hex("another");
  EXPECT_THAT(run_error(changed, job.identity, *job.weights),
              AllOf(HasSubstr(changed.config_sha256), HasSubstr(lane.config.sha256())));
}

TEST_P(Refusals, ATruncatedPayloadIsRefused) {
  for (const std::size_t size :
       {std::size_t{0}, artifact.payload.size() / 2, artifact.payload.size() - 1}) {
    Artifact changed = artifact;
    changed.payload.resize(size);
    EXPECT_NE(run_error(changed, job.identity, *job.weights), "") << size << " bytes";
  }
}

TEST_P(Refusals, ASavedArtifactRunsAndADamagedOneDoesNotLoad) {
  const auto file = job.weights->file().parent_path() / ("saved." + GetParam());
  save(artifact, file);
  EXPECT_EQ(run_error(load_artifact(file), job.identity, *job.weights), "");
  std::string bytes = serialise(artifact);
  for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 97) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_NE(error_of([&] { parse_artifact(damaged, "damaged"); }), "") << "byte " << at;
  }
  std::filesystem::remove(file);
}

TEST_P(Refusals, LoweringForAnotherIdentityNamesBoth) {
  const Job other("llama", "decode:6", 1);
  EXPECT_THAT(lower_error(job.text, other.identity),
              AllOf(HasSubstr(job.identity.sha256), HasSubstr(other.identity.sha256)));
}

TEST_P(Refusals, AnEditedNumberIsAnotherProgram) {
  EXPECT_THAT(
      lower_error(replaced("norm_epsilon be 0.00001", "norm_epsilon be 0.00002"), job.identity),
      HasSubstr(job.identity.sha256));
}

TEST_P(Refusals, ATextThatNoAuthorWroteIsNotLowered) {
  EXPECT_NE(lower_error(replaced("Return x + o.", "Return o + x."), job.identity), "");
  EXPECT_NE(lower_error(replaced("input_layernorm", "input_layernorn"), job.identity), "");
  EXPECT_NE(lower_error(job.text + "\n", job.identity), "");
  EXPECT_NE(lower_error("", job.identity), "");
}

TEST_P(Refusals, AttentionWhoseSumsCouldLeaveInt64IsNotLowered) {
  const auto error_for = [&](const std::string& family) {
    const Job near(family, "decode:5", 1);
    Cut cut;
    cut.context = 33554433;
    const Written far = written(small_model(family), cut);
    return error_of([&] { lane.lane->lower(far.text, far.identity, *near.weights, lane.config); });
  };
  EXPECT_THAT(error_for("llama"), HasSubstr("got 33554433 positions, want at most 33554432"));
  // It sees a window of them; a machine may still not hold so many.
  EXPECT_THAT(error_for("mistral"), testing::AnyOf("", HasSubstr("does not fit")));
}

TEST_P(Refusals, ARunsOwnInputsInTheTextAreTheSameProgram) {
  const std::string text = replaced("Let tokens be [1].\nLet positions be [1].",
                                    "Let tokens be [97].\nLet positions be [5].");
  EXPECT_EQ(lower_error(text, job.identity), "");
}

TEST_P(Refusals, InputsThatDoNotFitAreRefused) {
  const auto error = [&](const std::function<void(Inputs&)>& change) {
    Inputs inputs = inputs_of(job, 7);
    change(inputs);
    return error_of(
        [&] { lane.lane->run(artifact, job.identity, *job.weights, lane.config, inputs, {}); });
  };
  EXPECT_THAT(error([](Inputs& i) { i.tokens[0] = 98; }), HasSubstr("98"));
  EXPECT_THAT(error([](Inputs& i) { i.tokens[0] = 0; }), HasSubstr("vocabulary"));
  EXPECT_THAT(error([](Inputs& i) { i.positions[0] = 6; }), HasSubstr("got 6"));
  EXPECT_NE(error([](Inputs& i) { i.caches.clear(); }), "");
}

INSTANTIATE_TEST_SUITE_P(Lanes, Refusals, ::testing::ValuesIn(lane_names()),
                         [](const auto& info) { return tidy_name(info.param); });

}  // namespace
}  // namespace logos::contract
