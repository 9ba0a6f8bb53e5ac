#include "rtl/board/axi_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace logos::d5005 {
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

TEST(AxiChecker, ReportsAnAnswerInTheCycleOfItsRequest) {
  AxiChecker checker("bank 0", {});
  AxiCycle cycle;
  cycle.ar = request(0x1000, 1);
  cycle.r.valid = cycle.r.last = true;
  cycle.r.id = 3;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(),
              ElementsAre(HasSubstr("R at 0x0: a beat of id 3 that nothing asked for (cycle 0)")));
}

TEST(AxiChecker, ReportsAWriteAnswerBeforeItsData) {
  AxiChecker checker("bank 0", {});
  AxiCycle cycle;
  cycle.aw = request(0x1000, 1);
  checker.cycle(cycle);
  cycle.aw.valid = false;
  cycle.b.valid = true;
  cycle.b.id = 3;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(),
              ElementsAre(HasSubstr("B at 0x0: an answer of id 3 that nothing asked for")));
}

TEST(AxiChecker, ReportsReadsInAnotherOrderWhereOneIsKept) {
  for (const bool in_order : {true, false}) {
    AxiChecker checker("port", {1, in_order, true});
    AxiCycle cycle;
    cycle.ar = request(0x1000, 1);
    checker.cycle(cycle);
    cycle.ar.id = 4;
    checker.cycle(cycle);
    cycle.ar.valid = false;
    cycle.r.valid = cycle.r.ready = cycle.r.last = true;
    for (const std::uint64_t id : {4U, 3U}) {
      cycle.r.id = id;
      checker.cycle(cycle);
    }
    checker.finish();
    if (in_order) {
      EXPECT_THAT(checker.faults(), ElementsAre(HasSubstr("a beat of id 4 that nothing asked for"),
                                                HasSubstr("R at 0x1000: was never answered")));
    } else {
      EXPECT_THAT(checker.faults(), IsEmpty());
    }
  }
}

TEST(AxiChecker, ReportsAnIdThatIsUnderWayWhereAllDiffer) {
  AxiChecker checker("host", {1, false, true, true});
  AxiCycle cycle;
  cycle.ar = request(0x1000, 1);
  checker.cycle(cycle);
  cycle.ar.id = 4;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(), IsEmpty());
  cycle.ar.id = 3;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(),
              ElementsAre(HasSubstr("AR at 0x1000: has id 3 of a read that is under way")));
}

TEST(AxiChecker, ReportsAnswersThatFallOrChangeWhileTheyWait) {
  AxiChecker checker("bank 0", {});
  AxiCycle cycle;
  cycle.ar = request(0x1000, 2);
  cycle.aw = request(0x40, 1);
  cycle.w.valid = cycle.w.ready = cycle.w.last = true;
  checker.cycle(cycle);
  cycle = {};
  cycle.r.valid = cycle.b.valid = true;
  cycle.r.id = cycle.b.id = 3;
  checker.cycle(cycle);
  cycle.r.data[15] = 1;
  cycle.b.response = 2;
  checker.cycle(cycle);
  cycle.r.valid = cycle.b.valid = false;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(),
              ElementsAre(HasSubstr("R at 0x1000: changed"), HasSubstr("B at 0x0: changed"),
                          HasSubstr("R at 0x1000: valid fell"), HasSubstr("B at 0x0: valid fell")));
}

TEST(AxiChecker, ReportsExclusiveAnswersAndOtherBursts) {
  AxiChecker checker("bank 0", {});
  AxiCycle cycle;
  cycle.ar = request(0x1000, 1);
  cycle.ar.burst = 2;
  cycle.ar.size = 5;
  checker.cycle(cycle);
  cycle = {};
  cycle.r.valid = cycle.r.ready = cycle.r.last = true;
  cycle.r.id = 3;
  cycle.r.response = 1;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(), ElementsAre(HasSubstr("AR at 0x1000: is no INCR burst"),
                                            HasSubstr("beats of another size than 64 bytes"),
                                            HasSubstr("R at 0x1000: EXOKAY")));
}

