// Who can use the page: on a phone, in the dark, by the keyboard alone, on paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "bench/page/document.h"
#include "bench/page/html_page.h"
#include "bench/report.h"
#include "tests/bench/page/browser.h"
#include "tests/bench/page/sample.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class ThePageForEveryone : public testing::Test {
 protected:
  ThePageForEveryone() {
    const Report report = sample_report();
    std::ofstream(file_) << html_page(page_document(report, report_json(report), "bench"));
  }
  ~ThePageForEveryone() override { fs::remove(file_); }
  void TearDown() override { EXPECT_THAT(browser_.complaints(), IsEmpty()); }
  std::string focused(const std::string& of) {
    return browser_.evaluate("String(document.activeElement." + of + ")").get<std::string>();
  }

  fs::path file_ = fs::path(testing::TempDir()) / ("page." + std::to_string(::getpid()) + ".html");
  Browser browser_;
};

/// Texts whose contrast with what is behind them is below WCAG 2.2's AA, 4.5 to 1.
constexpr const char* kPale = R"((() => {
  const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (color) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const pale = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    if (['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName)) continue;
    ++seen;
    const style = getComputedStyle(element);
    const ink = rgb(element.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((p, q) => q - p);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) pale.push(`${ratio.toFixed(2)} ${walk.currentNode.textContent.trim()}`);
  }
  return seen < 200 ? ['only ' + seen + ' texts'] : pale;
})())";

/// Labels of a chart's axes that run into one another or out of their picture.
constexpr const char* kCrowded = R"((() => {
  const bad = [];
  for (const svg of document.querySelectorAll('svg')) {
    const picture = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('.axis text:not(.axis-name)')]
      .map(x => [x.textContent, x.getBoundingClientRect()]).filter(([, x]) => x.width > 0);
    boxes.forEach(([name, a], i) => {
      if (a.left < picture.left - 1 || a.right > picture.right + 1) bad.push(`${name} is cut off`);
      for (const [other, b] of boxes.slice(i + 1)) {
        const apart = a.right <= b.left || b.right <= a.left ||
                      a.bottom - 3 <= b.top || b.bottom - 3 <= a.top;
        if (!apart) bad.push(`${name} and ${other}`);
      }
    });
  }
  return bad;
})())";

TEST_F(ThePageForEveryone, FitsAPhoneAndADesk) {
  for (const int width : {320, 390, 768, 1280}) {
    browser_.open(file_, {width, 800, false});
    EXPECT_LE(browser_.evaluate("document.documentElement.scrollWidth").get<int>(), width) << width;
    // Nothing of the text reaches over the edge, either.
    EXPECT_EQ(
        browser_.evaluate(
            "[...document.querySelectorAll('main p, main h2, main h3, main td, main svg')]"
            ".filter(x => !x.closest('.wide') && x.getBoundingClientRect().right > innerWidth + 1)"
            ".map(x => x.textContent.slice(0, 40))"),
        nlohmann::json::array())
        << width;
    EXPECT_EQ(
        browser_.evaluate("[...document.querySelectorAll('.row-value')].filter(x => {"
                          "  const text = x.getBoundingClientRect();"
                          "  const chart = x.ownerSVGElement.parentElement.getBoundingClientRect();"
                          "  return text.left < chart.left - 1 || text.right > chart.right + 1;"
                          "}).map(x => x.textContent)"),
        nlohmann::json::array())
        << width;
    EXPECT_EQ(browser_.evaluate(kCrowded), nlohmann::json::array()) << width;
  }
}

TEST_F(ThePageForEveryone, CanBeReadInTheLightAndInTheDark) {
  for (const bool dark : {false, true}) {
    browser_.open(file_, {1280, 900, dark});
    EXPECT_EQ(browser_.evaluate(kPale), nlohmann::json::array()) << (dark ? "dark" : "light");
    const auto paper = browser_.evaluate("getComputedStyle(document.body).backgroundColor");
    EXPECT_EQ(paper, dark ? "rgb(14, 18, 22)" : "rgb(245, 245, 241)");
  }
}

TEST_F(ThePageForEveryone, LetsItsColoursBeChosen) {
  browser_.open(file_);
  const auto paper = [&] {
    return browser_.evaluate("getComputedStyle(document.body).backgroundColor");
  };
  browser_.evaluate("document.querySelector('.theme').click()");
  EXPECT_EQ(paper(), "rgb(245, 245, 241)");
  browser_.evaluate("document.querySelector('.theme').click()");
  EXPECT_EQ(paper(), "rgb(14, 18, 22)");
  EXPECT_EQ(browser_.evaluate(kPale), nlohmann::json::array());
}

