#include "bench/sweep/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "program/error.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using Environment = std::map<std::string, std::string>;

Share share(const Environment& environment) {
  return share_of_environment([&](const char* name) -> const char* {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  });
}

std::string refusal(const Environment& environment) {
  return error_of([&] { share(environment); });
}

TEST(AShare, WithoutALauncherIsAll) {
  EXPECT_EQ(share({}).rank, 0);
  EXPECT_EQ(share({}).size, 1);
}

TEST(AShare, ComesFromMpirun) {
  const Share of = share({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}});
  EXPECT_EQ(of.rank, 2);
  EXPECT_EQ(of.size, 3);
}

TEST(AShare, ComesFromASlurmArray) {
  const Share of = share({{"SLURM_ARRAY_TASK_ID", "13"},
                          {"SLURM_ARRAY_TASK_COUNT", "4"},
                          {"SLURM_ARRAY_TASK_MIN", "5"},
                          {"SLURM_ARRAY_TASK_STEP", "4"}});
  EXPECT_EQ(of.rank, 2);
  EXPECT_EQ(of.size, 4);
}

TEST(AShare, OfMpirunInASlurmArrayIsOneOfAll) {
  const Share of = share({{"SLURM_ARRAY_TASK_ID", "1"},
                          {"SLURM_ARRAY_TASK_COUNT", "2"},
                          {"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "3"}});
  EXPECT_EQ(of.rank, 4);
  EXPECT_EQ(of.size, 6);
}

TEST(AShare, ThatIsNoneIsRefusedByName) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_RANK", "1"}}), HasSubstr("OMPI_COMM_WORLD_SIZE: missing"));
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_SIZE", "2"}}), HasSubstr("OMPI_COMM_WORLD_RANK: missing"));
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
              HasSubstr("beyond the number of processes; got 2, want below 2"));
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
              HasSubstr("OMPI_COMM_WORLD_RANK: not a whole number"));
  EXPECT_THAT(refusal({{"SLURM_ARRAY_TASK_ID", "1"}}),
              HasSubstr("SLURM_ARRAY_TASK_COUNT: missing"));
  EXPECT_THAT(refusal({{"SLURM_ARRAY_TASK_COUNT", "2"}}),
              HasSubstr("SLURM_ARRAY_TASK_ID: missing"));
}

}  // namespace
}  // namespace logos::bench
