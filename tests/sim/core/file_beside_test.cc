#include "sim/file_beside.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "sim/weights/temporary_file.h"
#include "sim/whole_file.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

namespace fs = std::filesystem;

/// A process that is killed while it has a file beside `file`.
void leave_one(const fs::path& file) {
  const pid_t child = fork();
  if (child == 0) {
    const FileBeside beside(file);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(AFileBeside, ComesIntoPlaceWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const fs::path file = folder / "file";
  {
    const FileBeside unused(file);
    EXPECT_FALSE(fs::exists(file));
    EXPECT_EQ(folder.entries(), 1);
  }
  EXPECT_EQ(folder.entries(), 0);
  FileBeside beside(file);
  ASSERT_EQ(write(beside.descriptor(), "x", 1), 1);
  EXPECT_EQ(beside.rename_into_place(), 0);
  EXPECT_EQ(read_whole_file(file), "x");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AFileBeside, OfAKilledProcessIsRemovedByTheNextWriter) {
  const TemporaryFolder folder;
  const std::function<void()> writers[] = {[&] { write_whole_file(folder / "other", "x"); },
                                           [&] { check_writable(folder / "other"); },
                                           [&] { TemporaryFile(folder / "other", 1).commit(); },
                                           [&] { remove_abandoned_files(folder.path()); }};
  write_whole_file(folder / "other", "x");
  for (const auto& write : writers) {
    leave_one(folder / "file");
    ASSERT_EQ(folder.entries(), 2);
    write();
    EXPECT_EQ(folder.entries(), 1);
  }
}

TEST(AFileBeside, OfALivingWriterStays) {
  const TemporaryFolder folder;
  FileBeside living(folder / "file");
  write_whole_file(folder / "file", "another's");
  EXPECT_EQ(folder.entries(), 2);
  EXPECT_EQ(living.rename_into_place(), 0);
  EXPECT_EQ(read_whole_file(folder / "file"), "");
}

TEST(AFileBeside, OnlyIsRemovedAndNothingOfAnotherName) {
  const TemporaryFolder folder;
  for (const char* name : {"file.backup", "file.tmp", "file.logos-tmp.old", ".logos"}) {
    std::ofstream(folder / name) << "kept";
  }
  write_whole_file(folder / "kept", "x");
  fs::create_symlink(folder / "kept", folder / "link.Ab12Cd.logos-tmp");
  remove_abandoned_files(folder.path());
  EXPECT_EQ(folder.entries(), 6);
  EXPECT_EQ(read_whole_file(folder / "kept"), "x");
}

TEST(AFileBeside, IsMadeInTheCurrentFolderToo) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  leave_one("file");
  EXPECT_EQ(folder.entries(), 1);
  write_whole_file("file", "x");
  EXPECT_EQ(folder.entries(), 1);
  fs::current_path(before);
}

TEST(AFileBeside, NamesTheFileThatCannotBeWritten) {
  EXPECT_EQ(error_of([] { FileBeside("/no/such/file"); }),
            "/no/such/file: cannot write: No such file or directory");
  const TemporaryFolder folder;
  FileBeside beside(folder / "file");
  fs::create_directory(folder / "file");
  EXPECT_EQ(beside.rename_into_place(), EISDIR);
}

}  // namespace
}  // namespace logos
