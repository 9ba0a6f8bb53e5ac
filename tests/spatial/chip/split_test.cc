// Programs split over text chips: the bits of the reference.
#include <gtest/gtest.h>

#include "tests/spatial/chip/chip_case.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

class SplitBits : public testing::TestWithParam<std::tuple<std::string, std::int64_t>> {};

TEST_P(SplitBits, AreThoseOfTheReference) {
  const auto& [model, text_chips] = GetParam();
  for (const char* cut :
       {"decode:5", "prefill:12", "batch:11x4", "embedding@decode:5", "embedding@prefill:7",
        "layer:1@decode:5", "layer:2@prefill:7", "layer:2@batch:3x4", "head@decode:5",
        "head@prefill:7", "head@batch:3x4"}) {
    const ChipCase job(model, cut, text_chips);
    EXPECT_EQ(difference(job.on_reference(), job.on_chips(chip_named("small.json"))), "") << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SplitBits,
                         testing::Combine(testing::Values("llama", "mistral", "qwen2", "qwen3",
                                                          "kjv"),
                                          testing::Values(2, 3)),
                         [](const auto& of) {
                           return std::get<0>(of.param) + "_over_" +
                                  std::to_string(std::get<1>(of.param));
                         });

TEST(SplitBits, StayUnderBackPressureAndOnARing) {
  const ChipCase job("qwen2", "prefill:12", 3);
  const Outcome expected = job.on_reference();
  for (const char* topology : {"line", "ring"}) {
    ChipRun options;
    options.stalls = true;
    const ChipConfig chip = chip_named("small.json", {{"topology", topology}});
    EXPECT_EQ(difference(expected, job.on_chips(chip, options)), "") << topology;
  }
}

}  // namespace
}  // namespace logos::spatial
