#include "spatial/chip/collector.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/check.h"

namespace logos::spatial {

Collector::Collector(const Plan& plan, Observer* observer) : plan_(plan), observer_(observer) {
  if (observer == nullptr) return;
  const auto add = [&](std::int32_t layer, const std::string& name, std::size_t operation) {
    Named named;
    named.operation = static_cast<int>(operation);
    named.name = name;
    named.has_exponents = name.ends_with(".q16");
    named_.try_emplace({layer, name}, std::move(named));
  };
  for (std::size_t i = 0; i < plan.names.size(); ++i) {
    if (plan.names[i].empty()) continue;
    if (plan.names[i] == "attention") {  // its inner values have no operation of their own
      for (const char* inner : {"scores", "weights", "weight_sum"}) add(plan.layers[i], inner, i);
    }
    add(plan.layers[i], plan.names[i], i);
  }
}

Collector::Named* Collector::find(const Place& place) {
  const auto found = named_.find({place.layer, place.name});
  return found == named_.end() ? nullptr : &found->second;
}

void Collector::put(const Place& place, ElementType type, std::int64_t whole, std::int64_t first,
                    std::span<const std::byte> values) {
  Named* named = find(place);
  if (named == nullptr) return;
  const std::size_t bytes = bytes_of(type);
  Row& row = named->rows[place.row];
  if (!row.begun) {
    row.begun = true;
    row.position = place.position;
    row.missing = static_cast<std::size_t>(whole) * bytes;
    row.values.resize(row.missing);
    named->type = type;
  }
  CHECK(values.size() <= row.missing && place.row >= named->next_row);
  std::copy(
      values.begin(), values.end(),
      row.values.begin() + static_cast<std::ptrdiff_t>(first) * static_cast<std::ptrdiff_t>(bytes));
  row.missing -= values.size();
  emit(*named);
}

void Collector::put_exponent(const Place& place, std::int64_t whole, std::int64_t index,
                             std::int8_t exponent) {
  Named* named = find(place);
  if (named == nullptr) return;
  Row& row = named->rows[place.row];
  if (row.exponents.empty()) {
    row.exponents.resize(static_cast<std::size_t>(whole));
    row.missing_exponents = row.exponents.size();
  }
  CHECK(row.missing_exponents > 0);
  row.exponents[static_cast<std::size_t>(index)] = exponent;
  --row.missing_exponents;
  emit(*named);
}

/// Shows the rows that are whole, up to the first that is not.
void Collector::emit(Named& named) {
  for (;;) {
    const auto found = named.rows.find(named.next_row);
    if (found == named.rows.end()) return;
    const Row& row = found->second;
    if (!row.begun || row.missing > 0 || row.missing_exponents > 0) return;
    if (named.has_exponents && row.exponents.empty()) return;
    const auto operation = static_cast<std::size_t>(named.operation);
    Observation observation;
    observation.name = named.name;
    observation.layer = plan_.layers[operation];
    observation.line = plan_.lines[operation];
    observation.row = named.next_row;
    observation.position = row.position;
    observation.type = named.type;
    observation.values = row.values;
    observation.exponents = row.exponents;
    observer_->observe(observation);
    named.rows.erase(found);
    ++named.next_row;
  }
}

std::string Collector::unfinished() const {
  std::string lines;
  for (const auto& [key, named] : named_) {
    if (named.rows.empty()) continue;
    lines += fmt::format("operation {} of layer {}, row {} is not whole\n", named.name, key.first,
                         named.rows.begin()->first);
  }
  return lines;
}

}  // namespace logos::spatial
