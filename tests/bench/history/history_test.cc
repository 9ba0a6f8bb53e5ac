#include "bench/history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "bench/history/schema.h"
#include "program/error.h"
#include "sim/whole_file.h"
#include "tests/sim/core/temporary_folder.h"
#include "tests/sim/core/without_rights.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

void quiet(std::string_view) {}

/// An object as `--format json` has it, with a lane for each of `lanes`.
Json result_of(const std::vector<std::string>& lanes) {
  Json result = {{"context",
                  {{"model", "m"},
                   {"weights_sha256", "w"},
                   {"git", {{"commit", "c"}, {"dirty", false}}},
                   {"configurations", {{"cuda", "d"}}}}},
                 {"cuts", Json::array()}};
  if (lanes.empty()) return result;
  result["cuts"].push_back({{"cut", "decode:2"},
                            {"identity", {{"cut", "decode:2"}, {"chips", 1}, {"sha256", "p"}}},
                            {"lanes", Json::array()}});
  for (const std::string& lane : lanes) {
    result["cuts"][0]["lanes"].push_back(
        {{"lane", lane}, {"agrees", true}, {"seconds", 0.1}, {"cycles", 7}});
  }
  return result;
}

/// Runs SQL on a file with SQLite alone.
void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST(History, GivesAResultBackAsItWas) {
  TemporaryFolder folder;
  const Json result = result_of({"reference", "cuda"});
  std::int64_t run = 0;
  {
    History history(folder / "h", History::Open::kMake, quiet);
    run = history.begin("bench", result_of({}));
    history.keep(run, result, true);
  }
  const History history(folder / "h", History::Open::kExisting, quiet);
  EXPECT_EQ(history.result(run).dump(), result.dump());
  ASSERT_EQ(history.runs().size(), 1u);
  EXPECT_TRUE(history.runs()[0].ended.has_value());
  EXPECT_EQ(history.runs()[0].command, "bench");
}

TEST(History, KeepsTheScoresOfSequences) {
  TemporaryFolder folder;
  History history(folder / "h", History::Open::kMake, quiet);
  Json result = result_of({});
  result.erase("cuts");
  result["lanes"] = {{{"lane", "cuda"}, {"agrees", true}, {"score", {{"nll", 1.5}}}}};
  const std::int64_t run = history.begin("bench --score", result);
  history.keep(run, result, false);
  EXPECT_TRUE(history.result(run)["lanes"][0]["agrees"].is_null());
  history.keep(run, result, true);
  EXPECT_EQ(history.result(run).dump(), result.dump());
}

TEST(History, OfARunThatHasNotEndedSaysNotThatItAgrees) {
  TemporaryFolder folder;
  History history(folder / "h", History::Open::kMake, quiet);
  const std::int64_t run = history.begin("bench", result_of({}));
  history.keep(run, result_of({"reference"}), false);
  history.keep(run, result_of({"reference", "cuda"}), false);
  const Json kept = history.result(run);
  ASSERT_EQ(kept["cuts"][0]["lanes"].size(), 2u);
  EXPECT_TRUE(kept["cuts"][0]["lanes"][1]["agrees"].is_null());
  EXPECT_EQ(kept["cuts"][0]["lanes"][1]["cycles"], 7);
  EXPECT_FALSE(history.runs()[0].ended.has_value());
}

TEST(History, FindsRunsByNumberAndFromTheLast) {
  TemporaryFolder folder;
  History history(folder / "h", History::Open::kMake, quiet);
  for (int i = 0; i < 3; ++i) history.begin("bench", result_of({}));
  EXPECT_EQ(history.run_named("2"), 2);
  EXPECT_EQ(history.run_named("last"), 3);
  EXPECT_EQ(history.run_named("last-2"), 1);
  EXPECT_THAT(error_of([&] { history.run_named("4"); }), HasSubstr("has no run 4"));
  EXPECT_THAT(error_of([&] { history.run_named("last-3"); }), HasSubstr("has no run last-3"));
  EXPECT_THAT(error_of([&] { history.run_named("lasting"); }), HasSubstr("no name of a run"));
  EXPECT_THAT(error_of([&] { history.run_named("02"); }), HasSubstr("no name of a run"));
  EXPECT_THAT(error_of([&] { history.result(9); }), HasSubstr("has no run 9"));
}

TEST(History, InAnEmptyFileIsANewOne) {
  TemporaryFolder folder;
  std::ofstream(folder / "h").close();
  History history(folder / "h", History::Open::kMake, quiet);
  EXPECT_TRUE(history.runs().empty());
}

