#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "bench/page/document.h"
#include "bench/report.h"
#include "bench/report_map.h"
#include "bench/text_table.h"
#include "sim/timing.h"

namespace logos::bench {
namespace {

using Row = std::vector<Cell>;

/// What one report is written with.
struct Page {
  Painter painter;
  std::size_t columns;  ///< of the terminal; 0: no terminal, no limit
  std::string text = {};

  /// A line of its own, broken where the terminal is narrower.
  void add_line(std::string_view line) { text += wrapped(line, columns) + "\n"; }
};

/// Memories of one kind (ddr0, ddr1, …) as one: the JSON has each.
std::string bytes_text(const Timing& timing) {
  std::map<std::string, std::uint64_t> kinds;
  for (const auto& [memory, bytes] : timing.bytes) {
    kinds[memory.substr(0, memory.find_last_not_of("0123456789") + 1)] += bytes;
  }
  std::string text;
  for (const auto& [kind, bytes] : kinds) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", kind, human_bytes(static_cast<double>(bytes)));
  }
  return text;
}

std::string bound_text(const Timing& timing) {
  if (!timing.bound) return "-";
  return fmt::format("{} {:.1f} %", timing.bound->name, 100 * timing.bound->fraction);
}

std::string time_text(double seconds, TimeClass time_class) {
  return fmt::format("{} {}", human_seconds(seconds), name_of(time_class));
}

std::string error_text(std::string_view lane, const reference::ErrorOfArithmetic& error) {
  if (std::isnan(error.top1)) {  // rows, no logits
    return fmt::format("{} against binary64: largest error of an element {:.3g}", lane,
                       error.max_logit_error);
  }
  return fmt::format(
      "{} against binary64: KL {:.3g} nats, largest logit error {:.3g}, same first choice "
      "{:.1f} %",
      lane, error.kl, error.max_logit_error, 100 * error.top1);
}

/// "layer 2, line 33"
std::string place_of(const Divergence& divergence) {
  return (divergence.layer > 0 ? fmt::format("layer {}, ", divergence.layer) : "") +
         fmt::format("line {}", divergence.line);
}

/// The cycles of all categories; null where the lane counted none.
std::optional<double> cycles_of(const Timing& timing) {
  if (!timing.cycles_by_category) return std::nullopt;
  double sum = 0;
  for (const std::uint64_t cycles : *timing.cycles_by_category) sum += static_cast<double>(cycles);
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::string category_words(int category) {
  std::string name(name_of(static_cast<Category>(category)));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// The digest of the lane that the others are compared with; of those, whether they agree.
Cell verdict(std::string_view lane, bool agrees, std::string_view base, std::string_view digest) {
  if (!agrees) return {"DIFFERS", Ink::kBad};
  if (lane == base) return {std::string(digest.substr(0, 12))};
  return {"agrees", Ink::kGood};
}

template <typename Outcomes>
bool only_one_ran(const Outcomes& outcomes) {
  return std::count_if(outcomes.begin(), outcomes.end(),
                       [](const auto& outcome) { return outcome.ending == Ending::kRan; }) == 1;
}

std::string generated_text(const Generated& generated) {
  if (generated.text) return fmt::format("\"{}\"", *generated.text);
  return fmt::format("ids {}", fmt::join(generated.tokens, " "));
}

void add_divergence(Page& page, std::string_view lane, std::string_view base, const Divergence& d) {
  page.add_line(
      page.painter.paint(Ink::kBad, fmt::format("{} parts from {}", lane,
                                                lane == base ? "itself on one chip" : base)) +
      fmt::format(" at {}: {}", place_of(d), d.text));
  page.add_line(fmt::format("  {} [{}, {}]: expected {}, got {}", d.name, d.row, d.column,
                            d.expected, d.got));
}

void add_ended_badly(Page& page, std::string_view lane, Ending ending, std::string_view reason) {
  page.add_line(fmt::format(
      "{}  {}", lane,
      page.painter.paint(
          Ink::kBad,
          fmt::format("{}: {}", ending == Ending::kRefused ? "REFUSED" : "FAILED", reason))));
}

/// The letters and inks of categories in a bar, in the order of Category.
constexpr std::string_view kLetters = "WKCMS.";
constexpr std::array<Ink, kCategories> kInks = {Ink::kWeights,  Ink::kCache,   Ink::kCompute,
                                                Ink::kMovement, Ink::kWaiting, Ink::kDim};

/// What is waiting for what: shares of the cycles that the lane counted, `letters` in all. The
/// largest remainders get what rounding down leaves.
Cell category_bar(const Painter& painter, const Timing& timing, std::size_t letters) {
  const std::optional<double> sum = cycles_of(timing);
  if (!sum) return {"-"};
  std::array<std::size_t, kCategories> lengths{};
  std::array<double, kCategories> rest{};
  std::size_t left = letters;
  for (std::size_t i = 0; i < kCategories; ++i) {
    rest[i] =
        static_cast<double>(letters) * static_cast<double>((*timing.cycles_by_category)[i]) / *sum;
    lengths[i] = static_cast<std::size_t>(rest[i]);
    rest[i] -= static_cast<double>(lengths[i]);
    left -= lengths[i];
  }
  for (; left > 0; --left) {
    const auto most =
        static_cast<std::size_t>(std::max_element(rest.begin(), rest.end()) - rest.begin());
    ++lengths[most];
    rest[most] = -1;
  }
  Cell cell;
  for (std::size_t i = 0; i < kCategories; ++i) {
    const std::string part(lengths[i], kLetters[i]);
    cell.text += part;
    if (!part.empty()) cell.painted += painter.paint(kInks[i], part);
  }
  return cell;
}

/// "weight stream 61.0 %, compute 30.2 %, …": the largest first.
std::string category_text(const Timing& timing) {
  const double sum = cycles_of(timing).value_or(1);
  std::vector<std::pair<double, std::string>> shares;
  for (int i = 0; i < kCategories; ++i) {
    const auto cycles =
        static_cast<double>((*timing.cycles_by_category)[static_cast<std::size_t>(i)]);
    if (cycles > 0) shares.emplace_back(cycles / sum, category_words(i));
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [share, name] : shares) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name, 100 * share);
  }
  return text;
}

/// What the letters of the bars stand for.
std::string bar_legend(const Painter& painter) {
  std::string text = painter.paint(Ink::kDim, "cycles:");
  for (int i = 0; i < kCategories; ++i) {
    const auto at = static_cast<std::size_t>(i);
    text += fmt::format("{}{} {}", i == 0 ? " " : ", ",
                        painter.paint(kInks[at], kLetters.substr(at, 1)), category_words(i));
  }
  return text;
}

void add_header(Page& page, const Report& report) {
  std::string line = page.painter.paint(Ink::kBold, report.model);
  line += fmt::format(", weights {} {:.12}", report.weights_kind, report.weights_sha256);
  if (report.build.git_commit) {
    line += fmt::format(", commit {:.12}{}", *report.build.git_commit,
                        report.build.git_dirty.value_or(false) ? " (changed)" : "");
  }
  page.add_line(line);
  page.add_line(fmt::format("{}, {} threads", report.host.cpu, report.host.threads));
}

/// The bars have what the other columns of the table leave of a terminal.
std::size_t bar_letters(const Page& page) {
  constexpr std::size_t kLongest = 20;
  constexpr std::size_t kShortest = 6;
  constexpr std::size_t kOthers =
      72;  // lane 9, time 16, tokens/s 9, bound 16, output 12, 2 between
  if (page.columns == 0 || page.columns >= kOthers + kLongest) return kLongest;
  return std::max(kShortest, page.columns - std::min(page.columns, kOthers));
}

/// "cuda: modelled (uncalibrated, +-30 %); hbm 17.13 MB; idle 69.7 %, …"
std::string lane_text(std::string_view lane, const Timing& timing) {
  std::vector<std::string> parts;
  if (!timing.remark.empty()) {
    parts.push_back(fmt::format("{} ({})", name_of(timing.time_class), timing.remark));
  }
  if (!timing.bytes.empty()) parts.push_back(bytes_text(timing));
  if (cycles_of(timing)) parts.push_back(category_text(timing));
  return parts.empty() ? "" : fmt::format("{}: {}", lane, fmt::join(parts, "; "));
}

/// What there is to say about a lane that ran, beside its row of the table.
void add_details(Page& page, const CutOutcome& cut, const LaneOutcome& lane, bool with_map) {
  if (lane.result->fault) {
    page.add_line(page.painter.paint(Ink::kBad, "fault") +
                  fmt::format(" on {} at line {}: a value too large for its block", lane.lane,
                              lane.result->fault->line));
  }
  if (with_map && lane.result->map) {
    page.text += map_text(*lane.result->map, program_lines(cut.plan.text));
  }
  if (lane.error) page.add_line(error_text(lane.lane, *lane.error));
  if (lane.divergence) add_divergence(page, lane.lane, cut.compared_with, *lane.divergence);
  if (lane.generated) {
    page.add_line(fmt::format("{} generated {} tokens: {}", lane.lane,
                              lane.generated->tokens.size(), generated_text(*lane.generated)));
  }
}

void add_cut(Page& page, const CutOutcome& cut, bool with_map) {
  std::string title = page.painter.paint(Ink::kBold, cut.plan.cut.text());
  if (cut.plan.chips > 1) title += fmt::format(" over {} chips", cut.plan.chips);
  page.add_line("");
  page.add_line(fmt::format("{}, identity {:.12}", title, cut.plan.identity.sha256));

  std::vector<Row> rows = {{{"lane", Ink::kDim},
                            {"time", Ink::kDim},
                            {"tokens/s", Ink::kDim, true},
                            {"of its bound", Ink::kDim},
                            {"cycles", Ink::kDim},
                            {"output", Ink::kDim}}};
  bool counted = false;
  for (const LaneOutcome& lane : cut.lanes) {
    if (lane.ending != Ending::kRan) continue;
    const Timing& timing = lane.result->timing;
    const auto rate = tokens_per_second(cut.plan.cut, lane.seconds());
    rows.push_back({{lane.lane},
                    {time_text(lane.seconds(), timing.time_class)},
                    {rate ? human_count(*rate) : "-", Ink::kPlain, true},
                    {bound_text(timing)},
                    category_bar(page.painter, timing, bar_letters(page)),
                    verdict(lane.lane, lane.agrees, cut.compared_with, lane.output_sha256)});
    counted = counted || cycles_of(timing);
  }
  if (rows.size() > 1) page.text += text_table(page.painter, rows);
  if (counted) page.add_line(bar_legend(page.painter));
  for (const LaneOutcome& lane : cut.lanes) {
    if (lane.ending != Ending::kRan) continue;
    const std::string line = lane_text(lane.lane, lane.result->timing);
    if (!line.empty()) page.add_line(line);
  }
  if (only_one_ran(cut.lanes)) {
    page.add_line(page.painter.paint(Ink::kDim, "compared with no other lane"));
  }
  for (const LaneOutcome& lane : cut.lanes) {
    if (lane.ending == Ending::kRefused || lane.ending == Ending::kFailed) {
      add_ended_badly(page, lane.lane, lane.ending, lane.reason);
    }
  }
  for (const LaneOutcome& lane : cut.lanes) {
    if (lane.ending == Ending::kRan) add_details(page, cut, lane, with_map);
  }
}

void add_scores(Page& page, const Report& report) {
  page.add_line("");
  page.add_line(fmt::format("{}, {}", page.painter.paint(Ink::kBold, "score"), report.score_mode));
  std::vector<Row> rows = {{{"lane", Ink::kDim},
                            {"positions", Ink::kDim, true},
                            {"nll", Ink::kDim, true},
                            {"perplexity", Ink::kDim, true},
                            {"time", Ink::kDim},
                            {"logits", Ink::kDim}}};
  const std::string& base = report.scores_compared_with;
  for (const ScoreOutcome& lane : report.scores) {
    if (lane.ending != Ending::kRan) continue;
    const auto perplexity = lane.total.perplexity();
    rows.push_back({{lane.lane},
                    {fmt::format("{}", lane.total.positions), Ink::kPlain, true},
                    {fmt::format("{:.6f}", lane.total.nll), Ink::kPlain, true},
                    {perplexity ? fmt::format("{:.6f}", *perplexity) : "-", Ink::kPlain, true},
                    {lane.time_class ? time_text(lane.seconds, *lane.time_class) : "-"},
                    verdict(lane.lane, lane.agrees, base, lane.total.logits_sha256)});
  }
  if (rows.size() > 1) page.text += text_table(page.painter, rows);
  if (only_one_ran(report.scores)) {
    page.add_line(page.painter.paint(Ink::kDim, "compared with no other lane"));
  }
  for (const ScoreOutcome& lane : report.scores) {
    if (lane.ending == Ending::kNotRun) continue;
    if (lane.ending != Ending::kRan) {
      add_ended_badly(page, lane.lane, lane.ending, lane.reason);
      continue;
    }
    if (lane.time_class && !lane.time_remark.empty()) {
      page.add_line(
          fmt::format("{}: {} ({})", lane.lane, name_of(*lane.time_class), lane.time_remark));
    }
    if (lane.fault) {
      page.add_line(fmt::format("{} on {}", page.painter.paint(Ink::kBad, "fault"), lane.lane));
    }
    if (lane.error) page.add_line(error_text(lane.lane, *lane.error));
    if (lane.divergence) add_divergence(page, lane.lane, base, *lane.divergence);
  }
}

}  // namespace

