#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "bench/page/html_page.h"
#include "tests/bench/page/browser.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;
using testing::HasSubstr;
using testing::IsEmpty;

Json point(const std::string& cut, const std::string& chips, double cuda, double spatial) {
  const auto lane = [](const char* name, double seconds, const char* time_class) {
    return Json{{"lane", name}, {"agrees", true}, {"seconds", seconds}, {"time_class", time_class}};
  };
  return {
      {"values", {{"cut", cut}, {"chips", chips}}},
      {"result",
       {{"context",
         {{"model", "some model"},
          {"weights", "synthetic"},
          {"weights_sha256", std::string(64, 'b')},
          {"git", {{"commit", std::string(40, 'c')}, {"dirty", false}}},
          {"configurations", {{"cuda", chips}}},
          {"time_notes", {{"cuda", "modelled: uncalibrated, +-30 %"}}}}},
        {"cuts",
         {{{"cut", cut},
           {"lanes", {lane("cuda", cuda, "modelled"), lane("spatial", spatial, "simulated")}}}}}}}};
}

/// Lane spatial is ahead at 128 and 256, cuda at 512; two chips change nothing.
Json sample_sweep() {
  const Json cuts = {"decode:128", "decode:256", "decode:512"};
  Json points = Json::array();
  for (const char* chips : {"1", "2"}) {
    points.push_back(point("decode:128", chips, 5e-5, 2e-5));
    points.push_back(point("decode:256", chips, 5e-5, 4e-5));
    points.push_back(point("decode:512", chips, 5e-5, 8e-5));
  }
  points[0]["result"]["cuts"][0]["lanes"].push_back(
      Json{{"lane", "d5005"}, {"refused", "too large"}});
  return {
      {"axes",
       {{{"name", "cut"},
         {"values", cuts},
         {"series", {{{"pattern", "decode:{}"}, {"values", cuts}, {"numbers", {128, 256, 512}}}}}},
        {{"name", "chips"}, {"values", {"1", "2"}}}}},
      {"points", points},
      {"crossovers",
       {{{"axis", "cut"},
         {"pattern", "decode:{}"},
         {"fixed", {{"chips", "1"}}},
         {"from_lane", "spatial"},
         {"to_lane", "cuda"},
         {"at", 320},
         {"at_least", 224},
         {"at_most", 416},
         {"leader", true}},
        {{"axis", "cut"},
         {"pattern", "decode:{}"},
         {"fixed", {{"chips", "2"}}},
         {"from_lane", "spatial"},
         {"to_lane", "cuda"},
         {"at", 330},
         {"at_least", 224},
         {"at_most", nullptr},
         {"leader", true}}}},
      {"errors", {{"cuda", 0.3}, {"spatial", 0}}}};
}

class ThePageOfASweep : public testing::Test {
 protected:
  ThePageOfASweep() { write(sample_sweep()); }
  ~ThePageOfASweep() override { fs::remove(file_); }
  void TearDown() override {
    EXPECT_THAT(browser_.complaints(), IsEmpty());
    EXPECT_EQ(browser_.requests().size(), 1);
  }
  void write(const Json& sweep) {
    std::ofstream(file_) << html_page(
        {{"title", "a sweep"}, {"command", "bench sweep"}, {"sweep", sweep}});
  }
  /// The texts of all elements of a selector.
  Texts texts_of(const std::string& selector) {
    return browser_
        .evaluate("[...document.querySelectorAll(" + Json(selector).dump() +
                  ")].map(x => x.textContent)")
        .get<Texts>();
  }
  double count_of(const std::string& selector) {
    return browser_.evaluate("document.querySelectorAll(" + Json(selector).dump() + ").length")
        .get<double>();
  }

  fs::path file_ = fs::path(testing::TempDir()) / ("sweep." + std::to_string(::getpid()) + ".html");
  Browser browser_;
};

TEST_F(ThePageOfASweep, DrawsACurveALaneWithTheErrorsOfItsTimes) {
  browser_.open(file_);
  EXPECT_EQ(count_of("#curves .part"), 2);  // along the cut, along the chips
  EXPECT_EQ(count_of("#curves .part:nth-of-type(1) .curve"), 2);
  EXPECT_EQ(count_of("#curves .part:nth-of-type(1) .point"), 6);
  EXPECT_EQ(count_of("#curves .part:nth-of-type(1) .band"), 1);  // cuda alone is not exact
  EXPECT_EQ(browser_.evaluate("document.querySelector('.point').getAttribute('aria-label')"),
            "cuda at decode:128: 50.0 µs modelled, ± 30 %");
  EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('#curves details')[0]"
                              ".querySelectorAll('data')].map(x => Number(x.value))"),
            (nlohmann::json{5e-5, 2e-5, 5e-5, 4e-5, 5e-5, 8e-5}));
}

