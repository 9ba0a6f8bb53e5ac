// Every kind of cut of every family, whole and in parts: the bits of the reference.
#include <gtest/gtest.h>

#include "tests/spatial/chip/chip_case.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

const std::vector<std::string> kModels = {"llama", "mistral", "qwen2", "qwen3", "kjv"};
const std::vector<std::string> kCuts = {
    "decode:5",           "prefill:12",          "batch:11x4",          "prefill:1",
    "embedding@decode:5", "embedding@prefill:7", "embedding@batch:3x4", "layer:1@decode:5",
    "layer:2@prefill:7",  "layer:2@batch:3x4",   "head@decode:5",       "head@prefill:7",
    "head@batch:3x4"};

class ChipBits : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ChipBits, AreThoseOfTheReference) {
  const auto& [model, cut] = GetParam();
  const ChipCase job(model, cut);
  EXPECT_EQ(difference(job.on_reference(), job.on_chips(chip_named("small.json"))), "");
}

std::string name_of_case(const testing::TestParamInfo<ChipBits::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cuts, ChipBits,
                         testing::Combine(testing::ValuesIn(kModels), testing::ValuesIn(kCuts)),
                         name_of_case);

}  // namespace
}  // namespace logos::spatial
