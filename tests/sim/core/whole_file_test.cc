#include "sim/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "tests/sim/core/temporary_folder.h"
#include "tests/sim/core/without_rights.h"

namespace logos {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WholeFile, WritesAndReadsEveryByte) {
  const TemporaryFolder folder;
  std::string bytes(3'000'000, 'x');
  bytes[1] = '\0';
  write_whole_file(folder / "file", bytes);
  EXPECT_EQ(read_whole_file(folder / "file"), bytes);
  EXPECT_EQ(folder.entries(), 1);
}

TEST(WholeFile, KeepsTheModeOfTheFileItReplaces) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "old";
  ASSERT_EQ(chmod((folder / "file").c_str(), 0640), 0);
  write_whole_file(folder / "file", "new");
  struct stat info {};
  ASSERT_EQ(stat((folder / "file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, mode_t{0640});
}

TEST(WholeFile, WritesThroughALink) {
  const TemporaryFolder folder;
  std::ofstream(folder / "target") << "old";
  std::filesystem::create_symlink(folder / "target", folder / "link");
  write_whole_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_whole_file(folder / "target"), "new");
}

TEST(WholeFile, AMissingParentIsNamed) {
  const TemporaryFolder folder;
  const auto file = folder / "missing" / "file";
  for (const auto& action : {std::function<void()>([&] { write_whole_file(file, "x"); }),
                             std::function<void()>([&] { check_writable(file); })}) {
    EXPECT_THAT(error_of(action), AllOf(HasSubstr(file.string()), HasSubstr("missing: No such")));
  }
}

TEST(WholeFile, AFileInPlaceOfTheParentIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "parent") << "x";
  EXPECT_THAT(error_of([&] { write_whole_file(folder / "parent" / "file", "x"); }),
              HasSubstr("parent is no folder"));
}

TEST(WholeFile, AFolderInItsPlaceIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { write_whole_file(folder.path(), "x"); }), HasSubstr("it is a folder"));
  EXPECT_THAT(error_of([&] { check_writable(folder.path()); }), HasSubstr("it is a folder"));
  EXPECT_THAT(error_of([&] { read_whole_file(folder.path()); }), HasSubstr("it is a folder"));
}

TEST(WholeFile, NoPermissionIsNamedWithThePath) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  const auto file = folder / "file";
  EXPECT_THAT(error_without_rights([&] { write_whole_file(file, "x"); }),
              AllOf(HasSubstr(file.string()), HasSubstr("Permission denied")));
  EXPECT_THAT(error_without_rights([&] { check_writable(file); }), HasSubstr("Permission denied"));
  EXPECT_EQ(folder.entries(), 0);
}

TEST(WholeFile, AFullDiskIsAnError) {
  const std::string error = error_of([] { write_whole_file("/dev/full", "x"); });
  EXPECT_THAT(error, AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(WholeFile, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "old";
  // The limit on a file's size stands for a full disk: write(2) fails part way.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {4096, 4096};
    const bool limited = setrlimit(RLIMIT_FSIZE, &limit) == 0;
    const std::string message =
        error_of([&] { write_whole_file(folder / "file", std::string(1 << 16, 'n')); });
    _exit(limited && message.find("File too large") != std::string::npos ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_whole_file(folder / "file"), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(WholeFile, CheckingLeavesNothingBehind) {
  const TemporaryFolder folder;
  check_writable(folder / "file");
  EXPECT_EQ(folder.entries(), 0);
}

TEST(WholeFile, AMissingFileIsNamedWhenRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_whole_file(folder / "none"); }),
              AllOf(HasSubstr("none"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace logos
