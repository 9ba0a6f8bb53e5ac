#include "program/decimal.h"

#include <cmath>
#include <random>

#include "tests/program/helpers.h"

namespace logos {
namespace {

TEST(Decimal, IsTheShortestWithoutExponent) {
  EXPECT_EQ(shortest_decimal(1e-5), "0.00001");
  EXPECT_EQ(shortest_decimal(1e-6), "0.000001");
  EXPECT_EQ(shortest_decimal(500000.0), "500000");
  EXPECT_EQ(shortest_decimal(10000.0), "10000");
  EXPECT_EQ(shortest_decimal(0.1), "0.1");
  EXPECT_EQ(shortest_decimal(1.0), "1");
  EXPECT_EQ(shortest_decimal(0x1p-40), "0.0000000000009094947017729282");
  EXPECT_EQ(shortest_decimal(0), "0");
}

TEST(Decimal, ReadsBackToTheSameBits) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-40, 53);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::exp2(exponent(random));
    const std::string text = shortest_decimal(value);
    EXPECT_EQ(read_decimal(text), value) << text;
    EXPECT_EQ(text.find('e'), std::string::npos);
  }
  for (const double value : {5e-324, 2.2250738585072014e-308, 1.7976931348623157e308}) {
    EXPECT_EQ(read_decimal(shortest_decimal(value)), value);
  }
}

TEST(Decimal, ReadsDigitsAndAPointOnly) {
  for (const char* text : {"", "-1", "+1", "1e5", "0x10", "inf", "nan", "1.2.3", " 1", "1 "}) {
    EXPECT_EQ(read_decimal(text), std::nullopt) << text;
  }
  EXPECT_EQ(read_decimal(std::string(400, '9')), std::nullopt);
}

}  // namespace
}  // namespace logos
