#include "spatial/lowering/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "program/error.h"
#include "spatial/lowering/check_plan.h"
#include "spatial/plan/plan_bytes.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

using Case = std::tuple<std::string, int>;  // family, text chips

class EveryCut : public testing::TestWithParam<Case> {
 protected:
  /// Lowers every cut for every shape of chip.
  template <typename Visit>
  void for_each_plan(const Visit& visit) const {
    const auto& [family, chips] = GetParam();
    for (const char* cut :
         {"decode:5", "prefill:12", "batch:11x4", "prefill:1", "embedding@decode:5",
          "embedding@prefill:7", "embedding@batch:3x4", "layer:1@decode:5", "layer:2@prefill:7",
          "layer:2@batch:3x4", "head@decode:5", "head@prefill:7", "head@batch:3x4"}) {
      const Job job = job_of(family, cut, chips);
      for (const auto& [chip, settings] : chips_) {
        SCOPED_TRACE(testing::Message() << family << ' ' << cut << ' ' << chips << " on " << chip
                                        << (settings.empty() ? "" : settings.front().second));
        const ChipConfig config = chip_named(chip, settings);
        visit(job, config, lower_programs(job.facts, job.programs, config));
      }
    }
  }

 private:
  std::vector<std::pair<std::string, Settings>> chips_ = {
      {"tiles-256.json", {}},
      {"tiles-256.json", {{"placement", "shared"}}},
      {"tiles-256.json", {{"layer_tiles", "9"}, {"head_tiles", "7"}}},
      {"small.json", {}},
      {"northpole-like.json", {{"streams", "1"}}}};
};

INSTANTIATE_TEST_SUITE_P(Lowering, EveryCut,
                         testing::Combine(testing::Values("kjv", "llama", "mistral", "qwen2",
                                                          "qwen3"),
                                          testing::Values(1, 2, 3)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_over_" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(EveryCut, HasAPlanThatPassesItsChecksAndIsReadBack) {
  for_each_plan([](const Job& job, const ChipConfig& config, const Plan& plan) {
    check_plan(plan, config, job.facts.chips, WeightSizes(job), "plan");
    const std::string bytes = serialise_plan(plan);
    EXPECT_EQ(serialise_plan(parse_plan(bytes, "plan")), bytes);
    EXPECT_EQ(serialise_plan(lower_programs(job.facts, job.programs, config)), bytes);
  });
}

/// Rows of a stage's matrices that its tiles hold, by the steps that multiply by them.
std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> rows_held(
    const Plan& plan) {
  std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> held;
  for (const Stage& stage : plan.stages) {
    for (const Step& step : stage.steps) {
      const bool multiplies = step.opcode == Opcode::kProduct || step.opcode == Opcode::kEmbed;
      if (!multiplies || step.chunk > 0) continue;
      for (const int matrix : step.matrices) {
        const StageMatrix& of = stage.matrices[static_cast<std::size_t>(matrix)];
        if (of.column_share.size() != of.columns) continue;  // each row on every text chip
        for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
          const Share share = stage.partitions[static_cast<std::size_t>(step.partition)].of(tile);
          held[of.tensor + (step.opcode == Opcode::kEmbed ? " embedded" : "")].emplace_back(
              share.begin, share.end);
        }
      }
    }
  }
  return held;
}

TEST_P(EveryCut, GivesEachMatrixRowToOneTile) {
  for_each_plan([](const Job& job, const ChipConfig&, const Plan& plan) {
    for (auto& [tensor, shares] : rows_held(plan)) {
      std::int64_t next = 0;
      for (const auto& [begin, end] : shares) {
        EXPECT_EQ(begin, next) << tensor;
        EXPECT_GT(end, begin) << tensor;
        next = end;
      }
      const std::string name = tensor.substr(0, tensor.find(' '));
      EXPECT_EQ(next, WeightSizes(job).matrix(name).rows) << tensor;
    }
  });
}

