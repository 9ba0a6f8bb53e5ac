// The canonical texts of shared/golden/logos, byte for byte, with their identities.
#include <nlohmann/json.hpp>

#include "program/genuine.h"
#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = LOGOS_SHARED_DIR;

ModelSpec spec_of(const std::string& model) {
  if (const auto spec = preset(model)) return *spec;
  return read_model_directory(kShared / "models" / model).spec;
}

nlohmann::json golden_texts() {
  return nlohmann::json::parse(read_whole(kShared / "golden/logos/index.json"))["texts"];
}

TEST(GoldenTexts, AreWrittenByteForByte) {
  int texts = 0;
  for (const auto& entry : golden_texts()) {
    const std::string file = entry["file"];
    const Cut cut = Cut::parse(entry["cut"].get<std::string>());
    const Written found = written_split(spec_of(entry["model"]), cut, entry["chips"]);
    EXPECT_EQ(found.text, read_whole(kShared / "golden/logos" / file)) << file;
    EXPECT_EQ(found.identity.sha256, entry["sha256"].get<std::string>()) << file;
    EXPECT_EQ(found.identity.cut, entry["cut"].get<std::string>());
    EXPECT_EQ(found.identity.chips, entry["chips"].get<std::int64_t>());
    if (entry["chips"] == 1) {
      EXPECT_EQ(cut.write(spec_of(entry["model"])), found.text);
    }
    ++texts;
  }
  EXPECT_EQ(texts, 8);
}

TEST(GoldenTexts, AreGenuineAndReadForEveryChip) {
  for (const auto& entry : golden_texts()) {
    const std::string file = entry["file"];
    const std::string text = read_whole(kShared / "golden/logos" / file);
    const Identity identity = genuine(text, file);
    EXPECT_EQ(identity.sha256, entry["sha256"].get<std::string>()) << file;
    const auto programs = read_genuine(text, file, identity);
    ASSERT_EQ(static_cast<std::int64_t>(programs.size()), entry["chips"].get<std::int64_t>());
    for (const Program& program : programs) EXPECT_EQ(program.identity, identity);
  }
}

TEST(GoldenTexts, StateTheSpecOfTheirModel) {
  // Whole cuts state all of it; a part states what it uses.
  for (const auto& entry : golden_texts()) {
    const Cut cut = Cut::parse(entry["cut"].get<std::string>());
    if (cut.part != Cut::Part::kWhole) continue;
    const std::string file = entry["file"];
    const Facts facts = read_facts(read_whole(kShared / "golden/logos" / file), file);
    EXPECT_EQ(facts.spec, spec_of(entry["model"])) << file;
    EXPECT_EQ(facts.cut, cut);
  }
}

}  // namespace
}  // namespace logos
