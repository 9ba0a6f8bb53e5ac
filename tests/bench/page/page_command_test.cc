// --report as a person calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "bench/history/history.h"
#include "bench/report.h"
#include "tests/bench/page/browser.h"
#include "tests/bench/process.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class TheReport : public testing::Test {
 protected:
  TheReport() { fs::create_directories(folder_); }
  ~TheReport() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("report." + std::to_string(::getpid()));
  std::string page_ = (folder_ / "r.html").string();
};

TEST_F(TheReport, ShowsTheNumbersThatTheJsonOfTheSameRunHas) {
  const Ended ended = run_bench({"--cut", "decode:16,prefill:4", "--lanes", "reference,cuda",
                                 "--format", "json", "--report", page_});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto result = nlohmann::json::parse(ended.out);
  Browser browser;
  browser.open(page_);
  EXPECT_THAT(browser.complaints(), IsEmpty());
  EXPECT_EQ(browser.requests().size(), 1);
  EXPECT_EQ(browser.evaluate("JSON.parse(document.getElementById('document').textContent).result"),
            result);
  const auto shown = browser.evaluate(
      "[...document.querySelectorAll('data[data-at]')].map(x => [x.dataset.at, x.value])");
  ASSERT_GT(shown.size(), 30);
  for (const auto& pair : shown) {
    const auto& want = result.at(nlohmann::json::json_pointer(pair[0].get<std::string>()));
    if (!want.is_number()) continue;
    EXPECT_EQ(std::stod(pair[1].get<std::string>()), want.get<double>()) << pair[0];
  }
  EXPECT_EQ(
      browser.evaluate("document.querySelector('.command').textContent"),
      "bench --cut decode:16,prefill:4 --lanes reference,cuda --format json --report " + page_);
  EXPECT_EQ(browser.evaluate("document.querySelectorAll('#summary .card').length"), 2);
  EXPECT_EQ(browser.evaluate("document.querySelectorAll('.code').length"), 2);
}

TEST_F(TheReport, HasTheNumbersOfTheCsvAndTheHistoryOfTheSameRun) {
  const std::string history = (folder_ / "h.sqlite").string();
  const Ended ended = run_bench({"--cut", "decode:16,prefill:4", "--lanes", "reference,cuda",
                                 "--format", "json", "--report", page_, "--history", history});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto json = nlohmann::ordered_json::parse(ended.out);
  const History kept(history, History::Open::kExisting, [](std::string_view) {});
  EXPECT_EQ(kept.result(kept.run_named("last")), json);
  std::stringstream page;
  page << std::ifstream(page_).rdbuf();
  const std::string open = "id=\"document\">";
  const std::size_t begin = page.str().find(open) + open.size();
  const auto document = nlohmann::ordered_json::parse(
      page.str().substr(begin, page.str().find("</script>", begin) - begin));
  EXPECT_EQ(document["result"], json);
  // The CSV has every number of every lane, as JSON writes it.
  const std::string csv = report_csv(json);
  std::size_t numbers = 0;
  for (const auto& cut : json["cuts"]) {
    const auto flat = cut["lanes"].flatten();
    for (const auto& [at, value] : flat.items()) {
      if (!value.is_number()) continue;
      ++numbers;
      EXPECT_THAT(csv, testing::ContainsRegex("[,\n]" + value.dump() + "[,\r]")) << at;
    }
  }
  EXPECT_GT(numbers, 40);
}

TEST_F(TheReport, OfALaneThatPartsNamesTheLine) {
  const Ended ended =
      run_bench({"--cut", "decode:4", "--lanes", "reference,cuda", "--report", page_},
                {.environment = {{"LOGOS_ALTER", "value 2 q.rope 0 37"}}, .altered = true});
  std::stringstream page;
  page << std::ifstream(page_).rdbuf();
  ASSERT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(page.str(), HasSubstr("first_divergence"));
}

TEST_F(TheReport, OfASweepHasNoTimeOfALaneThatDiffers) {
  const Ended ended = run_bench(
      {"sweep", "--cut", "decode:4,decode:5", "--lanes", "reference,cuda", "--report", page_},
      {.environment = {{"LOGOS_ALTER", "value 2 q.rope 0 37"}}, .altered = true});
  ASSERT_EQ(ended.status, 1) << ended.err;
  Browser browser;
  browser.open(page_);
  EXPECT_THAT(browser.complaints(), IsEmpty());
  const std::string page = browser.evaluate("document.querySelector('#curves').textContent");
  EXPECT_THAT(page, HasSubstr("cuda differs"));
  EXPECT_THAT(page, HasSubstr("in layer 2"));
  EXPECT_THAT(page, Not(HasSubstr("modelled")));
}

TEST_F(TheReport, WithoutAFolderIsRefusedBeforeTheRun) {
  const Ended ended =
      run_bench({"--cut", "decode:4", "--report", (folder_ / "no" / "r.html").string()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, HasSubstr("r.html"));
}

TEST_F(TheReport, InThePlaceOfAnotherOutputIsRefused) {
  const Ended ended = run_bench({"--cut", "decode:4", "--out", page_, "--report", page_});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--report: the same file as --out"));
  EXPECT_FALSE(fs::exists(page_));
}

TEST_F(TheReport, ThatDoesNotFitOnTheDiskLeavesTheOtherOutputs) {
  const std::string out = (folder_ / "out.json").string();
  const Ended ended = run_bench({"--cut", "decode:4", "--lanes", "reference", "--format", "json",
                                 "--out", out, "--report", page_},
                                {.file_bytes = 100'000});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("r.html"));
  EXPECT_FALSE(fs::exists(page_));
  EXPECT_TRUE(nlohmann::json::accept(std::ifstream(out)));
}

}  // namespace
}  // namespace logos::bench