TEST_P(EveryCut, GivesEveryHeadAnOwnerInItsGroup) {
  for_each_plan([](const Job&, const ChipConfig&, const Plan& plan) {
    for (const Stage& stage : plan.stages) {
      std::int64_t queries = 0;
      std::int64_t first = 0;
      for (const Group& group : stage.groups) {
        EXPECT_EQ(group.first_query, queries);
        EXPECT_GE(group.queries, 1);
        queries += group.queries;
        for (const HeadVector& vector : group.vectors) {
          EXPECT_GE(vector.owner, group.first_tile);
          EXPECT_LT(vector.owner, group.first_tile + group.tiles);
          const Share rows =
              stage.partitions[static_cast<std::size_t>(stage.projection)].of(vector.owner);
          EXPECT_LE(rows.begin, first);
          EXPECT_GT(rows.end, first);
          first += plan.head_columns;
        }
      }
      EXPECT_EQ(queries, stage.query_heads.size());
    }
  });
}

TEST_P(EveryCut, WaitsForEveryBufferBeforeItIsReadAndReleasesIt) {
  for_each_plan([](const Job&, const ChipConfig&, const Plan& plan) {
    for (const Stage& stage : plan.stages) {
      std::map<int, int> full;  // chunks waited for and not released
      for (const Step& step : stage.steps) {
        if (step.opcode == Opcode::kWait) {
          EXPECT_EQ(full[step.buffer]++, step.chunk);
        } else if (step.opcode == Opcode::kRelease) {
          const Buffer& buffer = stage.buffers[static_cast<std::size_t>(step.buffer)];
          EXPECT_EQ(std::exchange(full[step.buffer], 0), static_cast<int>(buffer.expected.size()));
        } else if (step.buffer >= 0) {
          EXPECT_GT(full[step.buffer], step.chunk);
        }
      }
      for (const auto& [buffer, chunks] : full) EXPECT_EQ(chunks, 0) << buffer;
      EXPECT_EQ(stage.steps.back().opcode, Opcode::kDone);
    }
  });
}

TEST_P(EveryCut, MultipliesAllColumnsOfDownInWholeGroups) {
  for_each_plan([](const Job&, const ChipConfig&, const Plan& plan) {
    for (const Stage& stage : plan.stages) {
      std::int64_t next = 0;
      for (const Step& step : stage.steps) {
        if (step.opcode != Opcode::kProduct || step.buffer < 0) continue;
        const StageMatrix& down = stage.matrices[static_cast<std::size_t>(step.matrices.front())];
        EXPECT_EQ(step.first_column, next);
        EXPECT_EQ(step.chunk == 0, next == 0);
        next = step.last_column;
        if (next == down.column_share.size()) {
          next = 0;
        } else {
          EXPECT_EQ((down.column_share.begin + next) % 32, 0);
        }
      }
      EXPECT_EQ(next, 0);
    }
  });
}

TEST(Lowering, SumsThatLeaveAChipAreTwiceTheOthersShare) {
  // spatial.md: 524 / 786 / 918 KB of sums out of each chip per token of a Llama-3.2-1B.
  for (const auto& [chips, bytes] : {std::pair{2, 524288}, {4, 786432}, {8, 917504}}) {
    const Plan plan =
        lowered("llama-3.2-1b", "decode:16", chips, chip_named("tiles-256.json", {{"chips", "8"}}));
    std::vector<std::int64_t> out(static_cast<std::size_t>(chips), 0);
    for (const Stage& stage : plan.stages) {
      for (const int buffer :
           {stage.named.addends, stage.named.addends_2, stage.named.totals, stage.named.totals_2}) {
        if (buffer < 0) continue;
        const auto& expected = stage.buffers[static_cast<std::size_t>(buffer)].expected.front();
        const std::int64_t arrive = std::accumulate(expected.begin(), expected.end(), 0L);
        const bool addends = buffer == stage.named.addends || buffer == stage.named.addends_2;
        // Each other text chip's addends come once; of the totals all but the own portion.
        const std::int64_t own = plan.columns * 8 / chips;
        EXPECT_EQ(arrive, addends ? own * chips : plan.columns * 8);
        out[static_cast<std::size_t>(stage.text_chip)] += arrive - own;
      }
    }
    for (const std::int64_t of_chip : out) EXPECT_EQ(of_chip, bytes);
  }
}

