#include "rtl/bringup/ladder_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace logos::d5005 {
namespace {

/// XML 1.0, 2.2, has no U+FFFE and no U+FFFF; other characters that it lacks come here escaped.
std::string xml(std::string_view text) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view three = text.substr(at, 3);
    if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      escaped += "\xEF\xBF\xBD";  // U+FFFD
      at += 2;
      continue;
    }
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

long long count_of(const std::vector<RungReport>& reports, RungStatus status) {
  return std::count_if(reports.begin(), reports.end(),
                       [&](const RungReport& r) { return r.status == status; });
}

nlohmann::json or_null(const std::optional<std::uint64_t>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

std::string no_trace_text(const std::vector<RungReport>& reports, const LadderContext& context) {
  const auto last = reports.back().last_cycle;
  return fmt::format("fault {} left no trace: all rungs passed{}", context.fault,
                     last ? fmt::format(", the last at the engine's cycle {}", *last) : "");
}

}  // namespace

std::string table_head() {
  return fmt::format("{:>4}  {:<18} {:<8} {:>12} {:>9}  {}\n", "rung", "name", "", "cycles",
                     "seconds", "proves");
}

std::string table_lines(const RungReport& report) {
  const bool ran = report.status != RungStatus::kNotRun;
  const auto cycles = report.cycles();
  std::string text =
      fmt::format("{:>4}  {:<18} {:<8} {:>12} {:>9}  {}\n", report.number, report.name,
                  name_of(report.status), cycles ? fmt::to_string(*cycles) : "-",
                  ran ? fmt::format("{:.2f}", report.seconds) : "-", report.proves);
  const std::string indent(6, ' ');
  if (!report.figures.empty()) {
    std::string figures;
    for (const auto& [name, value] : report.figures) {
      figures += fmt::format("{}{}: {}", figures.empty() ? "" : ", ", name, value);
    }
    text += indent + figures + "\n";
  }
  if (report.status == RungStatus::kFailed) {
    text += fmt::format("{}failed: {}\n{}look at: {}\n", indent, report.message, indent,
                        report.look_at);
  }
  return text;
}

bool left_no_trace(const std::vector<RungReport>& reports, const LadderContext& context) {
  return !context.fault.empty() && all_passed(reports);
}

std::string table_end(const std::vector<RungReport>& reports, const LadderContext& context) {
  return left_no_trace(reports, context) ? no_trace_text(reports, context) + "\n" : "";
}

nlohmann::json ladder_json(const std::vector<RungReport>& reports, const LadderContext& context) {
  nlohmann::json rungs = nlohmann::json::array();
  for (const RungReport& report : reports) {
    const bool ran = report.status != RungStatus::kNotRun;
    const bool failed = report.status == RungStatus::kFailed;
    nlohmann::json figures = nlohmann::json::object();
    for (const auto& [name, value] : report.figures) figures[name] = value;
    nlohmann::json rung = {{"rung", report.number},
                           {"name", report.name},
                           {"proves", report.proves},
                           {"status", name_of(report.status)},
                           {"figures", std::move(figures)}};
    rung["failed"] = failed ? nlohmann::json(report.message) : nlohmann::json(nullptr);
    rung["look_at"] = failed ? nlohmann::json(report.look_at) : nlohmann::json(nullptr);
    rung["first_cycle"] = or_null(report.first_cycle);
    rung["last_cycle"] = or_null(report.last_cycle);
    rung["seconds"] = ran ? nlohmann::json(report.seconds) : nlohmann::json(nullptr);
    rungs.push_back(std::move(rung));
  }
  nlohmann::json root = {{"board", context.board}, {"answers", context.answers}};
  root["fault"] = context.fault.empty() ? nlohmann::json(nullptr) : nlohmann::json(context.fault);
  root["refused"] =
      context.refused.empty() ? nlohmann::json(nullptr) : nlohmann::json(context.refused);
  const bool no_trace = left_no_trace(reports, context);
  root["fault_left_no_trace"] = no_trace;
  root["passed"] = all_passed(reports) && !no_trace;
  root["rungs"] = std::move(rungs);
  return root;
}

std::string ladder_junit(const std::vector<RungReport>& reports, const LadderContext& context) {
  double seconds = 0;
  for (const RungReport& report : reports) seconds += report.seconds;
  const bool no_trace = left_no_trace(reports, context);
  const int more = (no_trace ? 1 : 0) + (context.refused.empty() ? 0 : 1);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"bringup.{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n",
      xml(context.board), reports.size() + static_cast<std::size_t>(more),
      count_of(reports, RungStatus::kFailed) + more, count_of(reports, RungStatus::kNotRun),
      seconds);
  for (const RungReport& report : reports) {
    text += fmt::format("    <testcase classname=\"bringup.{}\" name=\"{} {}\" time=\"{:.3f}\">\n",
                        xml(context.board), report.number, xml(report.name), report.seconds);
    if (report.status == RungStatus::kFailed) {
      text += fmt::format("      <failure message=\"{}\">look at: {}</failure>\n",
                          xml(report.message), xml(report.look_at));
    }
    if (report.status == RungStatus::kNotRun) {
      text += "      <skipped message=\"a rung below it has not passed\"/>\n";
    }
    text += "    </testcase>\n";
  }
  const auto fail = [&](std::string_view name, std::string_view message) {
    text += fmt::format(
        "    <testcase classname=\"bringup.{}\" name=\"{}\" time=\"0.000\">\n"
        "      <failure message=\"{}\"/>\n    </testcase>\n",
        xml(context.board), name, xml(message));
  };
  if (no_trace) fail("planted fault", no_trace_text(reports, context));
  if (!context.refused.empty()) fail("begin", context.refused);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace logos::d5005