TEST_F(ThePageForEveryone, IsReachedByTheKeyboardAlone) {
  browser_.open(file_);
  browser_.press("Tab");
  EXPECT_EQ(focused("textContent"), "Skip to the result");
  browser_.press("Enter");
  EXPECT_EQ(focused("id"), "main");
  // Every control of the page comes by, each once, and none holds the focus.
  const int controls =
      browser_
          .evaluate(
              "[...document.querySelectorAll('a[href], button, summary, select, [tabindex=\"0\"]')]"
              ".filter(x => x.getClientRects().length && x.compareDocumentPosition("
              "document.getElementById('main')) & 0b1010).length")
          .get<int>();
  ASSERT_GT(controls, 60);
  std::set<int> places;
  for (int i = 0; i < controls; ++i) {
    browser_.press("Tab");
    places.insert(
        browser_.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")
            .get<int>());
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(controls));
}

TEST_F(ThePageForEveryone, LeadsFromADotToItsLine) {
  browser_.open(file_);
  browser_.evaluate("document.querySelector('#cut-0 a:has(.dot)').focus()");
  EXPECT_THAT(browser_.evaluate("document.getElementById('tip').textContent").get<std::string>(),
              HasSubstr("of the time"));
  browser_.press("Enter");
  EXPECT_THAT(browser_.evaluate("location.hash").get<std::string>(), HasSubstr("#line-0-"));
}

TEST_F(ThePageForEveryone, OpensAFoldedLineThatALinkLeadsTo) {
  browser_.open(file_);
  EXPECT_EQ(browser_.evaluate("document.getElementById('line-0-4').closest('details').open"),
            false);
  browser_.evaluate("new Promise(done => { location.hash = '#line-0-4'; setTimeout(done, 50); })");
  EXPECT_EQ(browser_.evaluate("document.getElementById('line-0-4').closest('details').open"), true);
}

TEST_F(ThePageForEveryone, ReadsStripsAndTilesByArrowKeys) {
  browser_.open(file_);
  const auto tip = [&] {
    return browser_.evaluate("document.getElementById('tip').textContent").get<std::string>();
  };
  browser_.evaluate("document.querySelector('#cut-0 canvas').focus()");
  browser_.press("ArrowRight");
  EXPECT_THAT(tip(), HasSubstr("units · product: 100.0 % busy"));
  EXPECT_THAT(tip(), HasSubstr("line 32"));
  browser_.press("ArrowDown");
  EXPECT_THAT(tip(), HasSubstr("units · vector"));
  browser_.evaluate("document.querySelector('#cut-0 .chips .chart').focus()");
  browser_.press("ArrowRight");
  EXPECT_THAT(tip(), HasSubstr("tile 1, 0: layer 1\nMAC arrays 14.0 %"));
}

TEST_F(ThePageForEveryone, ColoursTheMapByWhatIsChosen) {
  browser_.open(file_);
  const char* fill = "getComputedStyle(document.querySelectorAll('#cut-0 .tile')[1]).fill";
  const auto before = browser_.evaluate(fill);
  browser_.evaluate("document.querySelector('#cut-0 [data-shade=stage]').click()");
  browser_.evaluate("new Promise(done => setTimeout(done, 50))");
  EXPECT_NE(browser_.evaluate(fill), before);
  EXPECT_EQ(browser_.evaluate("document.querySelector('#cut-0 [data-shade=stage]').ariaPressed"),
            "true");
}

TEST_F(ThePageForEveryone, NamesItsRegionsTablesAndCharts) {
  browser_.open(file_);
  EXPECT_EQ(browser_.evaluate("document.documentElement.lang"), "en");
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('h1').length"), 1);
  EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('svg, section, nav, canvas')]"
                              ".filter(x => !x.getAttribute('aria-label')).length"),
            0);
  EXPECT_EQ(
      browser_.evaluate("[...document.querySelectorAll('table')].filter(x => !x.caption).length"),
      0);
  EXPECT_EQ(
      browser_.evaluate("[...document.querySelectorAll('[id]')].length - "
                        "new Set([...document.querySelectorAll('[id]')].map(x => x.id)).size"),
      0);
}

TEST_F(ThePageForEveryone, PrintsWithEverythingUnfolded) {
  browser_.open(file_);
  const auto pdf = browser_.command("Page.printToPDF", {{"printBackground", true}})
                       .at("data")
                       .get<std::string>();
  EXPECT_EQ(pdf.substr(0, 6), "JVBERi");  // "%PDF" in base64
  EXPECT_GT(pdf.size(), 50000);
  browser_.evaluate("window.dispatchEvent(new Event('beforeprint'))");
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('details:not([open])').length"), 0);
  browser_.evaluate("window.dispatchEvent(new Event('afterprint'))");
  EXPECT_GT(browser_.evaluate("document.querySelectorAll('details:not([open])').length").get<int>(),
            0);
  browser_.command("Emulation.setEmulatedMedia", {{"media", "print"}});
  EXPECT_EQ(browser_.evaluate("getComputedStyle(document.querySelector('nav')).display"), "none");
}

}  // namespace
}  // namespace logos::bench
