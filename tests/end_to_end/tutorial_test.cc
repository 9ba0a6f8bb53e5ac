// The tutorial, followed literally: each of its commands prints what the page shows.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/end_to_end/shown_output.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder that looks like the project after its build, so that what the commands write does not
/// go into the source tree.
void lay_out(const fs::path& folder) {
  const fs::path source = LOGOS_SOURCE_DIR;
  for (const char* name : {"configs", "docs", "models"}) {
    fs::create_directory_symlink(source / name, folder / name);
  }
  fs::create_directories(folder / "build");
  fs::create_directory_symlink(LOGOS_BINARY_DIR "/bin", folder / "build" / "bin");
  fs::create_directories(folder / "scripts");  // it has built already
  fs::create_symlink(LOGOS_BINARY_DIR "/bin/bench", folder / "scripts" / "bench");
}

TEST(Tutorial, PrintsWhatItShows) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary / "project";
  fs::create_directories(folder);
  lay_out(folder);
  const fs::path out = temporary / "out";
  const auto commands = shown_commands(contents(LOGOS_SOURCE_DIR "/docs/tutorial.md"));
  ASSERT_GE(commands.size(), 10u);
  for (const ShownCommand& shown : commands) {
    std::ofstream(temporary / "command") << shown.command << "\n";
    const std::string line =
        fmt::format("cd {} && LOGOS_STORE={} sh {} >{} 2>&1 </dev/null", folder.string(),
                    LOGOS_BINARY_DIR "/test-store", (temporary / "command").string(), out.string());
    const int status = std::system(line.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "docs/tutorial.md:" << shown.line << ": " << shown.command;
    const std::string printed = contents(out);
    EXPECT_EQ(difference(shown.output, lines_of(printed)), "")
        << "docs/tutorial.md:" << shown.line << ": " << shown.command << "\nprinted:\n"
        << printed;
  }
}

TEST(ShownOutput, IsReadFromAPage) {
  const auto commands = shown_commands(
      "text\n```console\n$ one \\\n  more\na\n\nb\n$ two\n```\n```\n$ no command\n```\n");
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].line, 3);
  EXPECT_EQ(commands[0].command, "one \\\n  more");
  EXPECT_EQ(commands[0].output, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(commands[1].command, "two");
  EXPECT_TRUE(commands[1].output.empty());
}

TEST(ShownOutput, IsComparedLineByLine) {
  const auto same = [](const std::string& shown, const std::string& got) {
    return difference(lines_of(shown), lines_of(got)).empty();
  };
  EXPECT_TRUE(same("a\nb", "a\nb"));
  EXPECT_FALSE(same("a\nb", "a"));
  EXPECT_FALSE(same("a", "a\nb"));
  EXPECT_FALSE(same("a 1", "a 2"));
  EXPECT_TRUE(same("a …", "a 2"));
  EXPECT_TRUE(same("a … c … e", "a b c d e"));
  EXPECT_FALSE(same("a … c … e", "a b d e"));
  EXPECT_TRUE(same("a\n…\nd", "a\nb\nc\nd"));
  EXPECT_TRUE(same("a\n…\nd", "a\nd"));
  EXPECT_FALSE(same("a\n…\nd", "a\nb"));
  EXPECT_TRUE(same("…", ""));
  EXPECT_EQ(difference({"a", "b"}, {"a", "c"}), "shown: b\n  got: c");
  EXPECT_EQ(difference({"a", "b"}, {"a"}), "shown: b\n  got: nothing more");
  EXPECT_EQ(difference({"a"}, {"a", "b"}), "not shown: b");
}

}  // namespace
}  // namespace logos
