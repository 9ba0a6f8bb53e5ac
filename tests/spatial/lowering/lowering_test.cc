#include "spatial/lowering/lowering.h"

#include <gtest/gtest.h>

#include "spatial/plan/plan_bytes.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

TEST(Lowering, EveryCutOfEveryFamilyHasAPlanThatIsReadBack) {
  for (const char* model : {"kjv", "llama", "mistral", "qwen2", "qwen3"}) {
    for (const char* cut :
         {"decode:5", "prefill:12", "batch:11x4", "prefill:1", "embedding@decode:5",
          "embedding@prefill:7", "embedding@batch:3x4", "layer:1@decode:5", "layer:2@prefill:7",
          "layer:2@batch:3x4", "head@decode:5", "head@prefill:7", "head@batch:3x4"}) {
      for (const int chips : {1, 2, 3}) {
        for (const char* chip : {"tiles-256.json", "small.json"}) {
          SCOPED_TRACE(testing::Message() << model << ' ' << cut << ' ' << chips << ' ' << chip);
          const Plan plan = lowered(model, cut, chips, chip_named(chip));
          const std::string bytes = serialise_plan(plan);
          EXPECT_EQ(serialise_plan(parse_plan(bytes, "test")), bytes);
        }
      }
    }
  }
}

}  // namespace
}  // namespace logos::spatial
