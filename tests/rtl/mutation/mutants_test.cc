#include "tests/rtl/mutation/mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/rtl/mutation/tokens.h"

namespace logos::mutation {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// What an operator makes of the value that is assigned.
std::vector<std::string> of_value(Operator what, const std::string& value) {
  std::vector<std::string> made;
  for (const Mutant& mutant : mutants_of("assign y = " + value + ";")) {
    if (mutant.what == what) made.push_back(mutant.after);
  }
  return made;
}

TEST(Mutants, ExchangeOperators) {
  EXPECT_THAT(of_value(Operator::kRelation, "a == b"), ElementsAre("a != b"));
  EXPECT_THAT(of_value(Operator::kRelation, "a < b && c >= d"),
              ElementsAre("a <= b && c >= d", "a < b && c > d"));
  EXPECT_THAT(of_value(Operator::kSign, "a + b - 2'd1"),
              ElementsAre("a - b - 2'd1", "a + b + 2'd1"));
  EXPECT_THAT(of_value(Operator::kLogic, "a && !b"), ElementsAre("a || !b"));
  EXPECT_THAT(of_value(Operator::kBits, "a & b | ~c ^ d"),
              ElementsAre("a | b | ~c ^ d", "a & b & ~c ^ d", "a & b | ~c | d"));
  EXPECT_THAT(of_value(Operator::kShift, "a << 2"), ElementsAre("a >> 2"));
  EXPECT_THAT(of_value(Operator::kOperands, "a - b"), ElementsAre("b - a"));
  EXPECT_THAT(of_value(Operator::kOperands, "p::a - b"), IsEmpty());
  EXPECT_THAT(of_value(Operator::kOperands, "c - a - b"), ElementsAre("a - c - b"));
}

TEST(Mutants, LeaveSignsAndReductionsAlone) {
  EXPECT_THAT(of_value(Operator::kSign, "-a"), IsEmpty());
  EXPECT_THAT(of_value(Operator::kBits, "|a"), IsEmpty());
  EXPECT_THAT(of_value(Operator::kSign, "a[3+:2]"), IsEmpty());
}

TEST(Mutants, CountConstantsUp) {
  EXPECT_THAT(of_value(Operator::kConstant, "a + 4'd15"), ElementsAre("a + 4'd0"));
  EXPECT_THAT(of_value(Operator::kConstant, "16'hff"), ElementsAre("16'h100"));
  EXPECT_THAT(of_value(Operator::kConstant, "12"), ElementsAre("13"));
  EXPECT_THAT(of_value(Operator::kConstant, "{2'b01, '0, 8'(a), {4{b}}, c[3:0]}"),
              ElementsAre("{2'b10, '0, 8'(a), {4{b}}, c[3:0]}"));
}

TEST(Mutants, TakeANeighbour) {
  EXPECT_THAT(
      of_value(Operator::kIndex, "a[i] & b[2] & c[7:0] & d[i+1]"),
      ElementsAre("a[i ^ 1'b1] & b[2] & c[7:0] & d[i + 1]", "a[i] & b[3] & c[7:0] & d[i + 1]"));
}

TEST(Mutants, SwapBranches) {
  EXPECT_THAT(of_value(Operator::kBranches, "(a ? b : c) + d"), ElementsAre("(a ? (c) : (b)) + d"));
  EXPECT_THAT(of_value(Operator::kBranches, "a ? b ? c : d : e"),
              UnorderedElementsAre("a ? (e) : (b ? c : d)", "a ? b ? (d) : (c) : e"));
}

TEST(Mutants, DropTerms) {
  EXPECT_THAT(of_value(Operator::kTerm, "a && b == c || d"),
              UnorderedElementsAre("a || d", "a && b == c"));
  EXPECT_THAT(of_value(Operator::kTerm, "a + b * (c + d) < e"),
              UnorderedElementsAre("a < e", "a + b * (c) < e"));
}

TEST(Mutants, StickBitsDropAssignmentsNegateConditions) {
  const auto mutants = mutants_of("always_ff @(posedge clk_i) begin if (a) x <= y; end");
  std::vector<std::string> said;
  said.reserve(mutants.size());
  for (const Mutant& mutant : mutants) said.emplace_back(mutant.after);
  EXPECT_THAT(said, ElementsAre("!(a)", "x <= (y) | 1'sb1;", ""));
}

TEST(Mutants, StayInCodeThatRuns) {
  EXPECT_THAT(mutants_of("module m #(parameter int A = 1 + 1) (input logic [A-1:0] a);\n"
                         "  localparam int B = A + 1;  // a == b\n"
                         "  for (genvar i = 0; i < B; i++) begin : g if (A > 1) begin end end\n"
                         "  m u (.a(b + 1));\n"
                         "  always_comb begin for (int i = 0; i < 4; i++) begin end end\n"
                         "endmodule\n"),
              IsEmpty());
  EXPECT_THAT(mutants_of("`ifdef SYNTHESIS\nassign a = b;\n`endif\n"), IsEmpty());
  const auto mutants = mutants_of(
      "always_comb begin\n unique case (s)\n 2'd1: x = 1'b0;\n default: begin logic t; end\n "
      "endcase\n end");
  ASSERT_THAT(mutants, Not(IsEmpty()));
  for (const Mutant& mutant : mutants) EXPECT_EQ(mutant.line, 3);
}

TEST(Mutants, AreOfEveryOperator) {
  std::set<Operator> seen;
  for (const Mutant& mutant : mutants_of("function f; if (a) f = {b[1], c - e}; endfunction\n"
                                         "assign y = a < b ? a + 1 : c << 2 & d && e;\n"
                                         "always_comb z = a && b;")) {
    seen.insert(mutant.what);
  }
  EXPECT_EQ(seen.size(), kOperators);
}

TEST(Plant, KeepsLinesAndShowsOneMutantAtATime) {
  const std::string source = "assign a = b +\n  c;\nalways_comb begin\n  if (d)\n    e = f;\nend\n";
  std::vector<Numbered> numbered;
  int number = 0;
  for (const Mutant& mutant : mutants_of(source)) numbered.push_back({++number, mutant});
  const std::string planted = plant(source, numbered, "act");
  EXPECT_EQ(std::count(planted.begin(), planted.end(), '\n'),
            std::count(source.begin(), source.end(), '\n'));
  EXPECT_EQ(
      planted,
      "assign a = (act == 1) ? (b - c) : (act == 2) ? (b) : (act == 3) ? ((b + c) | 1'sb1) : "
      "(b +\n  c);\nalways_comb begin\n  if ((act == 4) ? (!(d)) : (d))\n    begin if (act == "
      "5) begin e = (f) | 1'sb1; end else if (act == 6) begin  end else begin e = f; end "
      "end\nend\n");
}

TEST(Plant, WithoutMutantsIsTheFile) {
  EXPECT_EQ(plant("assign a = b;\n", {}, "act"), "assign a = b;\n");
}

}  // namespace
}  // namespace logos::mutation
