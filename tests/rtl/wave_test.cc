// bench --wave, as a process: the files' headers state the times that were asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sim/whole_file.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

constexpr double kCyclePs = 1e6 / 300;

int run(const std::string& arguments) {
  const std::string command =
      std::string(LOGOS_BENCH) + " --lanes d5005 " + arguments + " >/dev/null 2>/dev/null";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A big-endian number of 64 bits.
std::uint64_t number(const std::string& bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

struct Times {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Of the header block with which an FST file begins: type 0, length, first and last time.
Times times_of(const std::string& file) {
  const std::string bytes = read_whole_file(file);
  EXPECT_GT(bytes.size(), 4096u);
  EXPECT_EQ(bytes[0], 0);
  return {number(bytes, 9), number(bytes, 17)};
}

TEST(AWave, HoldsTheCyclesAskedFor) {
  TemporaryFolder folder;
  const std::string file = (folder / "w.fst").string();
  ASSERT_EQ(run("--cut decode:9 --wave " + file + " --wave-window 1000:1500"), 0);
  const Times window = times_of(file);
  EXPECT_NEAR(static_cast<double>(window.last - window.first), 500 * kCyclePs, 3 * kCyclePs);
  ASSERT_EQ(run("--cut decode:9 --wave " + file + " --wave-window 1200:1500"), 0);
  const Times later = times_of(file);
  EXPECT_NEAR(static_cast<double>(later.first - window.first), 200 * kCyclePs, 3 * kCyclePs);
  EXPECT_EQ(later.last, window.last);
}

TEST(AWave, OfALineIsNotThatOfAnother) {
  TemporaryFolder folder;
  const std::string early = (folder / "e.fst").string();
  const std::string late = (folder / "l.fst").string();
  // The query's projection and the down projection of layer 1 (program write --cut
  // layer:1@decode:9).
  ASSERT_EQ(run("--cut layer:1@decode:9 --wave " + early + " --wave-window line:32"), 0);
  ASSERT_EQ(run("--cut layer:1@decode:9 --wave " + late + " --wave-window line:49"), 0);
  EXPECT_LT(times_of(early).last, times_of(late).first);
}

TEST(AWave, OfALineWithoutAnInstructionIsRefused) {
  TemporaryFolder folder;
  // Lines 45 to 50: the norm's quantization, the gate and the residual sum are within others'.
  for (const int line : {45, 46, 48, 49, 50}) {
    const std::string file = (folder / "w").string() + std::to_string(line);
    const bool has = line == 46 || line == 49;
    const std::string arguments =
        "--cut layer:1@decode:9 --wave " + file + " --wave-window line:" + std::to_string(line);
    EXPECT_EQ(run(arguments), has ? 0 : 2) << line;
    if (has) {
      EXPECT_GT(times_of(file).last, 0U) << line;
    }
  }
  EXPECT_EQ(run("--cut decode:9 --wave " + (folder / "w").string() + " --wave-window line:1"), 2);
  EXPECT_EQ(run("--cut decode:9 --wave /nowhere/w"), 2);
  EXPECT_EQ(run("--cut decode:9 --wave /dev/full"), 2);  // a device is not replaced by a file
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_EQ(run("--cut decode:9 --engine-rows 1 --wave " + (folder / "w").string()), 2);
}

std::string errors_of(const std::string& limit, const std::string& arguments, int status) {
  TemporaryFolder folder;
  const std::string errors = (folder / "errors").string();
  const std::string command =
      limit + std::string(LOGOS_BENCH) + " --lanes d5005 " + arguments + " >/dev/null 2>" + errors;
  const int ended = std::system(command.c_str());
  EXPECT_EQ(WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, status);
  return read_whole_file(errors);
}

TEST(AWave, BehindTheRunsEndSaysThatItHoldsNothing) {
  TemporaryFolder folder;
  const std::string file = (folder / "w.fst").string();
  EXPECT_THAT(
      errors_of("", "--cut decode:9 --wave " + file + " --wave-window 100000:200000", 0),
      testing::HasSubstr("bench: " + file + ": holds nothing: the run has no cycle in the window"));
  EXPECT_EQ(errors_of("", "--cut decode:9 --wave " + file + " --wave-window 100:200", 0), "");
  EXPECT_THAT(errors_of("", "--cut decode:9 --wave ''", 2), testing::HasSubstr("no name"));
}

TEST(AWave, ThatCannotBeWrittenWholeIsAnErrorAndIsRemoved) {
  TemporaryFolder folder;
  const std::string file = (folder / "w.fst").string();
  const std::string arguments = "--cut decode:9 --wave " + file + " --wave-window 0:50";
  ASSERT_EQ(run(arguments), 0);  // also packs the weights, which are larger than the limit
  const auto whole = std::filesystem::file_size(file);
  std::filesystem::remove(file);
  // A limit of a file's size, in blocks of 512 bytes, stands for a full disk.
  for (const std::uintmax_t blocks : {std::uintmax_t{16}, whole / 512 - 1}) {
    const std::string error = errors_of("ulimit -f " + std::to_string(blocks) + "; ", arguments, 2);
    EXPECT_THAT(error, testing::HasSubstr("bench: " + file + ": the ")) << blocks;
    EXPECT_THAT(error, testing::HasSubstr("is the disk full?")) << blocks;
  }
}

}  // namespace
}  // namespace logos