TEST(History, IsKeptWithAWriteAheadLog) {
  TemporaryFolder folder;
  History history(folder / "h", History::Open::kMake, quiet);
  history.begin("bench", result_of({}));
  EXPECT_TRUE(std::filesystem::exists(folder / "h-wal"));
}

TEST(History, SaysWhatItIsBeforeItsLogIsWrittenBack) {
  TemporaryFolder folder;
  // While it is open, and where its process was killed, all but the tables may stand in the log.
  History history(folder / "h", History::Open::kMake, quiet);
  history.begin("bench", result_of({}));
  EXPECT_EQ(error_of([&] { check_history_file(folder / "h", true); }), "");
}

/// What somebody reads of run 1 who may write neither the history nor its folder; or the error.
std::string read_only(const TemporaryFolder& folder) {
  const auto set = [&](std::filesystem::perms mode) {
    std::filesystem::permissions(folder.path(), mode | std::filesystem::perms{0555});
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      std::filesystem::permissions(entry.path(), mode | std::filesystem::perms{0444});
    }
  };
  const long entries = folder.entries();
  set(std::filesystem::perms::none);
  std::string text = error_without_rights([&] {
    const History history(folder / "h ?%#", History::Open::kExisting, quiet);
    throw Error("read", history.result(1).dump());
  });
  set(std::filesystem::perms::owner_write);
  EXPECT_EQ(folder.entries(), entries);
  return text;
}

TEST(AHistoryThatMayOnlyBeRead, IsRead) {
  TemporaryFolder folder;
  const Json result = result_of({"reference", "cuda"});
  {
    History history(folder / "h ?%#", History::Open::kMake, quiet);
    history.keep(history.begin("bench", result_of({})), result, true);
    // While a run writes, and its last results stand in the log.
    EXPECT_EQ(read_only(folder), "read: " + result.dump());
  }
  EXPECT_EQ(folder.entries(), 1);
  EXPECT_EQ(read_only(folder), "read: " + result.dump());
}

TEST(AHistoryThatMayOnlyBeRead, IsNotReadWithoutItsLastLines) {
  TemporaryFolder folder;
  {
    History history(folder / "kept", History::Open::kMake, quiet);
    history.begin("bench", result_of({}));
    for (const char* end : {"", "-wal"}) {
      std::filesystem::copy(folder / ("kept" + std::string(end)),
                            folder / ("h ?%#" + std::string(end)));
    }
  }
  EXPECT_THAT(read_only(folder), HasSubstr("its last lines stand in h ?%#-wal: copy both files"));
}

TEST(AHistoryThatMayOnlyBeRead, IsSaidToBeEmptyWhereItIs) {
  TemporaryFolder folder;
  std::ofstream(folder / "h ?%#").close();
  EXPECT_THAT(read_only(folder), HasSubstr("is empty and cannot be written"));
}

TEST(TheWriteAheadLog, IsNotForFileSystemsThatMachinesShare) {
  EXPECT_TRUE(is_shared_file_system(0x6969));
  EXPECT_TRUE(is_shared_file_system(0x0BD00BD0));
  // A magic above 2^31 comes as a negative number where f_type is signed.
  EXPECT_TRUE(is_shared_file_system(static_cast<std::int32_t>(0xFF534D42)));
  EXPECT_FALSE(is_shared_file_system(0xEF53));      // ext4
  EXPECT_FALSE(is_shared_file_system(0x01021994));  // tmpfs
}

/// What opening a file as a history says, which must leave its bytes and folder alone.
std::string refusal(const TemporaryFolder& folder, History::Open open = History::Open::kMake) {
  const std::filesystem::path file = folder / "h";
  const bool regular = std::filesystem::is_regular_file(file);
  const std::string before = regular ? read_whole_file(file) : "";
  const long entries = folder.entries();
  std::string message = error_of([&] { History(file, open, quiet); });
  EXPECT_EQ(std::filesystem::is_regular_file(file) ? read_whole_file(file) : "", before);
  EXPECT_EQ(folder.entries(), entries);
  EXPECT_THAT(message, HasSubstr(file.string()));
  return message;
}

TEST(AFileThatIsNoHistory, IsRefusedUntouched) {
  TemporaryFolder folder;
  EXPECT_THAT(refusal(folder, History::Open::kExisting), HasSubstr("there is no such file"));
  std::ofstream(folder / "h") << "SQLite";
  EXPECT_THAT(refusal(folder), HasSubstr("it is not an SQLite file"));
  std::ofstream(folder / "h") << std::string(4096, 'x');
  EXPECT_THAT(refusal(folder), HasSubstr("it is not an SQLite file"));
  std::filesystem::remove(folder / "h");
  std::filesystem::create_directory(folder / "h");
  EXPECT_THAT(refusal(folder), HasSubstr("is a directory"));
}