/// A read and a write at once, and what answers them.
LiteCycle lite_requests() {
  LiteCycle cycle;
  cycle.ar = {true, true, 7, 1, 0x98};
  cycle.aw = {true, true, 8, 2, 0x90};
  cycle.w = {true, true, 1, 0xFF};
  return cycle;
}
LiteCycle lite_answers() {
  LiteCycle cycle;
  cycle.r = {true, true, 7, 1, 0, 55};
  cycle.b = {true, true, 8, 2, 0, 0};
  return cycle;
}

TEST(AxiLiteChecker, AnswersInTimeAreNoAlarm) {
  AxiLiteChecker checker("csr", 100);
  checker.cycle(lite_requests());
  for (int wait = 0; wait < 99; ++wait) checker.cycle({});
  checker.cycle(lite_answers());
  checker.finish();
  EXPECT_THAT(checker.faults(), IsEmpty());
}

TEST(AxiLiteChecker, ReportsAnswersThatAreLateOrNeverCome) {
  AxiLiteChecker checker("csr", 100);
  checker.cycle(lite_requests());
  for (int wait = 0; wait < 200; ++wait) checker.cycle({});
  checker.finish();
  EXPECT_THAT(checker.faults(),
              ElementsAre(HasSubstr("csr R at 0x98: no answer within 100 cycles (cycle 100)"),
                          HasSubstr("csr B at 0x90: no answer within 100 cycles"),
                          HasSubstr("R at 0x98: was never answered"),
                          HasSubstr("B at 0x90: was never answered")));
}

TEST(AxiLiteChecker, ReportsARequestThatIsNotTakenOrChanges) {
  AxiLiteChecker checker("csr", 10);
  LiteCycle cycle;
  cycle.ar = {true, false, 7, 1, 0x98};
  for (int wait = 0; wait < 20; ++wait) checker.cycle(cycle);
  cycle.ar.user = 3;
  checker.cycle(cycle);
  checker.cycle({});
  EXPECT_THAT(checker.faults(), ElementsAre(HasSubstr("AR at 0x98: not taken within 10 cycles"),
                                            HasSubstr("AR at 0x98: changed while it waited"),
                                            HasSubstr("AR at 0x98: valid fell before ready")));
}

TEST(AxiLiteChecker, ReportsAnswersOfAnotherIdUserOrResponse) {
  AxiLiteChecker checker("csr", 100);
  checker.cycle(lite_requests());
  LiteCycle cycle = lite_answers();
  cycle.r.id = 9;
  cycle.r.user = 4;
  cycle.b.response = 2;
  checker.cycle(cycle);
  EXPECT_THAT(checker.faults(), ElementsAre(HasSubstr("R at 0x98: id 9, not 7"),
                                            HasSubstr("R at 0x98: user 4, not 1"),
                                            HasSubstr("B at 0x90: response 2, not OKAY")));
}

TEST(AxiLiteChecker, ReportsAnswersThatNothingAskedForAndLooseData) {
  AxiLiteChecker checker("csr", 100);
  LiteCycle cycle;
  cycle.aw = {true, true, 8, 2, 0x90};
  checker.cycle(cycle);  // its data are still to come
  checker.cycle(lite_answers());
  cycle = {};
  cycle.w = {true, true, 1, 0xFF};
  checker.cycle(cycle);
  checker.cycle(cycle);
  checker.finish();
  EXPECT_THAT(checker.faults(), ElementsAre(HasSubstr("R at 0x0: an answer that nothing asked for"),
                                            HasSubstr("B at 0x0: an answer that nothing asked for"),
                                            HasSubstr("B at 0x90: was never answered"),
                                            HasSubstr("W at 0x0: has data without an address")));
}

}  // namespace
}  // namespace logos::d5005
