// Known answers as files, reports, the command line, and the lowest rungs on a board made up here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "bench/bringup/bringup_options.h"
#include "bench/bringup/unit_answers.h"
#include "program/error.h"
#include "program/identity.h"
#include "rtl/bringup/answer_file.h"
#include "rtl/bringup/ladder.h"
#include "rtl/bringup/ladder_report.h"
#include "rtl/driver/registers.h"
#include "sim/whole_file.h"

namespace logos::d5005 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "logos-bringup.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

AnswerSet small_set() {
  AnswerSet set{8, 8, "a test", random_answers(engine_size(8, 8), 7, 3)};
  set.answers[0].runs[0].fault_line = 12;
  set.answers[1].runs[0].greedy = {~std::uint64_t{0}};
  set.answers[2].name = "decode:5@x";
  return set;
}

TEST(KnownAnswers, ComeBackFromTheirFiles) {
  const Folder folder;
  const AnswerSet set = small_set();
  write_answers(set, folder.path() / "made");
  const AnswerSet back = read_answers(folder.path() / "made");
  EXPECT_EQ(back.rows, set.rows);
  EXPECT_EQ(back.source, set.source);
  ASSERT_EQ(back.answers.size(), set.answers.size());
  for (std::size_t i = 0; i < set.answers.size(); ++i) {
    EXPECT_EQ(answer_bytes(back.answers[i]), answer_bytes(set.answers[i]));
    EXPECT_EQ(identity_of(back.answers[i]), identity_of(set.answers[i]));
  }
  EXPECT_TRUE(fs::exists(folder.path() / "made" / "10-decode-5-x.answer"));
}

TEST(KnownAnswers, AreTheSameForTheSameSeedAndOthersForAnother) {
  const auto bytes = [](std::uint64_t seed) {
    std::string all;
    for (const KnownAnswer& answer : random_answers(engine_size(8, 8), seed, 4)) {
      all += answer_bytes(answer);
    }
    return sha256_hex(all);
  };
  EXPECT_EQ(bytes(3), bytes(3));
  EXPECT_NE(bytes(3), bytes(4));
}

TEST(KnownAnswers, AreRefusedWhereAFileIsDamagedMissingOrSurplus) {
  const Folder folder;
  write_answers(small_set(), folder.path());
  const fs::path file = folder.path() / "10-decode-5-x.answer";
  const std::string bytes = read_whole_file(file);
  std::string damaged = bytes;
  damaged[damaged.size() / 2] ^= 1;
  write_whole_file(file, damaged);
  EXPECT_THAT(message_of([&] { read_answers(folder.path()); }),
              AllOf(HasSubstr("decode-5-x"), HasSubstr("another identity")));
  write_whole_file(file, bytes);
  EXPECT_EQ(message_of([&] { read_answers(folder.path()); }), "no error");
  write_whole_file(folder.path() / "more.answer", bytes);
  EXPECT_THAT(message_of([&] { read_answers(folder.path()); }),
              AllOf(HasSubstr("more.answer"), HasSubstr("does not name")));
  fs::remove(folder.path() / "more.answer");
  const fs::path list = folder.path() / "answers.json";
  const std::string listed = read_whole_file(list);
  std::string edited = listed;
  edited.replace(edited.find("\"rung\": 10"), 10, "\"rung\": 9 ");
  write_whole_file(list, edited);
  EXPECT_THAT(message_of([&] { read_answers(folder.path()); }), HasSubstr("another rung"));
  write_whole_file(list, listed);
  fs::remove(file);
  EXPECT_THAT(message_of([&] { read_answers(folder.path()); }), HasSubstr("decode-5-x"));
}

TEST(KnownAnswers, TakeThePlaceOfAnOlderSet) {
  const Folder folder;
  AnswerSet set = small_set();
  write_answers(set, folder.path());
  // Of an export that was killed.
  write_whole_file(folder.path() / "old.answer", "");
  write_whole_file(folder.path() / "answers.json.aaaaaa.logos-tmp", "");
  set.answers.pop_back();
  write_answers(set, folder.path());
  EXPECT_EQ(read_answers(folder.path()).answers.size(), set.answers.size());

  write_whole_file(folder.path() / "notes.txt", "");
  EXPECT_THAT(message_of([&] { write_answers(small_set(), folder.path()); }),
              HasSubstr("holds notes.txt, which is no known answer"));
  fs::remove(folder.path() / "notes.txt");
  EXPECT_EQ(read_answers(folder.path()).answers.size(), set.answers.size());
}