TEST(AnotherProgramsDatabase, IsRefusedUntouched) {
  TemporaryFolder folder;
  run_sql(folder / "h", "CREATE TABLE run (number INTEGER)");
  EXPECT_THAT(refusal(folder), HasSubstr("another program's SQLite file"));
  run_sql(folder / "h", "PRAGMA journal_mode = WAL; PRAGMA application_id = 17");
  EXPECT_THAT(refusal(folder), HasSubstr("got application id 0x11"));
}

TEST(AHistoryOfAnotherSchema, IsRefusedUntouched) {
  TemporaryFolder folder;
  { History(folder / "h", History::Open::kMake, quiet); }
  run_sql(folder / "h", "PRAGMA user_version = 2");
  EXPECT_THAT(refusal(folder), HasSubstr("got schema 2, want schema 1"));
}

TEST(AHistory, WithOtherTablesIsRefused) {
  TemporaryFolder folder;
  { History(folder / "h", History::Open::kMake, quiet); }
  run_sql(folder / "h", "ALTER TABLE owner ADD COLUMN more TEXT");
  EXPECT_THAT(error_of([&] { History(folder / "h", History::Open::kMake, quiet); }),
              HasSubstr("other tables"));
}

TEST(AHistory, ThatIsDamagedIsAnErrorWithPathAndCause) {
  TemporaryFolder folder;
  { History(folder / "h", History::Open::kMake, quiet); }
  std::fstream file(folder / "h", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file << std::string(3000, '\xFF');
  file.close();
  EXPECT_THAT(error_of([&] { History(folder / "h", History::Open::kMake, quiet); }),
              HasSubstr((folder / "h").string() + ": database disk image is malformed"));
}

TEST(AHistory, BehindALongLockWaitsSaysSoAndLosesNothing) {
  TemporaryFolder folder;
  std::vector<std::string> said;
  History history(folder / "h", History::Open::kMake,
                  [&](std::string_view line) { said.emplace_back(line); });
  const std::int64_t run = history.begin("bench", result_of({}));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "h").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2600));
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  });
  history.keep(run, result_of({"cuda"}), true);
  holder.join();
  sqlite3_close(other);
  EXPECT_EQ(history.result(run)["cuts"][0]["lanes"].size(), 1u);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("another process has it locked; waiting for it"));
}

TEST(AHistory, InMemoryWorksLikeAFile) {
  History history("", History::Open::kMake, quiet);
  const std::int64_t sweep = history.sweep("key", "bench sweep", 1);
  ASSERT_EQ(history.claim(sweep, 0, 1), 0);
  const std::int64_t run = history.begin("bench", result_of({}));
  history.finish(sweep, 0, run, result_of({"cuda"}));
  EXPECT_EQ(history.points(sweep)[0].run, run);
}

TEST(PointsOfASweep, AreClaimedOnceAndTheOwnShareFirst) {
  TemporaryFolder folder;
  History history(folder / "h", History::Open::kMake, quiet);
  const std::int64_t sweep = history.sweep("key", "bench sweep", 5);
  EXPECT_EQ(history.sweep("key", "bench sweep", 5), sweep);
  EXPECT_NE(history.sweep("other", "bench sweep", 5), sweep);
  for (const std::int64_t want : {1, 3, 0, 2, 4}) EXPECT_EQ(history.claim(sweep, 1, 2), want);
  EXPECT_EQ(history.claim(sweep, 1, 2), std::nullopt);
}

TEST(PointsOfASweep, ThatAKilledProcessHadAreTakenUpAgain) {
  TemporaryFolder folder;
  { History(folder / "h", History::Open::kMake, quiet).sweep("key", "bench sweep", 2); }
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    History history(folder / "h", History::Open::kMake, quiet);
    history.claim(1, 0, 1);
    [[maybe_unused]] const ssize_t written = write(ends[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  History history(folder / "h", History::Open::kMake, quiet);
  EXPECT_TRUE(history.points(1)[0].claimed);
  EXPECT_EQ(history.claim(1, 0, 1), 1);
  EXPECT_EQ(history.claim(1, 0, 1), std::nullopt);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(history.points(1)[0].claimed);
  EXPECT_EQ(history.claim(1, 0, 1), 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace logos::bench
