#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "program/error.h"

namespace logos::records {

// Plans as bytes: one description of the layout serves both ways. `transfer(archive, value)` writes
// a value to a Writer or reads it from a Reader, which refuses everything that the Writer could not
// have written. Records are JSON arrays of their fields in order.

/// Appends to an array of JSON.
class Writer {
 public:
  explicit Writer(nlohmann::json& array) : array_(array) { array_ = nlohmann::json::array(); }
  void integer(std::int64_t& value, std::int64_t, std::int64_t) { array_.push_back(value); }
  void text(std::string& value) { array_.push_back(value); }
  template <typename Element, typename Visit>
  void list(std::vector<Element>& values, Visit&& visit) {
    nlohmann::json items = nlohmann::json::array();
    for (Element& value : values) {
      nlohmann::json item;
      Writer writer(item);
      visit(writer, value);
      items.push_back(std::move(item));
    }
    array_.push_back(std::move(items));
  }

 private:
  nlohmann::json& array_;
};

/// Takes from an array of JSON, in order; `finish` refuses what is left.
class Reader {
 public:
  Reader(const nlohmann::json& array, std::string_view where);

  void integer(std::int64_t& value, std::int64_t lowest, std::int64_t highest);
  void text(std::string& value);
  template <typename Element, typename Visit>
  void list(std::vector<Element>& values, Visit&& visit) {
    const nlohmann::json& items = next();
    if (!items.is_array()) fail("no array where a list is due");
    values.clear();
    values.reserve(items.size());
    for (const nlohmann::json& item : items) {
      Reader reader(item, where_);
      visit(reader, values.emplace_back());
      reader.finish();
    }
  }
  void finish() const;
  [[noreturn]] void fail(std::string_view what) const;

 private:
  const nlohmann::json& next();

  const nlohmann::json& array_;
  std::string_view where_;
  std::size_t at_ = 0;
};

inline constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMaxUint32 = std::numeric_limits<std::uint32_t>::max();
/// Far above any memory's bytes; sums of such are safe.
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;

template <typename Archive, typename Int>
void number(Archive& archive, Int& value, std::int64_t lowest, std::int64_t highest) {
  std::int64_t wide = static_cast<std::int64_t>(value);
  archive.integer(wide, lowest, highest);
  value = static_cast<Int>(wide);
}
template <typename Archive, typename Int>
void count(Archive& archive, Int& value) {
  constexpr bool kNarrow = sizeof(Int) < sizeof(std::int64_t);
  number(archive, value, 0, kNarrow ? kMaxInt32 : kMaxBytes);
}
/// As its bits.
template <typename Archive>
void real(Archive& archive, float& value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  number(archive, bits, 0, kMaxUint32);
  value = std::bit_cast<float>(bits);
}
/// As the two halves of its bits.
template <typename Archive>
void real(Archive& archive, double& value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  auto high = static_cast<std::uint32_t>(bits >> 32);
  auto low = static_cast<std::uint32_t>(bits);
  number(archive, high, 0, kMaxUint32);
  number(archive, low, 0, kMaxUint32);
  value = std::bit_cast<double>(std::uint64_t{high} << 32 | low);
}

/// The bytes of a value with a `transfer`; the same value gives the same bytes.
template <typename Value>
std::string serialise(const Value& value) {
  nlohmann::json record;
  Writer writer(record);
  Value copy = value;  // one description for both directions asks for a mutable value
  transfer(writer, copy);
  return record.dump();
}

/// JSON text as `serialise` writes it; throws Error (where = `where`) for other text.
nlohmann::json parse_text(std::string_view payload, std::string_view where);

/// The value back. Throws Error (where = `where`) for kinds, counts and numbers out of range and
/// for surplus, missing or ill-typed fields.
template <typename Value>
Value parse(std::string_view payload, std::string_view where) {
  const nlohmann::json record = parse_text(payload, where);
  Value value;
  Reader reader(record, where);
  transfer(reader, value);
  reader.finish();
  return value;
}

}  // namespace logos::records
