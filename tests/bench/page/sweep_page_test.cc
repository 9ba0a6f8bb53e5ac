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
  ThePageOfASweep() {
    std::ofstream(file_) << html_page(
        {{"title", "a sweep"}, {"command", "bench sweep"}, {"sweep", sample_sweep()}});
  }
  ~ThePageOfASweep() override { fs::remove(file_); }
  void TearDown() override {
    EXPECT_THAT(browser_.complaints(), IsEmpty());
    EXPECT_EQ(browser_.requests().size(), 1);
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

}  // namespace
}  // namespace logos::bench