TEST(KnownAnswers, AreRefusedWhereTheirBytesAreNotThoseOfAnAnswer) {
  const KnownAnswer answer = small_set().answers[0];
  const std::string bytes = answer_bytes(answer);
  const auto refused = [](const std::string& text) {
    return message_of([&] { parse_answer(text, "FILE"); });
  };
  EXPECT_EQ(refused(bytes), "no error");
  EXPECT_THAT(refused(bytes + "x"), HasSubstr("1 bytes too many"));
  EXPECT_THAT(refused(bytes.substr(0, bytes.size() - 1)), HasSubstr("are left"));
  EXPECT_THAT(refused(""), HasSubstr("FILE"));
  EXPECT_THAT(refused("{}\n"), HasSubstr("missing key format"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = bytes;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refused(text.replace(at, from.size(), to));
  };
  EXPECT_THAT(with("known answer 1", "known answer 2"), HasSubstr("another format"));
  EXPECT_THAT(with("\"rung\":10", "\"rung\":11"), HasSubstr("key rung"));
  EXPECT_THAT(with("\"rung\":10", "\"rung\":5"), HasSubstr("key rung: below 6"));
  EXPECT_THAT(with("\"program\":0", "\"program\":-1"), HasSubstr("key program"));
  EXPECT_THAT(with("\"runs\":[", "\"runs\":0,\"x\":["), HasSubstr("key runs"));
  EXPECT_THAT(with(answer.sha256, "nonsense"), HasSubstr("no digest"));
  EXPECT_THAT(with("\"name\":\"", "\"name\":\"\\u001b[2J"),
              HasSubstr("key name: no printable text"));

  // What would pass on any board.
  KnownAnswer empty = answer;
  empty.runs = {};
  EXPECT_THAT(refused(answer_bytes(empty)), HasSubstr("no run"));
  empty.runs = {{}};
  empty.runs[0].table = answer.runs[0].table;
  EXPECT_THAT(refused(answer_bytes(empty)), HasSubstr("a run that is to give nothing"));
}

std::vector<RungReport> made_up_reports() {
  RungReport passed{1, "first", "that <it> is there", "cable", RungStatus::kPassed, "", {}, 0,
                    5, 1};
  passed.figures.emplace_back("MHz", "300");
  RungReport failed{
      2, "second", "more", "here & \"there\"", RungStatus::kFailed, "bank 2: a < b", {}, 5, 9, 2};
  RungReport not_run{3, "third", "most", "", RungStatus::kNotRun, "", {}, 0, 0, 0};
  return {passed, failed, not_run};
}

TEST(LadderReport, SaysWhatPassedWhatFailedAndWhatWasNotRun) {
  std::string table = table_head();
  for (const RungReport& report : made_up_reports()) table += table_lines(report);
  EXPECT_THAT(table,
              AllOf(HasSubstr("passed"), HasSubstr("failed: bank 2: a < b"),
                    HasSubstr("look at: here"), HasSubstr("not run"), HasSubstr("MHz: 300")));
  const auto json = ladder_json(made_up_reports(), {"sim", "set", "bank2:flip@5"});
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["fault"], "bank2:flip@5");
  EXPECT_EQ(json["rungs"][0]["failed"], nullptr);
  EXPECT_EQ(json["rungs"][0]["figures"]["MHz"], "300");
  EXPECT_EQ(json["rungs"][1]["failed"], "bank 2: a < b");
  EXPECT_EQ(json["rungs"][2]["status"], "not run");
  EXPECT_EQ(json["rungs"][2]["seconds"], nullptr);
}

TEST(LadderReport, GivesNoCyclesThatWereNotRead) {
  std::vector<RungReport> reports = made_up_reports();
  EXPECT_THAT(table_lines(reports[0]), HasSubstr("passed              5 "));
  EXPECT_EQ(ladder_json(reports, {"sim", "set", ""})["rungs"][0]["last_cycle"], 5);
  reports[0].last_cycle.reset();
  EXPECT_THAT(table_lines(reports[0]), HasSubstr("passed              - "));
  EXPECT_EQ(ladder_json(reports, {"sim", "set", ""})["rungs"][0]["last_cycle"], nullptr);
  reports[0].first_cycle = 7;
  reports[0].last_cycle = 6;  // no clock runs backwards
  EXPECT_EQ(reports[0].cycles(), std::nullopt);
}

TEST(LadderReport, AFaultThatLeftNoTraceIsNoPass) {
  const std::vector<RungReport> passed = {made_up_reports()[0]};
  const LadderContext sound{"sim", "set", ""};
  const LadderContext faulty{"sim", "set", "bank0:slow@9"};
  EXPECT_FALSE(left_no_trace(passed, sound));
  EXPECT_EQ(table_end(passed, sound), "");
  EXPECT_EQ(ladder_json(passed, sound)["passed"], true);
  EXPECT_TRUE(left_no_trace(passed, faulty));
  EXPECT_THAT(table_end(passed, faulty),
              AllOf(HasSubstr("fault bank0:slow@9 left no trace"), HasSubstr("engine's cycle 5")));
  EXPECT_EQ(ladder_json(passed, faulty)["passed"], false);
  EXPECT_EQ(ladder_json(passed, faulty)["fault_left_no_trace"], true);
  EXPECT_THAT(ladder_junit(passed, faulty),
              AllOf(HasSubstr("tests=\"2\" failures=\"1\" skipped=\"0\""),
                    HasSubstr("name=\"planted fault\""), HasSubstr("left no trace")));
  // Where a rung has failed it is found.
  EXPECT_FALSE(left_no_trace(made_up_reports(), faulty));
  EXPECT_EQ(table_end(made_up_reports(), faulty), "");
}

