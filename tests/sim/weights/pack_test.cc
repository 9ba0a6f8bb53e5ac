#include "sim/weights/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>

#include "sim/weights/checkpoint_source.h"
#include "sim/weights/store.h"
#include "sim/weights/synthetic_source.h"
#include "tests/sim/weights/checkpoint_files.h"
#include "tests/sim/weights/store_folder.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kSource(64, 'a');
const std::vector<PlannedTensor> kPlan = {{"m", true, 300, 8000}, {"v", false, 1, 5}};

/// Synthetic rows with something to do before each.
class WatchedSource final : public RowSource {
 public:
  explicit WatchedSource(std::function<void(std::int64_t)> before) : before_(std::move(before)) {}
  float matrix_row(const PlannedTensor& tensor, std::int64_t row,
                   std::span<std::uint8_t> multipliers, std::span<std::int8_t> q) override {
    before_(row);
    return rows_.matrix_row(tensor, row, multipliers, q);
  }
  void vector(const PlannedTensor& tensor, std::span<float> values) override {
    rows_.vector(tensor, values);
  }

 private:
  std::function<void(std::int64_t)> before_;
  SyntheticSource rows_{3};
};

/// Runs `action` in a process of its own; returns the status of waitpid.
int in_child(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      action();
      _exit(0);
    } catch (const std::exception&) {
      _exit(1);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Pack, AKilledPackerLeavesNoStoreAndItsRestGoesWithTheNext) {
  const StoreFolder folder;
  const auto file = folder / "a.weights";
  const int status = in_child([&] {
    WatchedSource rows([](std::int64_t row) {
      if (row == 200) raise(SIGKILL);
    });
    pack(kPlan, rows, kSource, file);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(folder.entries(), 1) << "the killed packer's temporary file";
  SyntheticSource rows(3);
  pack(kPlan, rows, kSource, file);
  EXPECT_EQ(folder.only_file(), file);
  open_store(file, kSource);
}

TEST(Pack, TwoProcessesAtOnceBothEndWithTheSameStore) {
  const StoreFolder folder;
  const auto file = folder / "a.weights";
  int ready[2];
  int go[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(go), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        // Each says that it is in the middle and goes on when both are.
        WatchedSource rows([&](std::int64_t row) {
          char byte = 'x';
          if (row == 150 && (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1))
            _exit(2);
        });
        pack(kPlan, rows, kSource, file);
        open_store(file, kSource);
        _exit(0);
      } catch (const std::exception&) {
        _exit(1);
      }
    }
    children.push_back(child);
  }
  char bytes[2];
  ASSERT_EQ(read(ready[0], bytes, 1), 1);
  ASSERT_EQ(read(ready[0], bytes, 1), 1);
  EXPECT_EQ(folder.entries(), 2) << "a temporary file each";
  ASSERT_EQ(write(go[1], bytes, 2), 2);
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(folder.only_file(), file);
  open_store(file, kSource);
  for (const int end : {ready[0], ready[1], go[0], go[1]}) close(end);
}

TEST(Pack, ARowThatIsRefusedLeavesNothing) {
  const StoreFolder folder;
  WatchedSource rows([](std::int64_t row) {
    if (row == 100) throw Error("w", "refused");
  });
  EXPECT_EQ(error_of([&] { pack(kPlan, rows, kSource, folder / "a.weights"); }), "w: refused");
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Pack, ACheckpointThatChangesMeanwhileGivesNoStore) {
  const TemporaryFolder model;
  const auto file = model / "model.safetensors";
  write_file(file, safetensors({{"m", "F32", {2, 2}, encoded({1, 2, 3, 4}, "F32")}}));
  const Checkpoint checkpoint(model.path());
  const std::vector<PlannedTensor> plan = {{"m", true, 2, 2}};
  const StoreFolder folder;
  CheckpointSource rows(checkpoint);
  pack(plan, rows, kSource, folder / "a.weights");
  EXPECT_EQ(folder.entries(), 1);
  std::filesystem::last_write_time(
      file, std::filesystem::last_write_time(file) + std::chrono::seconds(1));
  EXPECT_THAT(error_of([&] { pack(plan, rows, kSource, folder / "b.weights"); }),
              AllOf(HasSubstr("model.safetensors"), HasSubstr("was written to")));
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Pack, NoRoomIsToldAtOnceWithPathAndCauseAndLeavesNothing) {
  const StoreFolder folder;
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1'000'000, 1'000'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    WatchedSource rows([](std::int64_t) { _exit(3); });  // no row is asked for
    const std::string message = error_of([&] { pack(kPlan, rows, kSource, folder / "a.weights"); });
    if (message.find("a.weights") == std::string::npos) _exit(4);
    if (message.find("File too large") == std::string::npos) _exit(5);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Pack, AFolderThatCannotBeMadeOrWrittenIsNamedWithTheCause) {
  const StoreFolder folder;
  SyntheticSource rows(3);
  write_file(folder / "file", "x");
  EXPECT_THAT(error_of([&] { pack(kPlan, rows, kSource, folder / "file/sub/a.weights"); }),
              AllOf(HasSubstr("file/sub"), HasSubstr("Not a directory")));
  EXPECT_THAT(error_of([&] { pack(kPlan, rows, kSource, "/proc/a.weights"); }),
              AllOf(HasSubstr("/proc/a.weights"), HasSubstr("cannot write")));
  std::filesystem::create_directory(folder / "a.weights");
  WatchedSource none([](std::int64_t) { FAIL() << "a row was made"; });
  EXPECT_THAT(error_of([&] { pack(kPlan, none, kSource, folder / "a.weights"); }),
              HasSubstr("a.weights: cannot write: what stands there is no regular file"));
  EXPECT_EQ(folder.entries(), 2);
}

}  // namespace
}  // namespace logos
