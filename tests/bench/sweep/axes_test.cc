#include "bench/sweep/axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/error.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ARange, MultipliesAddsOrCounts) {
  EXPECT_THAT(expand("--cut", "decode:{128..1024*2}"),
              ElementsAre("decode:128", "decode:256", "decode:512", "decode:1024"));
  EXPECT_THAT(expand("--cut", "{3..11+4}"), ElementsAre("3", "7", "11"));
  EXPECT_THAT(expand("--cut", "layer:{2..4}@decode:8"),
              ElementsAre("layer:2@decode:8", "layer:3@decode:8", "layer:4@decode:8"));
  EXPECT_THAT(expand("--cut", "{5..12*2}"), ElementsAre("5", "10"));
  EXPECT_THAT(expand("--cut", "batch:{1..2}x{4..8*2}"),
              ElementsAre("batch:1x4", "batch:1x8", "batch:2x4", "batch:2x8"));
  EXPECT_THAT(expand("--cut", "plain"), ElementsAre("plain"));
  EXPECT_THAT(expand("--cut", "{9223372036854775806..9223372036854775807*2}"),
              ElementsAre("9223372036854775806"));
}

TEST(ARange, ThatIsNoneIsRefused) {
  const auto refusal = [](const char* item) { return error_of([&] { expand("--cut", item); }); };
  EXPECT_THAT(refusal("decode:{1..2"), HasSubstr("--cut: a brace without the other"));
  EXPECT_THAT(refusal("decode:1..2}"), HasSubstr("a brace without the other"));
  EXPECT_THAT(refusal("decode:{5}"), HasSubstr("no range"));
  EXPECT_THAT(refusal("{2..1}"), HasSubstr("an empty range"));
  EXPECT_THAT(refusal("{1..4*1}"), HasSubstr("a factor that does not grow"));
  EXPECT_THAT(refusal("{0..4}"), HasSubstr("not a whole number in range"));
  EXPECT_THAT(refusal("{1..4+0}"), HasSubstr("not a whole number in range"));
  EXPECT_THAT(refusal("{1..4*x}"), HasSubstr("not a whole number in range"));
  EXPECT_THAT(refusal("{1..1000000}"), HasSubstr("too many numbers"));
}

TEST(AnAxis, TakesListsAndRefusesAValueTwice) {
  EXPECT_THAT(axis_of("chips", "--chips", {"1,{2..8*2}", "3"}).values,
              ElementsAre("1", "2", "4", "8", "3"));
  EXPECT_THAT(error_of([] {
                axis_of("chips", "--chips", {"1,2", "1"});
              }),
              HasSubstr("--chips: 1 stands there twice"));
  EXPECT_THAT(error_of([] { axis_of("chips", "--chips", {"1,,2"}); }),
              HasSubstr("item 2 of the list is empty"));
}

std::vector<std::string> patterns(const std::vector<std::string>& values) {
  std::vector<std::string> found;
  for (const Series& series : series_of({"a", values})) found.push_back(series.pattern);
  return found;
}

TEST(ASeries, HasTheValuesThatDifferInOneNumber) {
  const auto series = series_of({"cut", {"decode:512", "prefill:8", "decode:128", "prefill:16"}});
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0].pattern, "decode:{}");
  EXPECT_THAT(series[0].values, ElementsAre("decode:128", "decode:512"));
  EXPECT_THAT(series[0].numbers, ElementsAre(128, 512));
  EXPECT_EQ(series[1].pattern, "prefill:{}");
}

TEST(ASeries, IsFoundForEachNumber) {
  EXPECT_THAT(patterns({"batch:1x8", "batch:1x16", "batch:2x8"}),
              testing::UnorderedElementsAre("batch:{}x8", "batch:1x{}"));
  EXPECT_THAT(patterns({"1/1", "8/8", "16/16", "32/16"}),
              testing::UnorderedElementsAre("{}/{}", "{}/16"));
  EXPECT_THAT(patterns({"0.5", "1.25"}), ElementsAre("{}"));
  EXPECT_THAT(patterns({"line", "ring"}), ElementsAre());
  EXPECT_THAT(patterns({"kv4", "kv8"}), ElementsAre());
  EXPECT_THAT(patterns({"decode:5"}), ElementsAre());
}

TEST(AProduct, VariesTheLastAxisFastest) {
  const auto points = product_of({{"a", {"1", "2"}}, {"b", {"x", "y"}}});
  EXPECT_THAT(points, ElementsAre(ElementsAre("1", "x"), ElementsAre("1", "y"),
                                  ElementsAre("2", "x"), ElementsAre("2", "y")));
}

TEST(AProduct, OfTooManyPointsIsRefused) {
  const std::vector<std::string> many(1000, "v");
  EXPECT_THAT(error_of([&] {
                product_of({{"a", many}, {"b", many}});
              }),
              HasSubstr("too many points"));
}

}  // namespace
}  // namespace logos::bench