TEST_F(ThePageOfASweep, ShowsWhereOneLaneOvertakesAnother) {
  browser_.open(file_);
  EXPECT_EQ(count_of("#curves .part:nth-of-type(1) .peak"), 1);
  EXPECT_EQ(count_of("#curves .part:nth-of-type(1) .between"), 1);
  EXPECT_EQ(
      browser_.evaluate("document.querySelector('.crossovers li').textContent"),
      "cuda overtakes spatial at about decode:320 (surely between 224 and 416)the lead changes");
  // The crossover stands where its number is: between 256 and 512 on a logarithmic axis or not.
  EXPECT_EQ(browser_.evaluate(R"((() => {
    const part = document.querySelector('#curves .part');
    const at = Number(part.querySelector('.peak').getAttribute('x1'));
    const points = [...part.querySelectorAll('.point')].map(p => Number(p.getAttribute('cx')));
    return points[1] < at && at < points[2];
  })())"),
            true);
}

TEST_F(ThePageOfASweep, SaysHowItWasMade) {
  browser_.open(file_);
  const auto made = browser_.evaluate("document.querySelector('#made').textContent");
  for (const std::string& words :
       {std::string("some model"), std::string(64, 'b'), std::string(40, 'c')}) {
    EXPECT_THAT(made.get<std::string>(), testing::HasSubstr(words));
  }
  EXPECT_EQ(made.get<std::string>().find("Configurations"), std::string::npos);  // each its own
  EXPECT_EQ(browser_.evaluate("document.querySelector('h1').textContent"), "some model");
}

TEST_F(ThePageOfASweep, HoldsTheOtherAxesAtWhatIsChosen) {
  browser_.open(file_, {390, 800, true});
  browser_.evaluate(
      "(() => { const choice = document.querySelector('#curves select');"
      "choice.selectedIndex = 1; choice.dispatchEvent(new Event('change')); })()");
  browser_.evaluate("new Promise(done => setTimeout(done, 100))");
  EXPECT_THAT(
      browser_.evaluate("document.querySelector('.crossovers').textContent").get<std::string>(),
      HasSubstr("at about decode:330 (surely at least 224)"));
  EXPECT_LE(browser_.evaluate("document.documentElement.scrollWidth").get<int>(), 390);
}

/// The lanes of a point of a sweep.
Json& lanes_of(Json& sweep, std::size_t point) {
  return sweep["points"][point]["result"]["cuts"][0]["lanes"];
}

TEST_F(ThePageOfASweep, HasNoTimeOfALaneThatDiffers) {
  Json sweep = sample_sweep();
  for (const std::size_t at : {1U, 4U}) {  // decode:256 over 1 chip, over 2
    Json& cuda = lanes_of(sweep, at)[0];
    cuda["agrees"] = false;
    cuda["first_divergence"] = {{"layer", 2},
                                {"line", 34},
                                {"text", "Let q be x."},
                                {"element", {3, 9}},
                                {"expected", "3F800000"},
                                {"got", "3F80000" + std::to_string(at)}};
  }
  write(sweep);
  browser_.open(file_);
  EXPECT_EQ(texts_of("#curves .part:nth-of-type(1) .point").size(), 5);
  EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('#curves .part:nth-of-type(1) "
                              ".point')].filter(x => x.getAttribute('aria-label').startsWith("
                              "'cuda at decode:256')).length"),
            0);
  EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('#curves details')[0]"
                              ".querySelectorAll('data')].map(x => Number(x.value))"),
            (nlohmann::json{5e-5, 2e-5, 4e-5, 5e-5, 8e-5}));
  // No line goes over the gap.
  EXPECT_EQ(browser_.evaluate("document.querySelector('#curves .curve').getAttribute('d')"
                              ".match(/M/g).length"),
            2);
  EXPECT_EQ(texts_of("#curves .points tr:nth-child(2) td")[1], "differs");
  EXPECT_EQ(texts_of("#curves .points tr:nth-child(2) td").back(), "spatial");
  EXPECT_EQ(texts_of("#curves .remark"),
            (Texts{"cuda differs at decode:256, chips 1; decode:256, chips 2: first in layer 2 at "
                   "line 34: Let q be x.",
                   "d5005 refused at decode:128, chips 1: too large"}));
}

