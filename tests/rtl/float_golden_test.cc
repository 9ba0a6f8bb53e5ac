#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "Vint_to_f32_model.h"
#include "float_curves.h"

namespace logos {
namespace {

nlohmann::json golden(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(std::string(LOGOS_SHARED_DIR) + "/golden/" + name));
}

std::uint32_t hexadecimal(const nlohmann::json& bits) {
  return static_cast<std::uint32_t>(std::stoul(bits.get<std::string>(), nullptr, 16));
}

TEST(FloatGolden, IntToF32GivesTheKnownAnswers) {
  const auto cases = golden("f_i64.json").at("cases");
  ASSERT_GT(cases.size(), 20U);
  const auto set = [](Vint_to_f32_model& model, std::uint64_t a, std::uint64_t) { model.i_i = a; };
  FloatPipe<Vint_to_f32_model> pipe(1);
  for (const auto& known : cases) {
    const std::int64_t i = std::stoll(known.at(0).get<std::string>());
    pipe.offer(set, static_cast<std::uint64_t>(i), 0, hexadecimal(known.at(1)));
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), cases.size());
}

template <class Model>
void check_known_answers(const nlohmann::json& cases) {
  ASSERT_GT(cases.size(), 50U);
  FloatPipe<Model> pipe(2);
  for (const auto& known : cases) {
    offer_curve(pipe, hexadecimal(known.at(0)), hexadecimal(known.at(1)));
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), cases.size());
}

TEST(FloatGolden, ExpNegGivesTheKnownAnswers) {
  check_known_answers<Vexp_neg_model>(golden("exp_silu.json").at("exp_neg"));
}

TEST(FloatGolden, SiluGivesTheKnownAnswers) {
  check_known_answers<Vsilu_model>(golden("exp_silu.json").at("silu"));
}

}  // namespace
}  // namespace logos
