#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "rtl/driver/driver.h"
#include "sim/comparison.h"
#include "tests/contract/contract.h"

namespace logos::d5005 {

/// The row table of a plan's run.
inline std::vector<TableRow> table_of(const Plan& plan, const Inputs& inputs) {
  std::vector<TableRow> table(static_cast<std::size_t>(plan.rows));
  for (std::size_t r = 0; r < table.size(); ++r) {
    if (plan.has_tokens) table[r].token = static_cast<std::uint32_t>(inputs.tokens[r] - 1);
    if (plan.has_positions) table[r].position = static_cast<std::uint32_t>(inputs.positions[r] - 1);
  }
  return table;
}

/// Fails once for each operation that differs.
inline void expect_same(const std::vector<LineDigest>& expected,
                        const std::vector<LineDigest>& got) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(testing::Message() << expected[i].name << " of layer " << expected[i].layer);
    ASSERT_EQ(expected[i].name, got[i].name);
    EXPECT_EQ(expected[i].layer, got[i].layer);
    EXPECT_EQ(expected[i].line, got[i].line);
    EXPECT_EQ(expected[i].sha256, got[i].sha256);
  }
}

/// Runs the reference under an observer.
inline void show_reference(const contract::Job& job, const Inputs& inputs, Observer& observer) {
  const bench::LaneEntry lane = contract::lane_named("reference");
  const Artifact artifact = lane.lane->lower(job.text, job.identity, *job.weights, lane.config);
  RunOptions options;
  options.observer = &observer;
  Inputs left = inputs;
  lane.lane->run(artifact, job.identity, *job.weights, lane.config, left, options);
}

inline std::vector<LineDigest> reference_digests(const contract::Job& job, const Inputs& inputs) {
  LineDigests digests;
  show_reference(job, inputs, digests);
  return digests.digests();
}

}  // namespace logos::d5005
