// Plans of the lane spatial: what is taken is written again byte for byte; a plan that passes its
// checks can be printed, tile by tile.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "program/check.h"
#include "program/error.h"
#include "spatial/lowering/check_plan.h"
#include "spatial/plan/plan_bytes.h"
#include "spatial/plan/print.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace logos;
using namespace logos::spatial;

/// The sizes of the seeds' model (kjv).
class KjvSizes : public WeightStore {
 public:
  MatrixView matrix(std::string_view tensor) const override {
    const auto named = [&](std::string_view part) { return tensor.find(part) != tensor.npos; };
    MatrixView view;
    view.rows = named("embed") || named("gate") || named("up_proj") ? 256
                : named("k_proj") || named("v_proj")                ? 64
                                                                    : 128;
    view.columns = named("down") ? 256 : 128;
    return view;
  }
  std::span<const float> vector(std::string_view) const override { return values_; }
  const std::string& sha256() const override { return name_; }
  const std::filesystem::path& file() const override { return file_; }

 private:
  std::vector<float> values_ = std::vector<float>(128);
  std::string name_;
  std::filesystem::path file_;
};

/// Of configs/chips/small.json, what a plan is checked against.
ChipConfig small_chips() {
  ChipConfig config;
  config.mesh.width = 8;
  config.mesh.height = 6;
  config.sram_bytes = 49152;
  config.weight_bytes = 12288;
  config.block_rows = 4;
  config.streams = 2;
  config.chips = 12;
  return config;
}

void print(const Plan& plan, const ChipConfig& config) {
  CHECK(!print_placement(plan, config).empty());
  for (const Stage& stage : plan.stages) {
    for (const std::int32_t tile : {0, stage.leader, stage.tiles - 1}) {
      CHECK(!print_schedule(plan, stage, tile).empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const KjvSizes weights;
  static const ChipConfig config = small_chips();
  const auto bytes = logos::bytes_of(data, size);
  Plan plan;
  if (!taken([&] { plan = parse_plan(bytes, "fuzz"); })) return 0;
  CHECK(serialise_plan(plan) == bytes);
  if (plan.text_chips < 1) return 0;
  if (taken([&] { check_plan(plan, config, plan.text_chips, weights, "fuzz"); })) {
    print(plan, config);
  }
  return 0;
}
