#include "spatial/lowering/check_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "program/error.h"
#include "spatial/lowering/lowering.h"
#include "spatial/plan/plan_bytes.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

using nlohmann::json;

std::string refusal(const Job& job, const ChipConfig& config, const Plan& plan) {
  try {
    check_plan(plan, config, job.facts.chips, WeightSizes(job), "plan");
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

/// Where in the record of a plan a number may be changed without a refusal.
class TakenChanges {
 public:
  TakenChanges(const Job& job, const ChipConfig& config, std::vector<std::int64_t> changes)
      : job_(job), config_(config), weights_(job), changes_(std::move(changes)) {
    root_ = json::parse(serialise_plan(lower_programs(job.facts, job.programs, config)));
    visit(root_, "");
  }
  const std::set<std::string>& paths() const { return paths_; }
  int tried() const { return tried_; }

 private:
  void visit(json& at, const std::string& path) {
    if (at.is_array()) {
      for (std::size_t i = 0; i < at.size(); ++i) visit(at[i], path + "/" + std::to_string(i));
    }
    if (!at.is_number()) return;
    const json before = at;
    for (const std::int64_t change : changes_) {
      at = before.get<std::int64_t>() + change;
      ++tried_;
      if (passes()) paths_.insert(path);
    }
    at = before;
  }

  bool passes() const {
    try {
      const Plan plan = parse_plan(root_.dump(), "plan");
      check_plan(plan, config_, job_.facts.chips, weights_, "plan");
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  const Job& job_;
  const ChipConfig& config_;
  WeightSizes weights_;
  std::vector<std::int64_t> changes_;
  json root_;
  std::set<std::string> paths_;
  int tried_ = 0;
};

TEST(CheckPlan, RefusesEveryChangedNumberThatLoweringDecides) {
  // What is left: what only the text states (window, epsilon, rotary, which line an operation is
  // of), a capacity of as many entries, another place for a stage. (Lists of numbers are lists of
  // records of one number.)
  const std::regex open(
      "/8|/9|/14|/15|/16|/2[2-9]|/3[0-2]"          // window, capacity, epsilon, chunk of 1, rotary
      "|/33/[0-9]+/([24-8]|5[7-9]|6[0-9]|7[0-2])"  // layer, place, operations
      "|/33/[0-9]+/41/[0-9]+/1"                    // operation of a step
      "|/3[56]/[0-9]+/0");                         // lines, layers
  const ChipConfig config = chip_named("small.json");
  const std::regex unused("/[1-7]|/2[01]");  // sizes of the model that a part does not have
  const auto check = [&](const char* model, const char* cut, int chips,
                         const std::vector<std::int64_t>& by) {
    const bool part = std::string(cut).find('@') != std::string::npos;
    SCOPED_TRACE(testing::Message() << model << ' ' << cut);
    const Job job = job_of(model, cut, chips);
    const TakenChanges changes(job, config, by);
    EXPECT_GT(changes.tried(), 100);
    for (const std::string& path : changes.paths()) {
      EXPECT_TRUE(std::regex_match(path, open) || (part && std::regex_match(path, unused))) << path;
    }
  };
  const std::vector<std::int64_t> far = {-1, 1, 64, 1 << 20};
  check("qwen2", "decode:5", 1, {1});
  check("llama", "layer:2@prefill:7", 2, {-1, 1});
  check("mistral", "embedding@batch:3x4", 1, far);
  check("qwen3", "head@prefill:7", 2, far);
}

class Damaged : public testing::Test {
 protected:
  void expect(const std::string& what) {
    EXPECT_EQ(refusal(job_, config_, plan_), "plan: damaged plan: " + what);
    plan_ = lower_programs(job_.facts, job_.programs, config_);
  }

  Job job_ = job_of("qwen2", "decode:5", 2);
  ChipConfig config_ = chip_named("small.json");
  Plan plan_ = lower_programs(job_.facts, job_.programs, config_);
};

TEST_F(Damaged, IsTakenAsItWasLowered) { EXPECT_EQ(refusal(job_, config_, plan_), "taken"); }

TEST_F(Damaged, ModelIsRefused) {
  plan_.text_chips = 1;
  expect("another number of text chips");
  plan_.chips = 3;
  expect("another number of chips");
  plan_.head_columns = 7;
  expect("plan: head_columns cannot be rotated in pairs; got 7, want an even number");
  plan_.rows = 0;
  expect("rows");
  plan_.block_rows = 5;
  expect("rows or number of blocks");
  plan_.slots = 2;
  expect("more than all rows");
  plan_.names.pop_back();
  expect("operations");
  plan_.query_heads = 1;
  plan_.key_heads = 1;
  expect("more text chips than query heads");
}

TEST_F(Damaged, OrderIsRefused) {
  plan_.stages.pop_back();
  expect("number of stages");
  std::swap(plan_.stages[2], plan_.stages[4]);
  std::swap(plan_.stages[3], plan_.stages[5]);
  expect("links of a stage");
  plan_.stages[4].layer = 7;
  plan_.stages[5].layer = 7;
  expect("order of the stages");
  plan_.stages[0].layer = 1;
  expect("layer of a stage");
  ++plan_.stages[3].tiles;
  expect("stages of the text chips");
  plan_.stages[3].chip = 0;
  expect("place of a text chip's stage");
  plan_.first.pop_back();
  expect("stages that the host feeds");
  plan_.capacity = 0;
  expect("positions of caches");
  plan_.has_given = true;
  expect("inputs");
}

TEST_F(Damaged, OutputsAreRefused) {
  plan_.output_columns = 48;
  expect("columns of outputs");
  plan_.output_rows = 2;
  expect("rows of outputs");
}

TEST_F(Damaged, PlaceIsRefused) {
  plan_.stages[2].x = plan_.stages[3].x = 8;
  expect("place outside the mesh");
  plan_.stages[2].tiles = plan_.stages[3].tiles = 3;
  expect("tiles of a stage");
  for (Stage& stage : plan_.stages) stage.chip += 12;
  expect("a chip that is none");
  plan_.stages[2].base = 8;
  expect("begin in SRAM");
  plan_.stages[4].x = plan_.stages[2].x;
  plan_.stages[5].x = plan_.stages[3].x;
  expect("two stages in the same place");
  plan_.stages[0].y = plan_.stages[1].y = 3;
  expect("an embedding that is not where its table lies");
}

TEST_F(Damaged, SramIsRefused) {
  config_.sram_bytes = plan_.stages[2].used_bytes - 1;
  EXPECT_EQ(refusal(job_, config_, plan_), "plan: damaged plan: more than a tile's SRAM");
}

TEST_F(Damaged, TablesAreRefused) {
  plan_.stages[2].partitions.front().boundary.pop_back();
  expect("tables of a stage");
  ++plan_.stages[2].buffers[1].expected[0][0];
  expect("a stage that lowering does not make");
  std::swap(plan_.stages[2].steps[4], plan_.stages[2].steps[5]);
  expect("a stage that lowering does not make");
  plan_.stages[2].areas[1].offset += 64;
  expect("a stage that lowering does not make");
}

TEST_F(Damaged, SourcesAreRefused) {
  plan_.stages[2].steps[4].operation = static_cast<int>(plan_.lines.size());
  expect("an operation");
  plan_.stages[2].attended = static_cast<int>(plan_.lines.size());
  expect("an operation");
  plan_.stages[2].matrices[0].tensor = plan_.stages[2].matrices[1].tensor;
  expect("size of a matrix");
  plan_.stages[2].vectors[0].tensor = "model.layers.0.self_attn.k_proj.bias";
  expect("size of a vector");
}

TEST_F(Damaged, BytesAreRefusedWithTheirPlace) {
  const std::string bytes = serialise_plan(plan_);
  const auto refused = [](const std::string& payload) {
    try {
      parse_plan(payload, "plan");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(bytes), "taken");
  EXPECT_THAT(refused(bytes.substr(0, bytes.size() - 1)), testing::StartsWith("plan: "));
  EXPECT_THAT(refused("[3" + bytes.substr(2)), testing::StartsWith("plan: "));
  EXPECT_THAT(refused(bytes.substr(0, bytes.size() - 1) + ",1]"), testing::StartsWith("plan: "));
}

}  // namespace
}  // namespace logos::spatial
