#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/page/assets.h"
#include "bench/page/document.h"
#include "bench/page/html_page.h"
#include "bench/report.h"
#include "tests/bench/page/sample.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// The document that a page holds.
nlohmann::ordered_json document_in(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="document">)";
  const std::size_t begin = page.find(open) + open.size();
  return nlohmann::ordered_json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

nlohmann::ordered_json sample_document() {
  const Report report = sample_report();
  return page_document(report, report_json(report), "bench --cut decode:128,prefill:4");
}

TEST(ThePage, HoldsTheObjectOfTheJsonReportUnchanged) {
  const Report report = sample_report();
  const auto result = report_json(report);
  const auto document = document_in(html_page(page_document(report, result, "bench")));
  EXPECT_EQ(document["result"], result);
  EXPECT_EQ(document["result"].dump(), result.dump());  // also the order
  EXPECT_EQ(document["timelines"].size(), 8);
  EXPECT_EQ(document["maps"].size(), 2);
  EXPECT_EQ(document["maps"][0]["lane"], "spatial");
  EXPECT_EQ(document["title"], "kjv: decode:128, prefill:4");
}

TEST(ThePage, IsOneFileThatNamesNoOther) {
  const std::string page = html_page(sample_document());
  for (const char* reference :
       {"src=\"", "href=\"http", "url(", "@import", "<link rel=\"stylesheet"}) {
    EXPECT_EQ(count_of(page.substr(0, page.find("<script>")), reference), 0) << reference;
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("Redistributions of source code must retain the above copyright"));
  EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
}

TEST(ThePage, LetsNoStringBecomeMarkup) {
  auto document = sample_document();
  const std::string hostile = "</script><script>alert(1)</script><!-- \"'&<b>";
  document["title"] = hostile;
  document["command"] = hostile;
  document["result"]["context"]["model"] = hostile;
  const std::string page = html_page(document);
  EXPECT_EQ(count_of(page, "</script>"), 3);
  EXPECT_EQ(count_of(page, "alert(1)</script>"), 0);
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;script&gt;alert(1)"));
  EXPECT_EQ(document_in(page), document);
}

TEST(ThePage, ReplacesWhatIsNoUtf8) {
  auto document = sample_document();
  document["title"] = "bad \xFF byte";
  const std::string page = html_page(document);
  EXPECT_THAT(page, HasSubstr("<title>bad \xEF\xBF\xBD byte</title>"));
  EXPECT_EQ(document_in(page)["title"], "bad \xEF\xBF\xBD byte");
}

TEST(ThePage, TakesATextWithTheNamesOfItsOwnParts) {
  auto document = sample_document();
  document["title"] = "{{script}} {{document}}";
  const std::string page = html_page(document);
  EXPECT_THAT(page, HasSubstr("<title>{{script}} {{document}}</title>"));
  EXPECT_EQ(document_in(page)["title"], "{{script}} {{document}}");
}

TEST(ThePagesParts, DoNotEndTheirOwnElements) {
  for (const char* script : {"d3.js", "page.js"}) {
    EXPECT_THAT(std::string(page_asset(script)), Not(HasSubstr("</script"))) << script;
    EXPECT_THAT(std::string(page_asset(script)), Not(HasSubstr("<!--"))) << script;
  }
  EXPECT_THAT(std::string(page_asset("style.css")), Not(HasSubstr("</")));
  EXPECT_THAT(std::string(page_asset("d3.license")), Not(HasSubstr("--")));
}

TEST(TheCommand, StandsAsAShellTakesIt) {
  EXPECT_EQ(command_text({"--cut", "decode:16,prefill:4", "--prompt", "In the", "it's", ""}),
            "bench --cut decode:16,prefill:4 --prompt 'In the' 'it'\\''s' ''");
}

TEST(TheProgram, IsCountedWithoutTheLineOfItsPlace) {
  EXPECT_EQ(program_lines("# A\nWeights lie under \"/x\".\nLet a be 1.\n"),
            (std::vector<std::string>{"# A", "Let a be 1."}));
}

TEST(TheDocument, OfOneResultIsAlwaysTheSame) {
  EXPECT_EQ(sample_document(), sample_document());
  EXPECT_FALSE(sample_document().contains("made"));
}

TEST(TheDocument, LeavesOutCutsThatDidNotRun) {
  Report report = sample_report();
  for (LaneOutcome& lane : report.cuts[1].lanes) lane.ending = Ending::kNotRun;
  const auto document = page_document(report, report_json(report), "bench");
  EXPECT_EQ(document["programs"].size(), 1);
  EXPECT_EQ(document["timelines"].size(), 4);
}

}  // namespace
}  // namespace logos::bench
