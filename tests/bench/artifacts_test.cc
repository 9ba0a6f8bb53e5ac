#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/whole_file.h"
#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Artifacts : public testing::Test {
 protected:
  Ended run(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "--cut", "decode:3", "--artifacts", folder_.path().string(), "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_bench(arguments);
  }

  TemporaryFolder folder_;
  const fs::path reference_ = folder_ / "reference.decode_3.1.artifact";
  const fs::path cuda_ = folder_ / "cuda.decode_3.1.artifact";
};

TEST_F(Artifacts, AreSavedAndReused) {
  ASSERT_EQ(run().status, 0);
  ASSERT_TRUE(fs::exists(reference_));
  ASSERT_TRUE(fs::exists(cuda_));
  const auto before = fs::last_write_time(cuda_);
  const Ended again = run();
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(fs::last_write_time(cuda_), before);
  EXPECT_EQ(folder_.entries(), static_cast<long>(built_lanes().size()));
}

TEST_F(Artifacts, LeftUnfinishedByAKilledRunAreRemoved) {
  ASSERT_EQ(run().status, 0);
  const long entries = folder_.entries();
  std::ofstream(folder_ / "cuda.decode_9.1.artifact.Ab12Cd.logos-tmp") << "LOGOS art";
  EXPECT_EQ(run().status, 0);  // reuses what is there: nothing is written
  EXPECT_EQ(folder_.entries(), entries);
}

TEST_F(Artifacts, OfOtherWeightsAreRefusedWithBothDigests) {
  ASSERT_EQ(run().status, 0);
  const Ended ended = run({"--weights", "synthetic:5"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, HasSubstr("\"refused\": \"" + reference_.string()));
  EXPECT_THAT(ended.out, testing::ContainsRegex("weights.*got [0-9a-f]+, want [0-9a-f]+"));
}

TEST_F(Artifacts, OfAnotherConfigurationAreRefused) {
  ASSERT_EQ(run().status, 0);
  const Ended ended = run({"--set", "gpu.launch_us=9"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, HasSubstr("\"refused\": \"" + cuda_.string()));
  EXPECT_THAT(ended.out, HasSubstr("\"agrees\": true"));  // the reference's is unharmed
}

TEST_F(Artifacts, OfAnotherCutAreRefused) {
  ASSERT_EQ(run().status, 0);
  const Ended other = run_bench({"--cut", "decode:4", "--artifacts", folder_.path().string()});
  ASSERT_EQ(other.status, 0);
  fs::copy_file(folder_ / "cuda.decode_4.1.artifact", cuda_, fs::copy_options::overwrite_existing);
  const Ended ended = run();
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, HasSubstr("decode:4"));
}

TEST_F(Artifacts, ThatAreDamagedAreRefused) {
  ASSERT_EQ(run().status, 0);
  std::string bytes = read_whole_file(cuda_);
  bytes[bytes.size() / 2] ^= 1;
  write_whole_file(cuda_, bytes);
  EXPECT_EQ(run().status, 2);
  write_whole_file(cuda_, bytes.substr(0, bytes.size() / 2));
  const Ended ended = run();
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, HasSubstr(cuda_.string()));
}

TEST_F(Artifacts, FolderIsMadeOrRefused) {
  const fs::path inner = folder_ / "a" / "b";
  EXPECT_EQ(run_bench({"--cut", "decode:2", "--artifacts", inner.string()}).status, 0);
  EXPECT_TRUE(fs::exists(inner / "cuda.decode_2.1.artifact"));
  std::ofstream(folder_ / "file").close();
  const Ended ended = run_bench({"--cut", "decode:2", "--artifacts", (folder_ / "file").string()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr((folder_ / "file").string()));
}

}  // namespace
}  // namespace logos::bench
