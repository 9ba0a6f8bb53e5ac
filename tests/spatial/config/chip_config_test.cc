#include "spatial/chip_config.h"

#include <gtest/gtest.h>

namespace logos::spatial {
namespace {

const std::string kFolder = LOGOS_SOURCE_DIR "/configs/chips/";

TEST(ChipConfig, ReadsTheFilesThatAreShipped) {
  for (const char* file :
       {"tiles-256.json", "small.json", "northpole-like.json", "wormhole-like.json"}) {
    const ChipConfig chip = parse_chip_config(load_chip_config(kFolder + file, {}).json);
    EXPECT_FALSE(chip.name.empty());
    EXPECT_LE(chip.weight_bytes, chip.sram_bytes);
  }
}

}  // namespace
}  // namespace logos::spatial
