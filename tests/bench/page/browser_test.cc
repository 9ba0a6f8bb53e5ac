#include "tests/bench/page/browser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "bench/page/document.h"
#include "bench/page/html_page.h"
#include "bench/report.h"
#include "tests/bench/page/sample.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;

class ThePageInABrowser : public testing::Test {
 protected:
  void show(const Json& document, const Screen& screen = {}) {
    std::ofstream(file_) << html_page(document);
    browser_.open(file_, screen);
  }
  void TearDown() override {
    EXPECT_THAT(browser_.complaints(), IsEmpty());
    EXPECT_EQ(browser_.requests().size(), 1) << testing::PrintToString(browser_.requests());
    fs::remove(file_);
  }
  std::string text_of(const std::string& selector) {
    return browser_.evaluate("document.querySelector(" + Json(selector).dump() + ").textContent")
        .get<std::string>();
  }
  double count_of(const std::string& selector) {
    return browser_.evaluate("document.querySelectorAll(" + Json(selector).dump() + ").length")
        .get<double>();
  }

  fs::path file_ = fs::path(testing::TempDir()) /
                   (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
                    "." + std::to_string(::getpid()) + ".html");
  Browser browser_;
};

Json document_of(const Report& report) {
  return page_document(report, report_json(report), "bench");
}

/// All that the page shows with the place in the result that it is of: [pointer, value].
constexpr const char* kShown =
    "[...document.querySelectorAll('data[data-at]')].map(x => [x.dataset.at, x.value, "
    "x.textContent])";

TEST_F(ThePageInABrowser, ShowsTheNumbersOfTheJsonReport) {
  const Report report = sample_report();
  const Json result = report_json(report);
  show(document_of(report));
  std::set<std::string> seen;
  for (const auto& shown : browser_.evaluate(kShown)) {
    const auto at = shown[0].get<std::string>();
    const Json& want = result.at(Json::json_pointer(at));
    EXPECT_EQ(shown[1].get<std::string>(), want.is_boolean() ? (want.get<bool>() ? "true" : "false")
                                           : want.is_null()  ? "null"
                                                             : shown[1].get<std::string>())
        << at;
    if (want.is_number()) {
      EXPECT_EQ(std::stod(shown[1].get<std::string>()), want.get<double>()) << at;
    }
    seen.insert(at);
  }
  for (std::size_t cut = 0; cut < 2; ++cut) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::string at = "/cuts/" + std::to_string(cut) + "/lanes/" + std::to_string(lane);
      for (const char* key : {"/seconds", "/tokens_per_second", "/macs", "/agrees"}) {
        EXPECT_EQ(seen.count(at + key), 1) << at << key;
      }
      if (lane == 0) continue;
      for (const char* key : {"/cycles", "/bound/fraction", "/cycles_by_category/weight_stream",
                              "/cycles_by_category/idle"}) {
        EXPECT_EQ(seen.count(at + key), 1) << at << key;
      }
    }
  }
  EXPECT_EQ(seen.count("/cuts/0/lanes/2/bytes/ddr3"), 1);
}

TEST_F(ThePageInABrowser, WritesNumbersAsTheyAre) {
  show(document_of(sample_report()));
  const auto shown = [&](const std::string& at) { return text_of("data[data-at='" + at + "']"); };
  EXPECT_EQ(shown("/cuts/0/lanes/0/seconds"), "276 µs");
  EXPECT_EQ(shown("/cuts/0/lanes/3/seconds"), "5.22 µs");
  EXPECT_EQ(shown("/cuts/0/lanes/2/cycles"), "6,296");
  EXPECT_EQ(shown("/cuts/0/lanes/2/clock_hz"), "300 MHz");
  EXPECT_EQ(shown("/cuts/0/lanes/1/bound/fraction"), "98.2 %");
  EXPECT_EQ(shown("/cuts/0/lanes/1/bytes/hbm"), "676 kB");
  EXPECT_EQ(shown("/cuts/0/lanes/3/tokens_per_second"), "191,534");
}

TEST_F(ThePageInABrowser, SaysWhoWinsByHowMuchAndWhetherAllAgree) {
  show(document_of(sample_report()));
  const std::string summary = text_of("#summary .card");
  EXPECT_THAT(summary, HasSubstr("spatial wins: 4.02× as fast as d5005."));
  EXPECT_THAT(summary, HasSubstr("4 lanes agree bit for bit"));
}

