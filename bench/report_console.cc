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
#include "sim/timing.h"

namespace logos::bench {
namespace {

enum class Ink {
  kPlain,
  kBold,
  kDim,
  kGood,
  kBad,
  kWeights,
  kCache,
  kCompute,
  kMovement,
  kWaiting,
};

/// Text with or without ANSI colours.
class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string paint(Ink ink, std::string_view text) const {
    static constexpr std::array<std::string_view, 10> kCodes = {
        "", "1", "2", "32", "31;1", "34;1", "36;1", "32;1", "33;1", "35;1"};
    const std::string_view code = kCodes[static_cast<std::size_t>(ink)];
    if (!color_ || code.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }

 private:
  bool color_;
};

struct Cell {
  std::string text;
  Ink ink = Ink::kPlain;
  bool right = false;        ///< aligned
  std::string painted = {};  ///< in place of `text`, as wide, where parts have inks of their own
};
using Row = std::vector<Cell>;

/// Columns as wide as their widest cell, two spaces between. Widths count bytes: all cells are
/// ASCII.
std::string table(const Painter& painter, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].text.size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].text.size(), ' ');
      if (i > 0) line += "  ";
      const std::string cell =
          row[i].painted.empty() ? painter.paint(row[i].ink, row[i].text) : row[i].painted;
      const bool last = i + 1 == row.size();
      line += row[i].right ? padding + cell : cell + (last ? "" : padding);
    }
    text += fmt::format("{}\n", std::string_view(line).substr(0, line.find_last_not_of(' ') + 1));
  }
  return text;
}

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
  return text.empty() ? "-" : text;
}

std::string bound_text(const Timing& timing) {
  if (!timing.bound) return "-";
  return fmt::format("{} {:.1f} %", timing.bound->name, 100 * timing.bound->fraction);
}

std::string time_text(double seconds, TimeClass time_class, std::string_view remark) {
  std::string text = fmt::format("{} {}", human_seconds(seconds), name_of(time_class));
  if (!remark.empty()) text += fmt::format(" ({})", remark);
  return text;
}

