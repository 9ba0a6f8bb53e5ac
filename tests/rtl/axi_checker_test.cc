#include "tests/rtl/axi_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace logos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

AxiAddress request(std::uint64_t address, unsigned beats) {
  AxiAddress is;
  is.valid = is.ready = true;
  is.address = address;
  is.length = beats - 1;
  is.id = 3;
  return is;
}

/// A read burst as asked for, its answers' last flags as `last` says of the beat (from 1).
std::vector<std::string> read(std::uint64_t address, unsigned beats, unsigned answered,
                              const std::function<bool(unsigned)>& last) {
  AxiChecker checker("bank 2", {});
  AxiCycle cycle;
  cycle.ar = request(address, beats);
  checker.cycle(cycle);
  cycle.ar.valid = false;
  for (unsigned beat = 1; beat <= answered; ++beat) {
    cycle.r.valid = cycle.r.ready = true;
    cycle.r.id = 3;
    cycle.r.last = last(beat);
    checker.cycle(cycle);
  }
  checker.finish();
  return checker.faults();
}

std::vector<std::string> write(unsigned beats, unsigned sent,
                               const std::function<bool(unsigned)>& last) {
  AxiChecker checker("bank 2", {});
  AxiCycle cycle;
  for (unsigned beat = 1; beat <= sent; ++beat) {
    cycle = {};
    if (beat == 1) cycle.aw = request(0x1000, beats);
    cycle.w.valid = cycle.w.ready = true;
    cycle.w.last = last(beat);
    checker.cycle(cycle);
  }
  cycle = {};
  cycle.b.valid = cycle.b.ready = true;
  cycle.b.id = 3;
  checker.cycle(cycle);
  checker.finish();
  return checker.faults();
}

TEST(AxiChecker, ABurstThatEndsAtTheEdgeIsNoAlarm) {
  EXPECT_THAT(read(0x1fc0, 1, 1, [](unsigned) { return true; }), IsEmpty());
  EXPECT_THAT(read(0x1000, 64, 64, [](unsigned beat) { return beat == 64; }), IsEmpty());
  EXPECT_THAT(write(64, 64, [](unsigned beat) { return beat == 64; }), IsEmpty());
}

TEST(AxiChecker, ReportsABurstOverTheEdge) {
  EXPECT_THAT(read(0x1fc0, 2, 2, [](unsigned beat) { return beat == 2; }),
              ElementsAre(HasSubstr("bank 2 AR at 0x1fc0: crosses 4 KB with 2 beats")));
  EXPECT_THAT(read(0x1040, 64, 64, [](unsigned beat) { return beat == 64; }),
              ElementsAre(HasSubstr("AR at 0x1040: crosses 4 KB")));
}

TEST(AxiChecker, ReportsABurstThatIsTooLong) {
  EXPECT_THAT(read(0x1000, 65, 65, [](unsigned beat) { return beat == 65; }),
              ElementsAre(HasSubstr("AR at 0x1000: has 65 beats"), HasSubstr("crosses 4 KB")));
  EXPECT_THAT(read(0x1020, 1, 1, [](unsigned) { return true; }),
              ElementsAre(HasSubstr("AR at 0x1020: is not aligned")));
}

TEST(AxiChecker, ReportsOneBeatTooMany) {
  EXPECT_THAT(read(0x1000, 4, 5, [](unsigned beat) { return beat == 4; }),
              ElementsAre(HasSubstr("R at 0x0: a beat of id 3 that nothing asked for")));
  EXPECT_THAT(write(4, 5, [](unsigned beat) { return beat == 4; }),
              ElementsAre(HasSubstr("W at 0x0: has data without an address")));
}

TEST(AxiChecker, ReportsALastThatIsMissing) {
  EXPECT_THAT(read(0x1000, 4, 4, [](unsigned) { return false; }),
              ElementsAre(HasSubstr("R at 0x1000: last is missing on beat 4")));
  EXPECT_THAT(write(4, 4, [](unsigned) { return false; }),
              ElementsAre(HasSubstr("W at 0x1000: last is missing on beat 4")));
}

TEST(AxiChecker, ReportsALastThatIsEarly) {
  EXPECT_THAT(read(0x1000, 4, 3, [](unsigned beat) { return beat == 3; }),
              ElementsAre(HasSubstr("R at 0x1000: last is early, on beat 3 of 4")));
  EXPECT_THAT(write(4, 3, [](unsigned beat) { return beat == 3; }),
              ElementsAre(HasSubstr("W at 0x1000: last is early, on beat 3 of 4")));
}

TEST(AxiChecker, ReportsWhatIsNeverAnswered) {
  EXPECT_THAT(read(0x1000, 4, 3, [](unsigned) { return false; }),
              ElementsAre(HasSubstr("R at 0x1000: was never answered")));
}

TEST(AxiChecker, ReportsARequestThatChangesOrFallsWhileItWaits) {
  AxiChecker checker("host", {});
  AxiCycle cycle;
  cycle.ar = request(0x1000, 1);
  cycle.ar.ready = false;
  checker.cycle(cycle);
  cycle.ar.address = 0x2000;
  checker.cycle(cycle);
  cycle.ar.valid = false;
  checker.cycle(cycle);
  cycle.w.valid = true;
  checker.cycle(cycle);
  cycle.w.data[3] = 1;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(),
              ElementsAre(HasSubstr("AR at 0x1000: changed"), HasSubstr("AR at 0x2000: valid fell"),
                          HasSubstr("W at 0x0: changed")));
}

TEST(AxiChecker, ReportsStrobesWithHolesAndAnswersOutOfOrder) {
  AxiChecker checker("bank 0", {});
  AxiCycle cycle;
  cycle.aw = request(0x40, 1);
  cycle.w.valid = cycle.w.ready = cycle.w.last = true;
  cycle.w.strobe = 0b1011;
  checker.cycle(cycle);
  cycle = {};
  cycle.b.valid = cycle.b.ready = true;
  cycle.b.id = 4;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(), ElementsAre(HasSubstr("W at 0x40: has strobes with holes"),
                                            HasSubstr("B at 0x0: an answer of id 4")));
}

}  // namespace
}  // namespace logos