std::string human_seconds(double seconds) {
  static constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  if (seconds >= 999.5) return fmt::format("{:.0f} s", seconds);
  for (const auto& [unit, name] : kUnits) {
    // From 999.5 on three digits would be 1e+03.
    if (seconds >= 0.9995 * unit || unit == 1e-9) {
      return fmt::format("{:.3g} {}", seconds / unit, name);
    }
  }
  return "";
}

std::string human_bytes(double bytes) {
  static constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes >= 0.999995 * unit) return fmt::format("{:.2f} {}", bytes / unit, name);
  }
  return fmt::format("{:.0f} B", bytes);
}

std::string human_count(double count) {
  if (count < 99.95) return fmt::format("{:.3g}", count);
  const std::string digits = fmt::format("{:.0f}", count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string report_console(const Report& report, bool color, std::size_t columns) {
  Page page{Painter(color), columns};
  add_header(page, report);
  if (report.is_score) {
    add_scores(page, report);
    return page.text;
  }
  for (const CutOutcome& cut : report.cuts) {
    const bool ran = std::any_of(cut.lanes.begin(), cut.lanes.end(), [](const LaneOutcome& lane) {
      return lane.ending != Ending::kNotRun;
    });
    if (ran) add_cut(page, cut, report.with_map);
  }
  return page.text;
}

}  // namespace logos::bench