TEST_F(ThePageInABrowser, SaysWhyALaneIsAsFastAsItIs) {
  show(document_of(sample_report()));
  EXPECT_EQ(text_of("#summary .why li"),
            "spatial: 44.2 % of its cycles are weight stream; reaches 45.2 % of its sram bound");
}

TEST_F(ThePageInABrowser, ShowsNoTimeWithoutItsClass) {
  show(document_of(sample_report()));
  const std::string chart = text_of("#summary .card svg");
  for (const char* time :
       {"276 µs measured", "58.7 µs modelled", "21.0 µs rtl", "5.22 µs simulated"}) {
    EXPECT_THAT(chart, HasSubstr(time));
    EXPECT_THAT(text_of("#cut-0"), HasSubstr(time));
  }
  EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('#cut-0 .code-top .class')]"
                              ".map(x => x.textContent)"),
            (nlohmann::json{"measured", "modelled", "rtl", "simulated"}));
  EXPECT_EQ(text_of("#cut-0 .over-time:nth-of-type(3) h4"), "d5005 21.0 µs rtl");
}

TEST_F(ThePageInABrowser, DoesNotSettleWhatTheErrorsLeaveOpen) {
  Report report = sample_report();
  report.cuts[0].lanes[3].repeated_seconds = {5.2e-5};  // cuda: 58.7 us, +-30 %
  report.cuts[0].lanes.erase(report.cuts[0].lanes.begin() + 2);
  show(document_of(report));
  EXPECT_THAT(text_of("#summary .card"), HasSubstr("which their errors do not settle"));
}

TEST_F(ThePageInABrowser, AsksTheErrorsOfAllLanesWhetherTheWinnerIsSettled) {
  Report report = sample_report();
  report.cuts[0].lanes[1].repeated_seconds = {6.5e-6};  // cuda, +-30 %: from 4.55 us
  report.cuts[0].lanes[2].repeated_seconds = {5.4e-6};  // d5005; spatial: 5.22 us
  show(document_of(report));
  EXPECT_THAT(text_of("#summary .card"), HasSubstr("spatial wins"));
  EXPECT_THAT(text_of("#summary .card"), HasSubstr("which their errors do not settle"));
}

TEST_F(ThePageInABrowser, LetsNoLaneWinWhoseBitsAreWrong) {
  Report report = sample_report();
  report.cuts[0].lanes[3].agrees = false;  // spatial, the fastest
  show(document_of(report));
  EXPECT_THAT(text_of("#summary .verdict"), HasSubstr("d5005 wins"));
  EXPECT_EQ(count_of("#cut-0 table .good"), 4);  // three that agree, one that is the fastest
}

TEST_F(ThePageInABrowser, NamesLanesThatPartRefuseOrFail) {
  Report report = sample_report();
  auto& lanes = report.cuts[0].lanes;
  lanes[1].agrees = false;
  lanes[1].divergence = Divergence{2, 34, "q", "Let q be x.", 3, 9, "3F800000", "3F800001"};
  lanes[2].ending = Ending::kRefused;
  lanes[2].reason = "holds no <b>cut</b>";
  lanes[3].ending = Ending::kFailed;
  lanes[3].reason = "out of memory";
  show(document_of(report));
  const std::string page = text_of("#main");
  for (const char* words :
       {"cuda differs", "d5005 refused", "spatial failed", "holds no <b>cut</b>",
        "in layer 2 at line 34: Let q be x. element [3, 9]: expected 3F800000"}) {
    EXPECT_THAT(page, HasSubstr(words));
  }
}

