#include "bench/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <thread>

#include "bench/progress_forecast.h"

namespace logos::bench {
namespace {

/// What a terminal gets of what runs in a process of its own on it.
std::string on_terminal(const char* kind, const std::function<void(Progress&)>& run) {
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::setenv("TERM", kind, 1);
    {
      Progress progress;
      run(progress);
    }
    ::_exit(0);
  }
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t got = 0; (got = ::read(master, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  ::close(master);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

TEST(ATerminal, SeesAfterTwoSecondsHowLongItMayTakeWhileNothingNewIsShown) {
  const std::string text = on_terminal("xterm", [](Progress& progress) {
    progress.show("a long task", 60.0);
    std::this_thread::sleep_for(std::chrono::milliseconds(3000));
  });
  EXPECT_THAT(text, testing::StartsWith("\r\x1b[Ka long task\r\x1b[K"));
  EXPECT_THAT(text, testing::ContainsRegex("a long task, [23] s, about 5[5-8] s left"));
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
}

TEST(ATerminal, SeesTheTimeLeftOfStepsFromThoseDone) {
  const std::string text = on_terminal("xterm", [](Progress& progress) {
    progress.show_steps("0 of 4", 0, 4);
    std::this_thread::sleep_for(std::chrono::milliseconds(2200));
    progress.show_steps("1 of 4", 1, 4);
  });
  EXPECT_THAT(text, testing::ContainsRegex("1 of 4, [23] s, about [6-9] s left"));
}

TEST(ATerminal, SeesARemarkOnALineOfItsOwn) {
  const std::string text = on_terminal("xterm", [](Progress& progress) {
    progress.show("at work");
    say("a remark");
  });
  EXPECT_THAT(text, testing::HasSubstr("at work\r\x1b[Kbench: a remark\r\n"));
}

TEST(ATerminal, ThatIsDumbSeesNoProgress) {
  EXPECT_EQ(on_terminal("dumb", [](Progress& progress) { progress.show("x", 1.0); }), "");
}

TEST(TheProgress, SaysNothingMoreOfWhatIsShort) {
  EXPECT_EQ(progress_text("prefill:4 on cuda", 1.9, 100.0), "prefill:4 on cuda");
}

TEST(TheProgress, SaysHowLongItTookAndMayStillTake) {
  EXPECT_EQ(progress_text("x", 12.2, 41.0), "x, 12 s, about 41 s left");
  EXPECT_EQ(progress_text("x", 12.2, 0.1), "x, 12 s, about 1 s left");
  EXPECT_EQ(progress_text("x", 150, 7300.0), "x, 3 min, about 2 h 2 min left");
}

TEST(TheProgress, DoesNotPromiseWhatItDoesNotKnow) {
  EXPECT_EQ(progress_text("x", 12, std::nullopt), "x, 12 s");
  EXPECT_EQ(progress_text("x", 12, std::numeric_limits<double>::infinity()), "x, 12 s");
  EXPECT_EQ(progress_text("x", 12, -3.0), "x, 12 s, longer than expected");
}

TEST(TheForecast, TakesALanesRateFromWhatItDid) {
  Forecast forecast({{"cuda", 100}, {"d5005", 100}, {"cuda", 300}, {"d5005", 300}});
  const double before = forecast.left(2);
  forecast.done(0, 50);
  forecast.done(1, 10);
  EXPECT_LT(before, 1);
  EXPECT_DOUBLE_EQ(forecast.left(2), 150 + 30);
  EXPECT_DOUBLE_EQ(forecast.left(3), 30);
  EXPECT_DOUBLE_EQ(forecast.left(4), 0);
}

TEST(TheForecast, CountsTheMacsOfACut) {
  ModelSpec spec;
  spec.layers = 2;
  spec.columns = 8;
  spec.query_heads = 2;
  spec.key_heads = 1;
  spec.head_columns = 4;
  spec.hidden_columns = 16;
  spec.vocabulary = 10;
  // Rows in eights. A layer: 8 * (2 * 8 + 2 * 4 + 3 * 16) = 576 in matrices, 2 * 8 a position of
  // the cache.
  EXPECT_DOUBLE_EQ(rough_macs(Cut::parse("layer:1@decode:5"), spec), 8 * (576 + 80));
  EXPECT_DOUBLE_EQ(rough_macs(Cut::parse("head@decode:5"), spec), 8 * 80);
  EXPECT_DOUBLE_EQ(rough_macs(Cut::parse("batch:3x5"), spec), 8 * (2 * (576 + 80) + 80));
  EXPECT_DOUBLE_EQ(rough_macs(Cut::parse("prefill:4"), spec), 8 * 2 * (576 + 64) + 80);
  EXPECT_DOUBLE_EQ(rough_macs(Cut::parse("embedding@prefill:4"), spec), 64);
}

}  // namespace
}  // namespace logos::bench
