// The reference as a lane: what it refuses, what it reports, where it says FAULT was raised.
#include "sim/reference/reference_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "program/error.h"
#include "tests/sim/reference/test_model.h"

namespace logos {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class ReferenceLaneTest : public testing::Test {
 protected:
  void SetUp() override {
    model_ = synthetic_model(odd_spec());
    written_ = decode_at(model_.spec, 8, 3, 2);
    inputs_.tokens = {3};
    inputs_.positions = {2};
    inputs_.caches.push_back(model_.cache(8));
  }

  Artifact lower() const {
    return lane_.lower(written_.text, written_.identity, *model_.weights, config_);
  }
  Result run(const Artifact& artifact, const RunOptions& options = {}) {
    return lane_.run(artifact, written_.identity, *model_.weights, config_, inputs_, options);
  }

  ReferenceLane lane_;
  LaneConfig config_;
  TestModel model_;
  Written written_;
  Inputs inputs_;
};

TEST_F(ReferenceLaneTest, LoweringIsDeterministicAndNamesWhatItWasMadeFrom) {
  const Artifact artifact = lower();
  EXPECT_EQ(artifact.lane, "reference");
  EXPECT_EQ(artifact.identity, written_.identity);
  EXPECT_EQ(artifact.weights_sha256, model_.weights->sha256());
  EXPECT_EQ(artifact.config_sha256, config_.sha256());
  EXPECT_EQ(serialise(artifact), serialise(lower()));
}

TEST_F(ReferenceLaneTest, ATextThatNoAuthorWroteIsRefused) {
  std::string text = written_.text;
  text.replace(text.find("0.00001"), 7, "0.00002");
  EXPECT_THROW(lane_.lower(text, written_.identity, *model_.weights, config_), Error);
}

TEST_F(ReferenceLaneTest, WeightsOfAnotherProfileAreRefused) {
  for (const Profile profile : {Profile::kA, Profile::kB}) {
    const TestModel model = synthetic_model(blocks_spec());  // profile B
    ModelSpec spec = model.spec;
    spec.profile = profile;
    const Written text = decode_at(spec, 8, 3, 2);
    const auto lower = [&] { lane_.lower(text.text, text.identity, *model.weights, config_); };
    if (profile == Profile::kB) {
      EXPECT_NO_THROW(lower());
    } else {
      EXPECT_THAT(lower, ThrowsMessage<Error>(testing::StrEq(
                             "model.embed_tokens.weight: encoded in another profile; got OFA-1 "
                             "profile B, want OFA-1 profile A")));
    }
  }
}

TEST_F(ReferenceLaneTest, AnotherConfigurationIsRefused) {
  const LaneConfig other{"{\"rows\":8}"};
  EXPECT_THAT(([&] { lane_.lower(written_.text, written_.identity, *model_.weights, other); }),
              ThrowsMessage<Error>(HasSubstr("{\"rows\":8}")));
}

TEST_F(ReferenceLaneTest, AnotherArtifactIsRefused) {
  Artifact artifact = lower();
  artifact.weights_sha256[0] = artifact.weights_sha256[0] == '0' ? '1' : '0';
  EXPECT_THAT(([&] { run(artifact); }), ThrowsMessage<Error>(HasSubstr(artifact.weights_sha256)));
}

TEST_F(ReferenceLaneTest, WeightsOfAnotherShapeAreRefusedAtLowering) {
  ModelSpec wider = odd_spec();
  wider.hidden_columns = 173;
  const TestModel other = synthetic_model(wider);
  EXPECT_THAT(([&] { lane_.lower(written_.text, written_.identity, *other.weights, config_); }),
              ThrowsMessage<Error>(
                  testing::AllOf(HasSubstr("gate_proj"), HasSubstr("173"), HasSubstr("172"))));
}

TEST_F(ReferenceLaneTest, NoThreadIsRefused) {
  RunOptions options;
  options.threads = 0;
  EXPECT_THAT(([&] { run(lower(), options); }), ThrowsMessage<Error>(HasSubstr("threads")));
}

TEST_F(ReferenceLaneTest, InputsThatDoNotFitAreRefused) {
  inputs_.positions = {9};
  EXPECT_THROW(run(lower()), Error);
}

TEST_F(ReferenceLaneTest, TimeIsMeasuredAndWorkIsCounted) {
  const Result result = run(lower());
  EXPECT_EQ(result.rows, 1);
  EXPECT_EQ(result.columns, 97);
  EXPECT_EQ(result.outputs.size(), 97u);
  EXPECT_EQ(result.timing.time_class, TimeClass::kMeasured);
  EXPECT_GT(result.timing.seconds, 0.0);
  // Matrices [rows, columns] of a layer, twice; the head; two positions by nine heads of ten.
  const std::uint64_t layer = 90 * 75 + 2 * 30 * 75 + 75 * 90 + 2 * 172 * 75 + 75 * 172;
  const std::uint64_t attention = 2 * 9 * 10 * 2;
  EXPECT_EQ(result.timing.macs, 2 * (layer + attention) + 97 * 75);
  // A multiplier a group of 32, a scale a row; a row of the embedding; 2 positions read and 1
  // written of 3 heads, keys and values.
  const std::uint64_t rows_of_75 = 90 + 2 * 30 + 2 * 172;
  const std::uint64_t weights = layer + rows_of_75 * (3 + 4) + 75 * (3 + 4) + 75 * (6 + 4);
  const std::uint64_t cache = (2 + 1) * 3 * (20 + 1) * 2;
  EXPECT_EQ(result.timing.bytes.at("ram"), 2 * (weights + cache) + 98 * (75 + 3 + 4));
}

/// The line of a text's placeholder form that begins with `beginning`.
int line_of(const std::string& text, const std::string& beginning) {
  const std::size_t at = text.find("\n    " + beginning);
  EXPECT_NE(at, std::string::npos);
  return 2 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

TEST_F(ReferenceLaneTest, FaultNamesItsFirstLineOnAnyNumberOfChips) {
  for (const std::int64_t chips : {1, 2, 9}) {
    Cut cut;
    cut.part = Cut::Part::kLayer;
    cut.layer = 2;
    cut.context = 8;
    Inputs inputs;
    inputs.positions = {1};
    inputs.caches.push_back(model_.cache(8));
    inputs.given.assign(75, 1.0f);
    const Written layer = split_at(model_.spec, cut, chips, {}, inputs.positions);
    EXPECT_FALSE(run_reference(layer, model_, inputs).fault);
    inputs.given[74] = std::numeric_limits<float>::infinity();
    const Result result = run_reference(layer, model_, inputs);
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->layer, 2);
    EXPECT_EQ(result.fault->line, line_of(layer.text, "Let input_norm be"));
  }
}

}  // namespace
}  // namespace logos