TEST_F(ThePageInABrowser, HasEveryPartOfACut) {
  show(document_of(sample_report()));
  EXPECT_EQ(count_of("#cut-0 .stack"), 3);         // lanes with cycles
  EXPECT_EQ(count_of("#cut-0 .roof"), 4);          // rooflines
  EXPECT_EQ(count_of("#cut-0 a .dot"), 4 * 8);     // lines with MACs
  EXPECT_EQ(count_of("#cut-0 canvas"), 4);         // what was busy when
  EXPECT_EQ(count_of("#cut-0 .area"), 4 * 2);      // banks' bandwidth
  EXPECT_EQ(count_of("#cut-0 .panel .curve"), 4);  // stalls
  EXPECT_EQ(count_of("#cut-0 .tile"), 8);          // the third row holds nothing
  EXPECT_EQ(count_of("#cut-0 .link"), 3);
  EXPECT_EQ(count_of("#cut-0 .stage"), 2);
  EXPECT_EQ(count_of("#cut-0 .code-row .use[data-seconds]"), 4 * 25);
  EXPECT_EQ(count_of("[id='line-0-40'] .use[data-seconds]"), 4);
  EXPECT_EQ(
      browser_.evaluate("Number(document.querySelector(\"[id='line-0-40'] .use\").dataset.seconds)")
          .get<double>(),
      2.7612e-4 * 0.04);
}

// The lines of spatial in the sample: 25,000 bytes in 0.21 us, 120 GB/s of 76.8.
TEST_F(ThePageInABrowser, DrawsNoLineAboveItsRoof) {
  show(document_of(sample_report()));
  EXPECT_EQ(count_of("#cut-0 .dot.ahead"), 8);
  EXPECT_THAT(text_of("#cut-0"), HasSubstr("8 lines, hollow, stand at the roof"));
  EXPECT_EQ(browser_.evaluate(R"((() => {
    const roof = document.querySelectorAll('#cut-0 .roof')[3];
    const svg = roof.ownerSVGElement;
    const corners = roof.getAttribute('d').match(/[\d.]+,[\d.]+/g).map(p => p.split(',').map(Number));
    const at = (x) => {
      for (let i = 1; i < corners.length; i++) {
        const [a, b] = [corners[i - 1], corners[i]];
        if (x <= b[0]) return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
      }
    };
    return [...svg.querySelectorAll('.dot')].every(
      dot => Number(dot.getAttribute('cy')) > at(Number(dot.getAttribute('cx'))) - 0.5);
  })())"),
            true);
}

TEST_F(ThePageInABrowser, DrawsItsStripsInTheColourOfTheLane) {
  show(document_of(sample_report()));
  EXPECT_EQ(browser_.evaluate(R"((() => {
    const strips = document.querySelectorAll('#cut-0 canvas')[3];
    const pixels = strips.getContext('2d').getImageData(0, 0, strips.width, strips.height).data;
    let coloured = 0;
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i] > 150 && pixels[i + 2] < 60) coloured++;
    return coloured > 1000;
  })())"),
            true);
}

TEST_F(ThePageInABrowser, SaysHowItWasMade) {
  show(document_of(sample_report()));
  const std::string made = text_of("#made");
  for (const char* words : {"bench", "g++ 12.2.0", "d3", "OFA-1"})
    EXPECT_THAT(made, HasSubstr(words));
  EXPECT_THAT(made, HasSubstr(std::string(64, 'b')));
  EXPECT_THAT(made, HasSubstr(std::string(40, 'c')));
}

TEST_F(ThePageInABrowser, ShowsHostileStringsAsTheyAre) {
  Report report = sample_report();
  report.model = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&amp;";
  report.cuts[0].plan.text = "# <img src=x onerror=alert(2)> \"{n}\"\n";
  show(document_of(report));
  EXPECT_EQ(text_of("h1"), report.model);
  EXPECT_EQ(count_of("img"), 0);
  EXPECT_EQ(text_of("[id='line-0-1'] code"), "# <img src=x onerror=alert(2)> \"{n}\"");
}

TEST_F(ThePageInABrowser, ShowsAScore) {
  Report report = sample_report();
  report.is_score = true;
  ScoreOutcome lane;
  lane.lane = "cuda";
  lane.ending = Ending::kRan;
  lane.total = {12, 11, std::string(64, 'e'), 23.5};
  report.scores = {lane};
  show(page_document(report, report_json(report), "bench --score"));
  EXPECT_EQ(text_of("data[data-at='/lanes/0/score/positions']"), "12");
  EXPECT_EQ(text_of("data[data-at='/lanes/0/score/nll']"), "23.5");
}

}  // namespace
}  // namespace logos::bench