TEST_F(ThePageOfASweep, SaysWhyALaneHasNoTimeEachReasonOnce) {
  Json sweep = sample_sweep();
  for (const std::size_t point : {1U, 2U}) {
    lanes_of(sweep, point).push_back({{"lane", "d5005"}, {"refused", "too <b>large</b>"}});
  }
  for (std::size_t point = 0; point < 6; ++point) {
    lanes_of(sweep, point)[1] = {{"lane", "spatial"}, {"failed", "no memory"}};
  }
  write(sweep);
  browser_.open(file_);
  EXPECT_EQ(texts_of("#curves .remark"),
            (Texts{"spatial failed at every point: no memory",
                   "d5005 refused at decode:128, chips 1: too large",
                   "d5005 refused at decode:256, chips 1; decode:512, chips 1: too <b>large</b>"}));
  EXPECT_EQ(texts_of("#curves .points tr:nth-child(1) td"),
            (Texts{"1", "50.0 µs modelled", "failed", "refused", "cuda"}));
  EXPECT_EQ(texts_of("#curves .points tr:nth-child(6) td"),
            (Texts{"2", "50.0 µs modelled", "failed", "–", "cuda"}));
}

TEST_F(ThePageOfASweep, FoldsManyReasons) {
  Json sweep = sample_sweep();
  sweep["points"][0]["result"]["cuts"][0]["lanes"].clear();
  for (std::size_t i = 0; i < 8; ++i) {
    lanes_of(sweep, 0).push_back(
        {{"lane", "lane " + std::to_string(i)}, {"refused", "reason " + std::to_string(i)}});
  }
  write(sweep);
  browser_.open(file_);
  EXPECT_EQ(count_of("#curves > .remark"), 6);
  EXPECT_EQ(count_of("#curves > details > .remark"), 2);
  EXPECT_EQ(texts_of("#curves > details > summary"), (Texts{"2 more reasons"}));
}

TEST_F(ThePageOfASweep, HasATableOfAllPoints) {
  browser_.open(file_);
  EXPECT_EQ(texts_of("#curves .points thead th"),
            (Texts{"cut", "chips", "cuda", "spatial", "d5005", "fastest"}));
  EXPECT_EQ(
      texts_of("#curves .points tbody th"),
      (Texts{"decode:128", "decode:256", "decode:512", "decode:128", "decode:256", "decode:512"}));
  EXPECT_EQ(texts_of("#curves .points tr:nth-child(1) td"),
            (Texts{"1", "50.0 µs modelled", "20.0 µs simulated", "refused", "spatial"}));
  EXPECT_EQ(
      browser_.evaluate("[...document.querySelectorAll('#curves .points data')]"
                        ".map(x => Number(x.value))"),
      (nlohmann::json{5e-5, 2e-5, 5e-5, 4e-5, 5e-5, 8e-5, 5e-5, 2e-5, 5e-5, 4e-5, 5e-5, 8e-5}));
}

TEST_F(ThePageOfASweep, NamesNoFastestLaneWhereTheErrorsLeaveItOpen) {
  browser_.open(file_);
  // cuda takes 35 to 65 us; spatial exactly 20, 40 and 80.
  EXPECT_EQ(texts_of("#curves .points td:last-child"),
            (Texts{"spatial", "spatial?", "cuda", "spatial", "spatial?", "cuda"}));
  EXPECT_THAT(texts_of("#curves .all-points .small"),
              testing::ElementsAre("?: the errors of the times leave the fastest open",
                                   "times of cuda are within 30 %"));
}

TEST_F(ThePageOfASweep, WithoutACurveShowsItsTable) {
  const Json placements = {"own", "shared"};
  Json points = {point("decode:64", "1", 5e-5, 2e-5), point("decode:64", "1", 5e-5, 3e-5)};
  for (std::size_t i = 0; i < 2; ++i) {
    points[i]["values"] = {{"cut", "decode:64"}, {"chip.placement", placements[i]}};
  }
  write({{"axes",
          {{{"name", "cut"}, {"values", Json::array({"decode:64"})}, {"series", Json::array()}},
           {{"name", "chip.placement"}, {"values", placements}, {"series", Json::array()}}}},
         {"points", points},
         {"crossovers", Json::array()},
         {"errors", {{"cuda", 0.3}, {"spatial", 0}}}});
  for (const int width : {1280, 390, 320}) {
    browser_.open(file_, {width, 900});
    EXPECT_EQ(count_of("#curves .curve"), 0);
    EXPECT_EQ(count_of("#curves details"), 0);
    EXPECT_EQ(texts_of("#curves .points tr:nth-child(1) td"),
              (Texts{"own", "50.0 µs modelled", "20.0 µs simulated", "spatial"}));
    EXPECT_EQ(texts_of("#curves .points tr:nth-child(2) td"),
              (Texts{"shared", "50.0 µs modelled", "30.0 µs simulated", "spatial"}));
    EXPECT_LE(browser_.evaluate("document.documentElement.scrollWidth").get<int>(), width);
    EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('.points td')].filter(x => "
                                "x.scrollWidth > x.clientWidth).length"),
              0);
  }
}

}  // namespace
}  // namespace logos::bench
