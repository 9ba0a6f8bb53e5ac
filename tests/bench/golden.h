#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {

inline std::filesystem::path golden_file(const std::string& name) {
  return std::filesystem::path(LOGOS_SHARED_DIR) / "golden" / name;
}

inline nlohmann::json golden_json(const std::string& name) {
  std::ifstream file(golden_file(name));
  return nlohmann::json::parse(file);
}

/// The directory of the public model.
inline std::string stories() {
  return (std::filesystem::path(LOGOS_SHARED_DIR) / "models" / "stories260K").string();
}

/// Writes sequences of ids in the form of --tokens @FILE.
inline void write_sequences(const std::filesystem::path& file,
                            const std::vector<nlohmann::json>& sequences) {
  std::ofstream out(file);
  for (const nlohmann::json& sequence : sequences) {
    for (std::size_t i = 0; i < sequence.size(); ++i) out << (i == 0 ? "" : " ") << sequence[i];
    out << '\n';
  }
}

/// Scores the first `count` golden sequences of stories260K on both lanes and holds each digest.
inline void expect_golden_stories(const std::vector<std::string>& mode, std::size_t count) {
  using nlohmann::json;
  const json tokens = golden_json("stories260K.tokens.json")["sequences"];
  const json golden = golden_json("stories260K.logits.json");
  TemporaryFolder folder;
  write_sequences(folder / "t", {tokens.begin(), tokens.begin() + static_cast<long>(count)});
  std::vector<std::string> arguments = {
      "--model", stories(), "--score", "--format", "json", "--tokens", at_file(folder / "t")};
  arguments.insert(arguments.end(), mode.begin(), mode.end());
  const Ended ended = run_bench(arguments);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const json lanes = json::parse(ended.out)["lanes"];
  ASSERT_EQ(lanes.size(), 2u);
  for (const json& lane : lanes) {
    ASSERT_EQ(lane["sequences"].size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(lane["sequences"][i]["logits_sha256"], golden["sequence_sha256"][i])
          << lane["lane"] << ", sequence " << i;
    }
    if (count == tokens.size()) {
      EXPECT_EQ(lane["score"]["logits_sha256"], golden["sha256"]) << lane["lane"];
    }
  }
}

}  // namespace logos::bench