std::string error_text(std::string_view lane, const reference::ErrorOfArithmetic& error) {
  if (std::isnan(error.top1)) {  // rows, no logits
    return fmt::format("{} against binary64: largest error of an element {:.3g}\n", lane,
                       error.max_logit_error);
  }
  return fmt::format(
      "{} against binary64: KL {:.3g} nats, largest logit error {:.3g}, same first choice "
      "{:.1f} %\n",
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

/// `alone`: no other lane gave anything to compare with.
Cell verdict(std::string_view lane, bool agrees, const std::optional<Divergence>& divergence,
             std::string_view base, bool alone) {
  if (!agrees) {
    return {divergence ? fmt::format("DIFFERS at {}", place_of(*divergence)) : "DIFFERS",
            Ink::kBad};
  }
  if (lane != base) return {fmt::format("agrees with {}", base), Ink::kGood};
  return {alone ? "compared with no other" : "what the others are compared with", Ink::kDim};
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

void add_divergence(std::string& text, const Painter& painter, std::string_view lane,
                    std::string_view base, const Divergence& d) {
  text += painter.paint(Ink::kBad, fmt::format("{} parts from {}", lane,
                                               lane == base ? "itself on one chip" : base)) +
          fmt::format(" at {}: {}\n", place_of(d), d.text);
  text += fmt::format("  {} [{}, {}]: expected {}, got {}\n", d.name, d.row, d.column, d.expected,
                      d.got);
}

/// The letters and inks of categories in a bar, in the order of Category.
constexpr std::string_view kLetters = "WKCMS.";
constexpr std::array<Ink, kCategories> kInks = {Ink::kWeights,  Ink::kCache,   Ink::kCompute,
                                                Ink::kMovement, Ink::kWaiting, Ink::kDim};

/// What is waiting for what: shares of the cycles that the lane counted, kBar letters in all. The
/// largest remainders get what rounding down leaves.
Cell category_bar(const Painter& painter, const Timing& timing) {
  constexpr std::size_t kBar = 20;
  const std::optional<double> sum = cycles_of(timing);
  if (!sum) return {"-"};
  std::array<std::size_t, kCategories> lengths{};
  std::array<double, kCategories> rest{};
  std::size_t left = kBar;
  for (std::size_t i = 0; i < kCategories; ++i) {
    rest[i] =
        static_cast<double>(kBar) * static_cast<double>((*timing.cycles_by_category)[i]) / *sum;
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
  return text + "\n";
}

std::string header(const Report& report, const Painter& painter) {
  std::string text = painter.paint(Ink::kBold, report.model);
  text += fmt::format(", weights {} {:.12}", report.weights_kind, report.weights_sha256);
  if (report.build.git_commit) {
    text += fmt::format(", commit {:.12}{}", *report.build.git_commit,
                        report.build.git_dirty.value_or(false) ? " (changed)" : "");
  }
  return text + fmt::format("\n{}, {} threads\n", report.host.cpu, report.host.threads);
}

Row ended_badly(std::string_view lane, Ending ending, const std::string& reason) {
  return {{std::string(lane)},
          {fmt::format("{}: {}", ending == Ending::kRefused ? "REFUSED" : "FAILED", reason),
           Ink::kBad}};
}

void add_cut(std::string& text, const Painter& painter, const CutOutcome& cut, bool with_map) {
  std::vector<Row> rows = {{{"lane", Ink::kDim},
                            {"time", Ink::kDim},
                            {"tokens/s", Ink::kDim, true},
                            {"bytes", Ink::kDim},
                            {"of its bound", Ink::kDim},
                            {"cycles", Ink::kDim},
                            {"output", Ink::kDim},
                            {"", Ink::kDim}}};
  std::string bad;
  std::string shares;
  std::string details;
  for (const LaneOutcome& lane : cut.lanes) {
    if (lane.ending == Ending::kNotRun) continue;
    if (lane.ending != Ending::kRan) {
      bad += table(painter, {ended_badly(lane.lane, lane.ending, lane.reason)});
      continue;
    }
    const Timing& timing = lane.result->timing;
    const double seconds = lane.seconds();
    const auto rate = tokens_per_second(cut.plan.cut, seconds);
    rows.push_back({{lane.lane},
                    {time_text(seconds, timing.time_class, timing.remark)},
                    {rate ? human_count(*rate) : "-", Ink::kPlain, true},
                    {bytes_text(timing)},
                    {bound_text(timing)},
                    category_bar(painter, timing),
                    {lane.output_sha256.substr(0, 12)},
                    verdict(lane.lane, lane.agrees, lane.divergence, cut.compared_with,
                            only_one_ran(cut.lanes))});
    if (lane.result->fault) {
      details += painter.paint(Ink::kBad, "fault") +
                 fmt::format(" on {} at line {}: a value too large for its block\n", lane.lane,
                             lane.result->fault->line);
    }
    if (cycles_of(timing)) {
      shares += fmt::format("{}: {}\n", lane.lane, category_text(timing));
    }
    if (with_map && lane.result->map) {
      details += map_text(*lane.result->map, program_lines(cut.plan.text));
    }
    if (lane.error) details += error_text(lane.lane, *lane.error);
    if (lane.divergence) {
      add_divergence(details, painter, lane.lane, cut.compared_with, *lane.divergence);
    }
    if (lane.generated) {
      details += fmt::format("{} generated {} tokens: {}\n", lane.lane,
                             lane.generated->tokens.size(), generated_text(*lane.generated));
    }
  }
  text += fmt::format("\n{}", painter.paint(Ink::kBold, cut.plan.cut.text()));
  if (cut.plan.chips > 1) text += fmt::format(" over {} chips", cut.plan.chips);
  text += fmt::format(", identity {:.12}\n", cut.plan.identity.sha256);
  if (rows.size() > 1) text += table(painter, rows);
  if (!shares.empty()) text += bar_legend(painter) + shares;
  text += bad + details;
}

void add_scores(std::string& text, const Painter& painter, const Report& report) {
  text += fmt::format("\n{}, {}\n", painter.paint(Ink::kBold, "score"), report.score_mode);
  std::vector<Row> rows = {{{"lane", Ink::kDim},
                            {"positions", Ink::kDim, true},
                            {"nll", Ink::kDim, true},
                            {"perplexity", Ink::kDim, true},
                            {"time", Ink::kDim},
                            {"logits", Ink::kDim},
                            {"", Ink::kDim}}};
  std::string details;
  for (const ScoreOutcome& lane : report.scores) {
    if (lane.ending == Ending::kNotRun) continue;
    if (lane.ending != Ending::kRan) {
      details += table(painter, {ended_badly(lane.lane, lane.ending, lane.reason)});
      continue;
    }
    const std::string& base = report.scores_compared_with;
    const auto perplexity = lane.total.perplexity();
    const std::string time =
        lane.time_class ? time_text(lane.seconds, *lane.time_class, lane.time_remark) : "-";
    rows.push_back(
        {{lane.lane},
         {fmt::format("{}", lane.total.positions), Ink::kPlain, true},
         {fmt::format("{:.6f}", lane.total.nll), Ink::kPlain, true},
         {perplexity ? fmt::format("{:.6f}", *perplexity) : "-", Ink::kPlain, true},
         {time},
         {lane.total.logits_sha256.substr(0, 12)},
         verdict(lane.lane, lane.agrees, lane.divergence, base, only_one_ran(report.scores))});
    if (lane.fault)
      details += fmt::format("{} on {}\n", painter.paint(Ink::kBad, "fault"), lane.lane);
    if (lane.error) details += error_text(lane.lane, *lane.error);
    if (lane.divergence) add_divergence(details, painter, lane.lane, base, *lane.divergence);
  }
  if (rows.size() > 1) text += table(painter, rows);
  text += details;
}

}  // namespace

std::string human_seconds(double seconds) {
  static constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  if (seconds >= 1000) return fmt::format("{:.0f} s", seconds);
  for (const auto& [unit, name] : kUnits) {
    if (seconds >= unit || unit == 1e-9) return fmt::format("{:.3g} {}", seconds / unit, name);
  }
  return "";
}

std::string human_bytes(double bytes) {
  static constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes >= unit) return fmt::format("{:.2f} {}", bytes / unit, name);
  }
  return fmt::format("{:.0f} B", bytes);
}

std::string human_count(double count) {
  if (count < 100) return fmt::format("{:.3g}", count);
  const std::string digits = fmt::format("{:.0f}", count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string report_console(const Report& report, bool color) {
  const Painter painter(color);
  std::string text = header(report, painter);
  if (report.is_score) {
    add_scores(text, painter, report);
    return text;
  }
  for (const CutOutcome& cut : report.cuts) {
    const bool ran = std::any_of(cut.lanes.begin(), cut.lanes.end(), [](const LaneOutcome& lane) {
      return lane.ending != Ending::kNotRun;
    });
    if (ran) add_cut(text, painter, cut, report.with_map);
  }
  return text;
}

}  // namespace logos::bench
