#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "bench/report.h"

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The fields of one line, in the order of their first appearance.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// RFC 4180: quoted where it must be.
std::vector<std::string> quoted(std::vector<std::string> values) {
  for (std::string& value : values) {
    if (value.find_first_of(",\"\r\n") == std::string::npos) continue;
    std::string text;
    for (const char c : value) text.append(c == '"' ? 2 : 1, c);
    value = fmt::format("\"{}\"", text);
  }
  return values;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Objects become dotted names; an array of numbers is joined with spaces.
void flatten(const std::string& name, const Json& value, Fields& fields) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      flatten(fmt::format("{}.{}", name, key), inner, fields);
    return;
  }
  if (value.is_array()) {
    std::string joined;
    for (const Json& item : value) {
      if (!joined.empty()) joined += ' ';
      joined += value_text(item);
    }
    fields.emplace_back(name, joined);
    return;
  }
  fields.emplace_back(name, value_text(value));
}

Fields context_fields(const Json& context) {
  Fields fields;
  fields.emplace_back("model", value_text(context["model"]));
  fields.emplace_back("weights_sha256", value_text(context["weights_sha256"]));
  const Json& git = context["git"];
  for (const char* key : {"commit", "dirty"}) {
    fields.emplace_back(fmt::format("git.{}", key), value_text(git.value(key, Json(nullptr))));
  }
  return fields;
}

/// What the lane of a line says of its times at that cut.
void add_note(const Json& context, const Json& cut, const Json& lane, Fields& fields) {
  const Json notes = context.value("time_notes", Json::object());
  const std::string name = lane["lane"].get<std::string>();
  auto note = notes.find(name);
  if (note == notes.end()) note = notes.find(name + " " + value_text(cut["cut"]));
  fields.emplace_back("time_note", note == notes.end() ? "" : value_text(*note));
}

void add_all(const Json& object, const std::vector<std::string>& but, Fields& fields) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(but.begin(), but.end(), key) == but.end()) flatten(key, value, fields);
  }
}

std::vector<Fields> cut_lines(const Json& report) {
  std::vector<Fields> lines;
  for (const Json& cut : report["cuts"]) {
    for (const Json& lane : cut["lanes"]) {
      Fields fields = {{"cut", value_text(cut["cut"])}};
      flatten("identity", cut["identity"], fields);
      add_all(lane, {}, fields);
      if (!lane.contains("time_note")) add_note(report["context"], cut, lane, fields);
      lines.push_back(std::move(fields));
    }
  }
  return lines;
}

/// A line for all sequences together (`sequence` empty), then one for each, counted from 0.
std::vector<Fields> score_lines(const Json& report) {
  std::vector<Fields> lines;
  for (const Json& lane : report["lanes"]) {
    Fields fields = {{"sequence", ""}};
    add_all(lane, {"sequences"}, fields);
    lines.push_back(std::move(fields));
    std::size_t sequence = 0;
    for (const Json& score : lane.value("sequences", Json::array())) {
      Fields one = {{"sequence", std::to_string(sequence++)}, {"lane", value_text(lane["lane"])}};
      flatten("score", score, one);
      lines.push_back(std::move(one));
    }
  }
  return lines;
}

}  // namespace

std::string report_csv(const nlohmann::ordered_json& report) {
  std::vector<Fields> lines = report.contains("cuts") ? cut_lines(report) : score_lines(report);
  const Fields context = context_fields(report["context"]);
  std::vector<std::string> columns;
  for (Fields& line : lines) {
    line.insert(line.end(), context.begin(), context.end());
    for (const auto& [name, value] : line) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
        columns.push_back(name);
      }
    }
  }
  std::string text = fmt::format("{}\r\n", fmt::join(quoted(columns), ","));
  for (const Fields& line : lines) {
    std::vector<std::string> values;
    for (const std::string& column : columns) {
      const auto found = std::find_if(line.begin(), line.end(),
                                      [&](const auto& pair) { return pair.first == column; });
      values.push_back(found == line.end() ? "" : found->second);
    }
    text += fmt::format("{}\r\n", fmt::join(quoted(values), ","));
  }
  return text;
}

}  // namespace logos::bench
