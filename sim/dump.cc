#include "sim/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "program/check.h"
#include "program/identity.h"
#include "sim/operation_order.h"

namespace logos {
namespace {

constexpr std::size_t kFirstValues = 8;  // how many values a line shows

}  // namespace

void Dump::observe(const Observation& observation) {
  const OperationPlace place = place_of(observation.name, observation.layer);
  Entry entry;
  entry.row = observation.row;
  entry.layer = place.layer;
  entry.position = observation.position;
  entry.rank = place.rank;
  entry.name = observation.name;
  entry.type = name_of(observation.type);
  entry.count = observation.values.size() / bytes_of(observation.type);
  entry.exponents.assign(observation.exponents.begin(), observation.exponents.end());
  entry.sha256 = sha256_hex(
      {reinterpret_cast<const char*>(observation.values.data()), observation.values.size()});
  for (std::size_t i = 0; i < std::min(kFirstValues, entry.count); ++i) {
    entry.first.push_back(hex_of(observation.type, observation.values, i));
  }
  entries_.push_back(std::move(entry));
}

void Dump::end_run(const std::vector<std::int64_t>& sequences, std::ostream& out) {
  const auto sequence_of = [&](const Entry& entry) {
    CHECK(entry.row >= 0 && entry.row < static_cast<std::int64_t>(sequences.size()));
    return sequences[static_cast<std::size_t>(entry.row)];
  };
  // A chunk's last row is row 0 of what follows `last_row`, so rows go by their position; where a
  // part has no positions, by number.
  const auto key = [&](const Entry& entry) {
    const std::int64_t row = entry.position > 0 ? 0 : entry.row;
    return std::make_tuple(sequence_of(entry), entry.position, row, entry.layer, entry.rank);
  };
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  for (const Entry& entry : entries_) {
    const OperationPlace after = place_of("logits", 0);
    const bool in_layer = entry.layer != 0 && entry.layer != after.layer;
    nlohmann::ordered_json line = {{"name", entry.name}, {"layer", nullptr}};
    if (in_layer) line["layer"] = entry.layer - 1;
    line["sequence"] = sequence_of(entry);
    line["position"] = nullptr;
    if (entry.position > 0) line["position"] = entry.position - 1;
    line["type"] = entry.type;
    line["count"] = entry.count;
    if (!entry.exponents.empty()) line["exponents"] = entry.exponents;
    line["sha256"] = entry.sha256;
    line["first"] = entry.first;
    out << line.dump() << '\n';
  }
  entries_.clear();
}

}  // namespace logos
