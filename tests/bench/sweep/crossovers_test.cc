#include "bench/sweep/crossovers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace logos::bench {
namespace {

const std::vector<double> kX = {1, 2, 4, 8, 16};

/// A power law, straight on logarithmic axes.
Curve curve(std::string lane, double at_one, double power, double error = 0) {
  Curve made{std::move(lane), {}, error};
  for (const double x : kX) made.seconds.emplace_back(at_one * std::pow(x, power));
  return made;
}

TEST(ACrossover, LiesWhereTwoPowersMeet) {
  // 3 = x^1 at x = 3.
  const Crossings found = crossings_of(kX, {curve("flat", 3, 0), curve("line", 1, 1)});
  ASSERT_EQ(found.crossovers.size(), 1u);
  const Crossover& crossover = found.crossovers[0];
  EXPECT_EQ(crossover.from_lane, "line");
  EXPECT_EQ(crossover.to_lane, "flat");
  EXPECT_NEAR(crossover.at, 3, 1e-12);
  EXPECT_EQ(crossover.at_least, 2);  // the points around it
  EXPECT_EQ(crossover.at_most, 4);
  EXPECT_TRUE(crossover.leader);
  EXPECT_TRUE(found.undecided.empty());
}

TEST(ACrossover, LiesBetweenPointsThatTheErrorsOfTheTimesSettle) {
  // `flat` is within 3 * (1 +- 0.3), 2.1 to 3.9.
  const Crossings found = crossings_of(kX, {curve("flat", 3, 0, 0.3), curve("line", 1, 1)});
  ASSERT_EQ(found.crossovers.size(), 1u);
  EXPECT_EQ(found.crossovers[0].at_least, 2);
  EXPECT_EQ(found.crossovers[0].at_most, 4);
  // The other one's error: 4 * 0.7 is below 3, 8 * 0.7 above.
  const Crossings other = crossings_of(kX, {curve("flat", 3, 0), curve("line", 1, 1, 0.3)});
  EXPECT_EQ(other.crossovers[0].at_least, 2);
  EXPECT_EQ(other.crossovers[0].at_most, 8);
}

TEST(ACrossover, WhoseBandReachesBeyondTheSeriesSaysSo) {
  const Crossings found = crossings_of(kX, {curve("flat", 15, 0, 0.3), curve("line", 1, 1)});
  ASSERT_EQ(found.crossovers.size(), 1u);
  EXPECT_EQ(found.crossovers[0].at_least, 8);
  EXPECT_EQ(found.crossovers[0].at_most, std::nullopt);
  // An error of all of the time bounds nothing from below.
  const Crossings boundless = crossings_of(kX, {curve("flat", 3, 0, 1), curve("line", 1, 1)});
  EXPECT_EQ(boundless.crossovers[0].at_least, std::nullopt);
}

TEST(ACrossover, AtAPointIsThere) {
  const Crossings found = crossings_of(kX, {curve("flat", 4, 0), curve("line", 1, 1)});
  ASSERT_EQ(found.crossovers.size(), 1u);
  EXPECT_EQ(found.crossovers[0].at, 4);
}

TEST(Curves, ThatTouchWithoutCrossingDoNot) {
  Curve touch{"touch", {1.0, 1.0, 1.0, 1.0, 1.0}, 0};
  Curve above{"above", {2.0, 2.0, 1.0, 2.0, 2.0}, 0};
  EXPECT_TRUE(crossings_of(kX, {touch, above}).crossovers.empty());
}

TEST(Curves, CrossAsOftenAsTheyDo) {
  Curve flat{"flat", {2.0, 2.0, 2.0, 2.0, 2.0}, 0};
  Curve wave{"wave", {1.0, 4.0, 1.0, 4.0, 1.0}, 0};
  const Crossings found = crossings_of(kX, {flat, wave});
  ASSERT_EQ(found.crossovers.size(), 4u);
  EXPECT_EQ(found.crossovers[0].to_lane, "flat");
  EXPECT_EQ(found.crossovers[1].to_lane, "wave");
}

TEST(Curves, DoNotCrossOverAPointWithoutATime) {
  Curve flat = curve("flat", 3, 0);
  flat.seconds[1] = std::nullopt;
  flat.seconds[2] = std::nullopt;
  EXPECT_TRUE(crossings_of(kX, {flat, curve("line", 1, 1)}).crossovers.empty());
}

TEST(ACrossover, BehindAThirdLaneLeadsNothing) {
  const Crossings found =
      crossings_of(kX, {curve("flat", 3, 0), curve("line", 1, 1), curve("best", 0.1, 0)});
  ASSERT_EQ(found.crossovers.size(), 1u);
  EXPECT_FALSE(found.crossovers[0].leader);
}

TEST(ACrossover, LeadsForSureOnlyWhereNoThirdLaneMayBeFaster) {
  // The two cross at 3; the third is 4, or anything from 2.8 to 5.2.
  const auto crossings_beside = [](double error) {
    return crossings_of(kX,
                        {curve("flat", 3, 0), curve("line", 1, 1), curve("third", 4, 0, error)});
  };
  const auto of_both = [](const Crossings& found) {
    for (const Crossover& crossover : found.crossovers) {
      if (crossover.from_lane == "line" && crossover.to_lane == "flat") return crossover;
    }
    return Crossover{};
  };
  const Crossover sure = of_both(crossings_beside(0.2));
  EXPECT_TRUE(sure.leader);
  EXPECT_FALSE(sure.leader_open);
  const Crossover open = of_both(crossings_beside(0.3));
  EXPECT_TRUE(open.leader);
  EXPECT_TRUE(open.leader_open);
}

TEST(CurvesWithinTheirErrors, AreUndecided) {
  const Crossings found = crossings_of(kX, {curve("a", 3, 0, 0.3), curve("b", 3.2, 0)});
  EXPECT_TRUE(found.crossovers.empty());
  ASSERT_EQ(found.undecided.size(), 1u);
  EXPECT_EQ(found.undecided[0].from, 1);
  EXPECT_EQ(found.undecided[0].to, 16);
  EXPECT_TRUE(crossings_of(kX, {curve("a", 3, 0), curve("b", 3.2, 0)}).undecided.empty());
}

TEST(AnError, IsReadFromTheNoteOfATime) {
  EXPECT_DOUBLE_EQ(error_of_note("modelled: uncalibrated, +-30 %"), 0.3);
  EXPECT_DOUBLE_EQ(error_of_note("modelled: +-2.5% on an H100"), 0.025);
  EXPECT_EQ(error_of_note("simulated: 2 chips"), 0);
  EXPECT_EQ(error_of_note("+-30 seconds"), 0);
  EXPECT_EQ(error_of_note(""), 0);
}

}  // namespace
}  // namespace logos::bench
