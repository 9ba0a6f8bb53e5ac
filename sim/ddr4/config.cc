#include "sim/ddr4/config.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>

#include "program/error.h"

namespace logos::ddr4 {
namespace {

using nlohmann::json;

struct IntegerKey {
  std::string_view name;
  int Parameters::*member;
};

constexpr std::array<IntegerKey, 37> kIntegerKeys = {{
    {"ranks", &Parameters::ranks},
    {"bank_groups", &Parameters::bank_groups},
    {"banks_per_group", &Parameters::banks_per_group},
    {"rows", &Parameters::rows},
    {"columns", &Parameters::columns},
    {"data_bits", &Parameters::data_bits},
    {"burst_length", &Parameters::burst_length},
    {"t_rcd", &Parameters::t_rcd},
    {"t_rp", &Parameters::t_rp},
    {"cl", &Parameters::cl},
    {"cwl", &Parameters::cwl},
    {"t_ras", &Parameters::t_ras},
    {"t_rc", &Parameters::t_rc},
    {"t_ccd_s", &Parameters::t_ccd_s},
    {"t_ccd_l", &Parameters::t_ccd_l},
    {"t_rrd_s", &Parameters::t_rrd_s},
    {"t_rrd_l", &Parameters::t_rrd_l},
    {"t_faw", &Parameters::t_faw},
    {"t_wr", &Parameters::t_wr},
    {"t_wtr_s", &Parameters::t_wtr_s},
    {"t_wtr_l", &Parameters::t_wtr_l},
    {"t_rtp", &Parameters::t_rtp},
    {"t_refi", &Parameters::t_refi},
    {"t_rfc", &Parameters::t_rfc},
    {"rank_switch", &Parameters::rank_switch},
    {"read_to_write_gap", &Parameters::read_to_write_gap},
    {"read_queue", &Parameters::read_queue},
    {"write_queue", &Parameters::write_queue},
    {"bank_queue", &Parameters::bank_queue},
    {"write_high", &Parameters::write_high},
    {"write_low", &Parameters::write_low},
    {"write_wait_limit", &Parameters::write_wait_limit},
    {"starvation_limit", &Parameters::starvation_limit},
    {"refresh_postpone", &Parameters::refresh_postpone},
    {"request_latency", &Parameters::request_latency},
    {"response_latency", &Parameters::response_latency},
    {"in_flight", &Parameters::in_flight},
}};

std::string place(std::string_view where, std::string_view key) {
  return fmt::format("{}.{}", where, key);
}

/// Takes the keys of a section one by one and refuses what is left over.
class SectionReader {
 public:
  SectionReader(const json& section, std::string_view where) : section_(section), where_(where) {
    if (!section.is_object()) {
      throw Error(where, "not an object", section.type_name(), "an object of keys");
    }
  }

  int integer(std::string_view key) {
    const json& value = take(key);
    if (!value.is_number_integer()) refuse(key, value, "an integer");
    // Out of int's range: the limits' reader must see a number that is out of range as well.
    const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT32_MAX
                                                 : value.get<std::int64_t>() >= INT32_MIN &&
                                                       value.get<std::int64_t>() <= INT32_MAX;
    if (!fits) refuse(key, value, "a number of 32 bits");
    return value.get<int>();
  }

  double number(std::string_view key) {
    const json& value = take(key);
    if (!value.is_number()) refuse(key, value, "a number");
    return value.get<double>();
  }

  std::string text(std::string_view key) {
    const json& value = take(key);
    if (!value.is_string()) refuse(key, value, "a string");
    return value.get<std::string>();
  }

  /// One of two words.
  bool choice(std::string_view key, std::string_view first, std::string_view second) {
    const std::string word = text(key);
    if (word != first && word != second) {
      throw Error(place(where_, key), "unknown word", word, fmt::format("{} or {}", first, second));
    }
    return word == first;
  }

  void finish() const {
    for (const auto& [key, value] : section_.items()) {
      if (!taken_.contains(key)) throw Error(place(where_, key), "unknown key");
    }
  }

 private:
  const json& take(std::string_view key) {
    const auto found = section_.find(std::string(key));
    if (found == section_.end()) throw Error(place(where_, key), "missing key");
    taken_.insert(std::string(key));
    const json& entry = *found;
    if (!entry.is_object() || entry.size() != 2 || !entry.contains("value") ||
        !entry.contains("source") || !entry["source"].is_string() ||
        entry["source"].get_ref<const std::string&>().empty()) {
      throw Error(place(where_, key), "not a value with its source", entry.dump(),
                  R"({"value": …, "source": "…"})");
    }
    return entry["value"];
  }

  [[noreturn]] void refuse(std::string_view key, const json& value, std::string_view want) const {
    throw Error(place(where_, key), "wrong type", value.dump(), want);
  }

  const json& section_;
  std::string_view where_;
  std::set<std::string> taken_;
};

/// Parses and refuses keys that stand twice in one object, of which nlohmann-json keeps the last.
json parse_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) throw Error(file.string(), "cannot read the file");
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == json::parse_event_t::object_end) open_objects.pop_back();
    if (event == json::parse_event_t::key &&
        !open_objects.back().insert(parsed.get<std::string>()).second) {
      throw Error(file.string(),
                  fmt::format("the key \"{}\" stands twice", parsed.get<std::string>()));
    }
    return true;
  };
  try {
    return json::parse(bytes, watch);
  } catch (const json::exception& error) {
    throw Error(file.string(), fmt::format("not JSON: {}", error.what()));
  }
}

}  // namespace

Parameters read_parameters(const json& section, std::string_view where) {
  SectionReader reader(section, where);
  Parameters parameters{};
  for (const IntegerKey& key : kIntegerKeys) parameters.*key.member = reader.integer(key.name);
  parameters.memory_clock_mhz = reader.number("memory_clock_mhz");
  parameters.address_order = reader.text("address_order");
  parameters.response_order = reader.choice("response_order", "in_order", "as_completed")
                                  ? ResponseOrder::kInOrder
                                  : ResponseOrder::kAsCompleted;
  parameters.write_response = reader.choice("write_response", "accepted", "written")
                                  ? WriteResponse::kAccepted
                                  : WriteResponse::kWritten;
  reader.finish();
  validate(parameters, where);
  return parameters;
}

Parameters read_board_channel(const std::filesystem::path& file) {
  const json board = parse_file(file);
  if (!board.is_object() || !board.contains("ddr4")) {
    throw Error(file.string(), "missing section \"ddr4\"");
  }
  return read_parameters(board["ddr4"], file.string() + ": ddr4");
}

void set_value(json& section, std::string_view key, const std::string& text,
               std::string_view where) {
  const auto found = section.find(std::string(key));
  if (found == section.end()) throw Error(place(where, key), "unknown key");
  json value = json::parse(text, nullptr, false);
  (*found)["value"] = value.is_number() ? std::move(value) : json(text);
}

}  // namespace logos::ddr4
