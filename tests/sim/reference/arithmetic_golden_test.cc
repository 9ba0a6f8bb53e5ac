// The primitive functions against the known answers, every case of every file.
#include <gtest/gtest.h>

#include <vector>

#include "sim/reference/arithmetic.h"
#include "tests/sim/reference/golden.h"

namespace logos::reference {
namespace {

TEST(ArithmeticGolden, ExpNegGivesEveryKnownBit) {
  const auto file = golden("exp_silu.json");
  ASSERT_GE(file["exp_neg"].size(), 200u);
  for (const auto& pair : file["exp_neg"]) {
    const float y = exp_neg(float_of_hex(pair[0]));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(y), bits_of_hex(pair[1])) << "exp_neg of " << pair[0];
  }
}

TEST(ArithmeticGolden, SiluGivesEveryKnownBit) {
  const auto file = golden("exp_silu.json");
  ASSERT_GE(file["silu"].size(), 200u);
  for (const auto& pair : file["silu"]) {
    const float y = silu(float_of_hex(pair[0]));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(y), bits_of_hex(pair[1])) << "silu of " << pair[0];
  }
}

TEST(ArithmeticGolden, NearestOfIntegersGivesEveryKnownBit) {
  const auto file = golden("f_i64.json");
  ASSERT_GE(file["cases"].size(), 100u);
  for (const auto& known : file["cases"]) {
    const std::int64_t i = std::stoll(known[0].get<std::string>());
    EXPECT_EQ(std::bit_cast<std::uint32_t>(nearest_f32(i)), bits_of_hex(known[1]))
        << i << " " << known[2];
  }
}

TEST(ArithmeticGolden, QuantizerGivesEveryKnownInteger) {
  const auto file = golden("q16.json");
  ASSERT_GE(file["cases"].size(), 60u);
  for (const auto& known : file["cases"]) {
    std::vector<float> x;
    for (const auto& hex : known["x"]) x.push_back(float_of_hex(hex));
    std::vector<std::int16_t> q(x.size(), 12345);
    const BlockScale scale = quantize(x, q);
    EXPECT_EQ(q, known["q"].get<std::vector<std::int16_t>>()) << known["remark"];
    EXPECT_EQ(int{scale.exponent}, known["e"].get<int>()) << known["remark"];
    EXPECT_EQ(scale.fault, known["fault"].get<bool>()) << known["remark"];
  }
}

}  // namespace
}  // namespace logos::reference
