#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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

/// Scores the first `count` golden sequences of stories260K on these lanes and holds each digest.
inline void expect_golden_stories(const std::vector<std::string>& mode, std::size_t count,
                                  const std::string& lanes_asked) {
  using nlohmann::json;
  const json tokens = golden_json("stories260K.tokens.json")["sequences"];
  const json golden = golden_json("stories260K.logits.json");
  TemporaryFolder folder;
  write_sequences(folder / "t", {tokens.begin(), tokens.begin() + static_cast<long>(count)});
  std::vector<std::string> arguments = {
      "--model", stories(),  "--score", "--format", "json", "--tokens", at_file(folder / "t"),
      "--lanes", lanes_asked};
  arguments.insert(arguments.end(), mode.begin(), mode.end());
  const Ended ended = run_bench(arguments);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const json lanes = json::parse(ended.out)["lanes"];
  ASSERT_EQ(lanes.size(),
            1u + static_cast<std::size_t>(std::count(lanes_asked.begin(), lanes_asked.end(), ',')));
  for (const json& lane : lanes) {
    if (count == 1) {
      EXPECT_EQ(lane["score"]["logits_sha256"], golden["sequence_sha256"][0]) << lane["lane"];
      continue;
    }
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
