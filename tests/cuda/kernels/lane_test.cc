// What may change how a run goes, but not a bit; what is refused; what is reported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "cuda/plan.h"
#include "program/error.h"
#include "scoring.h"
#include "tests/small_shape.h"

namespace logos::cuda::testing {
namespace {

using ::testing::HasSubstr;

/// Odd sizes everywhere: no share, group or tile is filled.
ModelSpec odd_spec() {
  ModelSpec spec = small_shape(75, 6, 3, 20, 172);
  spec.norm_epsilon = 1e-6;
  return spec;
}
ModelSpec with_bias_and_window() {
  ModelSpec spec = odd_spec();
  spec.qkv_bias = true;
  spec.window = 9;
  spec.tied_head = true;
  return spec;
}
ModelSpec with_head_norms() {
  ModelSpec spec = odd_spec();
  spec.qk_norm = true;
  spec.rotary.kind = Rotary::Kind::kLinear;
  spec.rotary.factor = 4;
  return spec;
}

const std::vector<std::int64_t> kTokens = {0,  96, 5,  5, 31, 64, 33, 1,  2, 90, 47, 48,
                                           49, 8,  11, 3, 76, 20, 19, 18, 0, 95, 50};

class OddModel : public ::testing::TestWithParam<int> {
 protected:
  OddModel()
      : model_(GetParam() == 0   ? odd_spec()
               : GetParam() == 1 ? with_bias_and_window()
                                 : with_head_norms(),
               7) {}
  Scoring scoring(const Lane& lane) const {
    Scoring scoring{lane, model_};
    scoring.context = 64;
    return scoring;
  }
  Model model_;
};

TEST_P(OddModel, GivesTheSameBitsHoweverItIsRun) {
  const CudaLane plain(plain_host());
  const CudaLane checked(checked_host());
  const std::string want = digest(scoring(plain).by_steps(kTokens));
  for (const std::size_t chunk : {1, 2, 7, 23}) {
    EXPECT_EQ(digest(scoring(plain).by_chunks(kTokens, chunk)), want) << "chunks of " << chunk;
  }
  const auto batch = scoring(plain).by_batches({kTokens, kTokens, kTokens});
  for (const auto& logits : batch) EXPECT_EQ(digest(logits), want);
  for (std::int64_t chips = 2; chips <= 6; ++chips) {
    Scoring split = scoring(checked);
    split.chips = chips;
    EXPECT_EQ(digest(split.by_chunks(kTokens, 12)), want) << chips << " chips";
  }
  for (const std::int64_t gemm_rows : {1, 1000}) {
    Scoring other = scoring(checked);
    other.config = gpu_config(gemm_rows);
    EXPECT_EQ(digest(other.by_chunks(kTokens, 20)), want) << "gemm_rows " << gemm_rows;
  }
}

TEST_P(OddModel, DoesNotSeeTheFillOrTheSeed) {
  const CudaLane checked(checked_host());
  const std::string want = digest(scoring(checked).by_steps(kTokens));
  std::uint64_t seed = 1;
  for (const std::uint32_t fill : {0U, 0xFFFFFFFFU, 0x7FC00000U, 0x7F800001U, 0x80808080U}) {
    for (const std::int64_t chips : {1, 5}) {
      Scoring filled = scoring(checked);
      filled.options.fill = fill;
      filled.options.seed = ++seed;
      filled.chips = chips;
      EXPECT_EQ(digest(filled.by_chunks(kTokens, 11)), want)
          << "fill " << fill << ", seed " << seed << ", " << chips << " chips";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OddModel, ::testing::Range(0, 3));

/// A model with one layer and the pieces that the tests below share.
struct Small {
  Small() : model(odd_spec(), 3), lane(plain_host()) {}
  Inputs step_inputs() const {
    Inputs inputs;
    inputs.tokens = {4};
    inputs.positions = {1};
    inputs.caches.push_back(empty_cache(model.spec, 16));
    return inputs;
  }
  Model model;
  CudaLane lane;
  LaneConfig config = gpu_config();
};

template <typename Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CudaLane, ReportsTheFirstOperationThatRaisedAFault) {
  Small small;
  const Lowered layer = lower(small.lane, small.model, "layer:2@prefill:3", small.config);
  const auto fault_of = [&](float x) {
    Inputs inputs;
    inputs.positions = {1, 2, 3};
    inputs.given.assign(3 * 75, 1.0F);
    inputs.given[80] = x;
    inputs.caches.push_back(empty_cache(small.model.spec, 16));
    return run(small.lane, small.model, layer, small.config, inputs).fault;
  };
  EXPECT_FALSE(fault_of(1.0F));
  EXPECT_FALSE(fault_of(0x1.8p40F));
  for (const float x :
       {0x1p41F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const auto fault = fault_of(x);
    ASSERT_TRUE(fault) << x;
    EXPECT_EQ(fault->layer, 2);
    const Program program = read_program(layer.cut.text, "test");
    EXPECT_THAT(program.lines.at(static_cast<std::size_t>(fault->line - 1)),
                HasSubstr("Let input_norm be rms_norm"));
  }
}

TEST(CudaLane, IsDeterministicInItsArtifactAndTakesItBack) {
  Small small;
  const Lowered step = lower(small.lane, small.model, "decode:16", small.config, 2);
  EXPECT_EQ(step.artifact.payload,
            lower(small.lane, small.model, "decode:16", small.config, 2).artifact.payload);
  const Plan plan = parse_plan(step.artifact.payload, "test");
  EXPECT_EQ(serialise_plan(plan), step.artifact.payload);
  const Artifact read = parse_artifact(serialise(step.artifact), "test");
  Inputs first = small.step_inputs();
  Inputs second = small.step_inputs();
  const Result a = run(small.lane, small.model, step, small.config, first);
  const Result b =
      small.lane.run(read, step.cut.identity, *small.model.store, small.config, second, {});
  EXPECT_EQ(digest(a.outputs), digest(b.outputs));
  EXPECT_EQ(first.caches[0].layer(1).keys, second.caches[0].layer(1).keys);
}

TEST(CudaLane, DescribesItsPlan) {
  Small small;
  const Lowered step = lower(small.lane, small.model, "decode:16", small.config);
  const std::string text = describe(parse_plan(step.artifact.payload, "test"), 16);
  for (const char* part : {"1 rows on 1 chips", "embed_rows grid 1x1x1", "product_dp4a_1",
                           "attention_values", "gives residual_2 of layer 2", "weight_bytes"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(CudaLane, RefusesAnotherProgramOtherWeightsAndAnotherConfiguration) {
  Small small;
  const Lowered step = lower(small.lane, small.model, "decode:16", small.config);
  const Lowered other = lower(small.lane, small.model, "decode:17", small.config);
  const Model weights(odd_spec(), 4);
  LaneConfig config = gpu_config(5);
  Inputs inputs = small.step_inputs();
  const auto refusal = [&](const Identity& asked, const WeightStore& store,
                           const LaneConfig& lane_config) {
    return message_of(
        [&] { small.lane.run(step.artifact, asked, store, lane_config, inputs, {}); });
  };
  const std::string program = refusal(other.cut.identity, *small.model.store, small.config);
  EXPECT_THAT(program, HasSubstr(step.cut.identity.sha256));
  EXPECT_THAT(program, HasSubstr(other.cut.identity.sha256));
  const std::string store = refusal(step.cut.identity, *weights.store, small.config);
  EXPECT_THAT(store, HasSubstr(small.model.store->sha256()));
  EXPECT_THAT(store, HasSubstr(weights.store->sha256()));
  const std::string gpu = refusal(step.cut.identity, *small.model.store, config);
  EXPECT_THAT(gpu, HasSubstr(small.config.sha256()));
  EXPECT_THAT(gpu, HasSubstr(config.sha256()));
}

TEST(CudaLane, RefusesATextThatIsNotGenuineOrNotTheOneAskedFor) {
  Small small;
  const Written step = written(small.model.spec, Cut::parse("decode:16"));
  const Written other = written(small.model.spec, Cut::parse("decode:17"));
  const std::string asked = message_of(
      [&] { small.lane.lower(step.text, other.identity, *small.model.store, small.config); });
  EXPECT_THAT(asked, HasSubstr(step.identity.sha256));
  EXPECT_THAT(asked, HasSubstr(other.identity.sha256));
  std::string edited = step.text;
  edited.replace(edited.find("0.000001"), 8, "0.000002");
  EXPECT_NE(message_of(
                [&] { small.lane.lower(edited, step.identity, *small.model.store, small.config); }),
            "");
}

TEST(CudaLane, RefusesWhatTheMemoryOfTheGpuDoesNotHold) {
  Small small;
  const Setting setting("memory_bytes", "100000");
  const LaneConfig config =
      load_gpu_config(std::filesystem::path(LOGOS_SOURCE_DIR) / "configs" / "gpus" / kDefaultGpu,
                      std::span(&setting, 1));
  const Written step = written(small.model.spec, Cut::parse("decode:16"));
  const std::string refusal =
      message_of([&] { small.lane.lower(step.text, step.identity, *small.model.store, config); });
  EXPECT_THAT(refusal, HasSubstr("100000 bytes"));
  EXPECT_THAT(refusal, HasSubstr("bytes of weights"));
}

TEST(CudaLane, RefusesCachesWhoseBytesDoNotFit64Bits) {
  ModelSpec spec = odd_spec();
  spec.window = 9;
  const Model model(spec, 3);
  const CudaLane lane(plain_host());
  const Written vast = written(spec, Cut::parse("layer:1@batch:1048576x2147483647"));
  EXPECT_THAT(message_of([&] { lane.lower(vast.text, vast.identity, *model.store, gpu_config()); }),
              HasSubstr("memory of the GPU"));
}

TEST(CudaLane, RefusesInputsThatDoNotFit) {
  Small small;
  const Lowered step = lower(small.lane, small.model, "decode:16", small.config);
  const auto refusal = [&](auto&& change) {
    Inputs inputs = small.step_inputs();
    change(inputs);
    return message_of([&] { run(small.lane, small.model, step, small.config, inputs); });
  };
  EXPECT_NE(refusal([](Inputs& i) { i.tokens = {98}; }), "");
  EXPECT_NE(refusal([](Inputs& i) { i.tokens = {0}; }), "");
  EXPECT_NE(refusal([](Inputs& i) { i.tokens.clear(); }), "");
  EXPECT_NE(refusal([](Inputs& i) { i.positions = {17}; }), "");
  EXPECT_NE(refusal([](Inputs& i) { i.positions = {0}; }), "");
  EXPECT_NE(refusal([](Inputs& i) { i.caches.clear(); }), "");
  EXPECT_NE(refusal([](Inputs& i) { i.given = {1.0F}; }), "");
  EXPECT_EQ(refusal([](Inputs&) {}), "");
}

TEST(CudaLane, TimesARunWithItsClassAndItsUsefulBytes) {
  Small small;
  const Lowered step = lower(small.lane, small.model, "decode:16", small.config);
  Inputs inputs = small.step_inputs();
  const Timing timing = run(small.lane, small.model, step, small.config, inputs).timing;
  EXPECT_EQ(timing.time_class, TimeClass::kModelled);
  EXPECT_GT(timing.seconds, 0);
  EXPECT_THAT(timing.remark, HasSubstr("+-30 %"));
  // Two layers: q, k, v, o over 75 and 120 columns; gate, up, down; the head. Attention sees one
  // position with 6 heads of 20.
  const std::uint64_t layer = 75 * (120 + 60 + 60) + 120 * 75 + 3 * 75 * 172 + 2 * 6 * 20;
  EXPECT_EQ(timing.macs, 2 * layer + 75 * 97);
  EXPECT_GT(timing.bytes.at("hbm"), timing.macs);
  EXPECT_LT(timing.bytes.at("hbm"), 2 * timing.macs);
}

TEST(CudaLane, RefusesAPlanOfVastSizesOrOfSharesThatAreNone) {
  Small small;
  const Lowered step = lower(small.lane, small.model, "decode:16", small.config);
  const auto refusal = [&](auto&& change) {
    Plan plan = parse_plan(step.artifact.payload, "test");
    change(plan);
    Lowered damaged = step;
    damaged.artifact.payload = serialise_plan(plan);
    Inputs inputs = small.step_inputs();
    return message_of([&] { run(small.lane, small.model, damaged, small.config, inputs); });
  };
  EXPECT_EQ(refusal([](Plan&) {}), "");
  EXPECT_THAT(refusal([](Plan& plan) {
                plan.vectors.resize(5000, {"model.norm.weight", (std::int64_t{1} << 31) - 1});
              }),
              HasSubstr("memory of the GPU"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.columns = std::int64_t{1} << 50; }),
              HasSubstr("columns of the rows"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.groups.front().shares.clear(); }),
              HasSubstr("launches of no operation"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.groups.front().shares.front().operation = 9999; }),
              HasSubstr("a share of no operation"));
}

/// Every byte of a payload changed, and every length of it: refused with a message, or, where the
/// plan stays one that the checks allow (an unused number), run within its buffers.
TEST(CudaLane, SurvivesDamagedPayloads) {
  Small small;
  CudaLane lane(checked_host());
  const Lowered step = lower(lane, small.model, "layer:1@decode:16", small.config, 2);
  std::mt19937_64 random(11);
  int refused = 0;
  const auto attempt = [&](std::string payload) {
    Artifact artifact = step.artifact;
    artifact.payload = std::move(payload);
    Inputs inputs;
    inputs.positions = {3};
    inputs.given.assign(75, 1.0F);
    inputs.caches.push_back(empty_cache(small.model.spec, 16));
    try {
      lane.run(artifact, step.cut.identity, *small.model.store, small.config, inputs, {});
    } catch (const Error&) {
      ++refused;
    }
  };
  const std::string& good = step.artifact.payload;
  attempt(good);
  ASSERT_EQ(refused, 0);
  for (int i = 0; i < 60; ++i) attempt(good.substr(0, random() % good.size()));
  EXPECT_EQ(refused, 60);
  attempt(good + " ");
  attempt("");
  EXPECT_EQ(refused, 62);
  // A digit changed to another: the kind of damage that stays JSON.
  int changed = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string bad = good;
    const std::size_t at = random() % bad.size();
    if (bad[at] < '0' || bad[at] > '9') continue;
    bad[at] = static_cast<char>('0' + (bad[at] - '0' + 1 + static_cast<int>(random() % 9)) % 10);
    attempt(std::move(bad));
    ++changed;
  }
  // A number made large.
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    const std::size_t at = bad.find_first_of("0123456789", random() % bad.size());
    if (at == std::string::npos) continue;
    const std::size_t end = bad.find_first_not_of("0123456789", at);
    const char* const numbers[] = {"2147483647", "1125899906842624", "65536",
                                   "18446744073709551615"};
    bad.replace(at, end - at, numbers[random() % 4]);
    attempt(std::move(bad));
    ++changed;
  }
  EXPECT_GT(changed, 1000);
  EXPECT_GT(refused, changed / 2);
}

}  // namespace
}  // namespace logos::cuda::testing