TEST(LadderReport, IsJUnitXml) {
  const std::string xml = ladder_junit(made_up_reports(), {"sim", "set", ""});
  EXPECT_THAT(xml, AllOf(HasSubstr("tests=\"3\" failures=\"1\" skipped=\"1\""),
                         HasSubstr("<failure message=\"bank 2: a &lt; b\">look at: here &amp; "
                                   "&quot;there&quot;</failure>"),
                         HasSubstr("<skipped"), Not(HasSubstr("a < b"))));
}

TEST(LadderReport, HasNoCharacterThatXmlLacks) {
  auto reports = made_up_reports();
  reports[1].message = "\xEF\xBF\xBE and \xEF\xBF\xBF, \xEF\xBF\xBC";
  EXPECT_THAT(ladder_junit(reports, {"sim", "set", ""}),
              HasSubstr("\"\xEF\xBF\xBD and \xEF\xBF\xBD, \xEF\xBF\xBC\""));
}

TEST(LadderReport, ALadderWithoutRungsHasNotPassed) {
  EXPECT_FALSE(all_passed({}));
  const LadderContext context{"opae", "", "", "no <card>"};
  EXPECT_EQ(ladder_json({}, context)["passed"], false);
  EXPECT_EQ(ladder_json({}, context)["refused"], "no <card>");
  EXPECT_THAT(ladder_junit({}, context),
              AllOf(HasSubstr("tests=\"1\" failures=\"1\" skipped=\"0\""),
                    HasSubstr("name=\"begin\""), HasSubstr("no &lt;card&gt;")));
}

/// A board of registers alone, which keep what is written but for those that a test holds.
class RegisterBoard : public Transport {
 public:
  RegisterBoard() {
    using namespace registers;  // NOLINT
    held = {{kDfh, kDfhValue},
            {kGuidLow, kGuidLowValue},
            {kGuidHigh, kGuidHighValue},
            {kVersion, kVersionValue}};
  }
  std::string_view name() const override { return "made up"; }
  std::uint64_t read64(std::uint32_t offset) override {
    if (all_ones) return ~std::uint64_t{0};
    if (offset == registers::kClockEngine) return values[offset] += clock_step;
    const auto found = held.find(offset);
    return found == held.end() ? values[offset] : found->second;
  }
  void write64(std::uint32_t offset, std::uint64_t value) override { values[offset] = value; }
  std::uint32_t read32(std::uint32_t offset) override {
    return static_cast<std::uint32_t>(read64(offset & ~7U) >> (8 * (offset & 4)));
  }
  void write32(std::uint32_t offset, std::uint32_t value) override { write64(offset & ~7U, value); }
  HostBuffer allocate(std::size_t) override { return {}; }
  void release(const HostBuffer&) override {}
  void wait() override {}

  std::map<std::uint32_t, std::uint64_t> held, values;
  bool all_ones = false;
  std::uint64_t clock_step = 0;  ///< between two readings of the engine's clock
};

TEST(TheDriver, EndsWhereTheStatusStandsThoughNothingMoves) {
  using namespace registers;  // NOLINT
  const EngineSize size = engine_size(8, 8);
  RegisterBoard board;
  // The registers that it compares with the size, as it names them.
  for (const std::uint32_t offset : {kCapabilities, kCapacities, kAttendCapacities}) {
    const std::string message = message_of([&] { Driver(board, size); });
    board.held[offset] = std::stoull(message.substr(message.find("want ") + 5), nullptr, 16);
  }
  board.held[kStatus] = kStatusRunning;
  board.clock_step = 100'000;
  board.values[kWatchdogLimit] = 3'000'000;
  Driver driver(board, size);
  const TableRow row;
  EXPECT_THAT(message_of([&] {
                driver.run({0, std::string(64, 'a'), {&row, 1}, {}, {}});
              }),
              AllOf(HasSubstr("registers: the status says that it is at work"),
                    HasSubstr("for 4100000 cycles")));
  // From 100,000 to the first look at 1,100,000, and as long as it says from there.
  EXPECT_EQ(board.values[kClockEngine], 5'200'000U);
}