std::string refusal(const std::string& model, const std::string& cut, int chips,
                    const Settings& settings, const std::string& file = "tiles-256.json") {
  try {
    lowered(model, cut, chips, chip_named(file, settings));
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

/// Of 128 columns a row's scales take 8 bytes in either profile, of 256 (the second half of the
/// feed forward part) 12 in profile A and 16 in profile B.
TEST(Lowering, HoldsABinary16AGroupInProfileB) {
  Job job = job_of("kjv", "decode:5");
  const Plan a = lower_programs(job.facts, job.programs, chip_named("small.json"));
  job.facts.spec.profile = Profile::kB;
  const Plan b = lower_programs(job.facts, job.programs, chip_named("small.json"));
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    EXPECT_EQ(b.stages[i].profile, Profile::kB);
    ASSERT_EQ(b.stages[i].tiles, a.stages[i].tiles);
    const std::int64_t rows = (128 + a.stages[i].tiles - 1) / a.stages[i].tiles;
    const bool is_layer = a.stages[i].kind == StageKind::kLayer;
    EXPECT_EQ(b.stages[i].held_bytes - a.stages[i].held_bytes, is_layer ? 4 * rows : 0) << i;
  }
}

TEST(Lowering, RefusesWhatTheChipsDoNotHold) {
  EXPECT_EQ(refusal("llama-3.2-1b", "decode:1024", 1, {{"chips", "3"}}),
            "spatial: chips: too few for the program; got 3 of 16 x 16 tiles, want 4: 48 tiles for "
            "each of 16 layers, 189 for each table, on each of 1 text chips");
  EXPECT_THAT(refusal("llama-3.1-8b", "decode:1024", 1, {}),
              testing::MatchesRegex(
                  "spatial: the head: does not fit a chip; got [0-9]+ bytes, 2134612 of them "
                  "weights, on each of 256 tiles .the most that it can use of 16 x 16., want "
                  "1572864 bytes, 1447034 of them weights"));
  EXPECT_THAT(
      refusal("kjv", "decode:5", 1, {{"mesh_width", "1"}, {"mesh_height", "1"}}, "small.json"),
      testing::MatchesRegex("spatial: a layer: does not fit a chip; got [0-9]+ bytes, [0-9]+ of "
                            "them weights, on each of 1 tiles .*, want 49152 bytes, .*"));
  EXPECT_THAT(refusal("llama-3.2-1b", "layer:1@decode:1024", 1, {{"layer_tiles", "16"}}),
              testing::MatchesRegex("chip.layer_tiles: too few tiles; got [0-9]+ bytes on each of "
                                    "16, want 1572864 bytes at most"));
  EXPECT_EQ(refusal("kjv", "decode:5", 1, {{"layer_tiles", "129"}}),
            "chip.layer_tiles: more tiles than it can use; got 129, want 128 at most");
  EXPECT_EQ(refusal("kjv", "decode:5", 2, {{"head_tiles", "129"}}),
            "chip.head_tiles: more tiles than it can use; got 129, want 128 at most");
  EXPECT_EQ(refusal("kjv", "batch:1048576x33554432", 1, {}),
            "spatial: positions of all caches: too many; got 35184372088832, want 1099511627776 "
            "at most");
}

TEST(Lowering, RefusesMoreTextChipsThanAMatrixHasRows) {
  Job job = job_of("qwen2", "decode:5", 3);
  job.facts.spec.hidden_columns = 2;
  EXPECT_THROW(lower_programs(job.facts, job.programs, chip_named("small.json")), Error);
}

/// A part of a model of which a chip has no share of the other parts: lowered, and run as lowered.
void expect_taken(Job job, const Settings& settings) {
  const ChipConfig config = chip_named("small.json", settings);
  const Plan plan = lower_programs(job.facts, job.programs, config);
  EXPECT_NO_THROW(check_plan(plan, config, job.facts.chips, WeightSizes(job), "plan"));
}

TEST(Lowering, OfAPartAsksNothingOfTheOthers) {
  const Settings placements[] = {
      {}, {{"head_tiles", "1"}}, {{"layer_tiles", "1"}}, {{"placement", "shared"}}};
  for (const Settings& settings : placements) {
    SCOPED_TRACE(settings.empty() ? "" : settings.front().first);
    Job layer = job_of("qwen2", "layer:1@decode:5", 3);
    layer.facts.spec.vocabulary = 2;
    expect_taken(layer, settings);
    for (const char* cut : {"head@decode:5", "embedding@decode:5"}) {
      SCOPED_TRACE(cut);
      Job table = job_of("qwen2", cut, 3);
      table.facts.spec.hidden_columns = 1;
      expect_taken(table, settings);
    }
  }
}

}  // namespace
}  // namespace logos::spatial