std::vector<RungReport> climbed(Transport& board) {
  const AnswerSet answers{8, 8, "none", {}};
  return climb(board, answers, {}, [](const RungReport&) {});
}

TEST(Ladder, EndsAtTheFirstRungThatFails) {
  RegisterBoard board;
  board.all_ones = true;
  const auto reports = climbed(board);
  ASSERT_EQ(reports.size(), 10U);
  EXPECT_EQ(reports[0].status, RungStatus::kFailed);
  EXPECT_THAT(reports[0].message, AllOf(HasSubstr("engine"), HasSubstr("all ones")));
  for (std::size_t i = 1; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].status, RungStatus::kNotRun);
    EXPECT_FALSE(reports[i].proves.empty());
    EXPECT_FALSE(reports[i].look_at.empty());
  }
}

TEST(Ladder, GivesNoCyclesOfRegistersThatAreNotAnswered) {
  RegisterBoard board;
  board.all_ones = true;
  EXPECT_EQ(climbed(board)[0].cycles(), std::nullopt);
  EXPECT_EQ(climbed(board)[0].last_cycle, std::nullopt);
}

TEST(Ladder, FindsAnEngineInAResetThatNobodyAskedFor) {
  using namespace registers;  // NOLINT
  RegisterBoard board;
  board.held[kStatus] = kStatusResetting;  // of power-up
  EXPECT_THAT(climbed(board)[0].message, Not(HasSubstr("reset")));
  board.held[kStatus] |= std::uint64_t{1} << kStatusEpoch;
  EXPECT_THAT(climbed(board)[0].message, HasSubstr("engine: it was reset"));
}

TEST(Ladder, NamesWhatIsNotTheEngine) {
  using namespace registers;  // NOLINT
  const std::pair<std::uint32_t, const char*> constants[] = {{kDfh, "device feature header"},
                                                             {kGuidLow, "GUID low"},
                                                             {kGuidHigh, "GUID high"},
                                                             {kVersion, "version"},
                                                             {kCapabilities, "rows that share"}};
  for (const auto& [offset, text] : constants) {
    RegisterBoard board;
    board.held[offset] ^= 1;
    EXPECT_THAT(climbed(board)[0].message, HasSubstr(text));
  }
}

bench::BringupOptions options_of(const std::vector<std::string>& arguments) {
  return *bench::parse_bringup_options(arguments).options;
}

TEST(BringupOptions, AreTaken) {
  const auto options =
      options_of({"--fault", "bank1:flip@9", "--fill", "0xA5", "--stalls", "3", "--json", "j",
                  "--junit", "x", "--set", "board.ddr4.t_rcd=20", "--export", "d", "--seed=4"});
  EXPECT_EQ(options.board, bench::BoardKind::kSim);
  EXPECT_EQ(options.faults, std::vector<std::string>{"bank1:flip@9"});
  EXPECT_EQ(options.fill, 0xA5A5A5A5U);
  EXPECT_EQ(options.stalls, 3U);
  EXPECT_EQ(options.seed, 4U);
  EXPECT_EQ(options.board_settings[0].first, "ddr4.t_rcd");
  EXPECT_EQ(options.board_settings[0].second, "20");
  EXPECT_EQ(options_of({"--board", "opae", "--replay", "d"}).board, bench::BoardKind::kOpae);
}

TEST(BringupOptions, AreRefusedByName) {
  const auto refused = [](const std::vector<std::string>& arguments) {
    return message_of([&] { options_of(arguments); });
  };
  EXPECT_THAT(refused({"--board", "card"}), AllOf(HasSubstr("--board"), HasSubstr("sim or opae")));
  EXPECT_THAT(refused({"--fault", "bank9:flip@0"}), HasSubstr("no such unit"));
  EXPECT_THAT(refused({"--fill", "0x123"}), HasSubstr("--fill"));
  EXPECT_THAT(refused({"--stalls", "x"}), HasSubstr("--stalls"));
  EXPECT_THAT(refused({"--steps", "0"}), HasSubstr("--steps"));
  EXPECT_THAT(refused({"--steps", "02"}), HasSubstr("--steps"));
  EXPECT_THAT(refused({"--set", "chip.x=1"}), HasSubstr("board.SECTION.KEY=VALUE"));
  EXPECT_THAT(refused({"--json", ""}), HasSubstr("--json"));
  EXPECT_THAT(refused({"--export", "a", "--replay", "b"}), HasSubstr("together"));
  EXPECT_THAT(refused({"--board", "opae", "--stalls", "1"}), HasSubstr("only with --board sim"));
  EXPECT_THAT(refused({"--opae-library", "x"}), HasSubstr("only with --board opae"));
  EXPECT_THAT(refused({"--nonsense"}), HasSubstr("command line"));
}

}  // namespace
}  // namespace logos::d5005
