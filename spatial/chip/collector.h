#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/observer.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// Joins what tiles show of the named operations, and gives each to the observer once it is whole:
/// an operation's rows in order.
class Collector {
 public:
  Collector(const Plan& plan, Observer* observer);

  /// Where false, nothing need be put.
  bool watches() const { return observer_ != nullptr; }

  /// Where a value belongs: an operation's row. `name` as in golden/README.md.
  struct Place {
    std::int32_t layer = 0;
    std::string name;
    std::int64_t row = 0;
    std::int64_t position = 0;
  };
  /// Elements [first, first + values.size()) of `whole`. Operations that the program does not name
  /// are passed over.
  template <typename T>
  void put(const Place& place, std::int64_t whole, std::int64_t first, std::span<const T> values) {
    put(place, type_of(T{}), whole, first, std::as_bytes(values));
  }
  /// Exponent `index` of `whole`; a block with exponents is whole only with all of them.
  void put_exponent(const Place& place, std::int64_t whole, std::int64_t index,
                    std::int8_t exponent);

  /// "" or the names of what never became whole.
  std::string unfinished() const;

 private:
  struct Row {
    std::int64_t position = 0;
    std::vector<std::byte> values;
    std::size_t missing = 0;  ///< bytes
    std::vector<std::int8_t> exponents;
    std::size_t missing_exponents = 0;
    bool begun = false;
  };
  struct Named {
    int operation = 0;
    std::string name;
    bool has_exponents = false;
    ElementType type = ElementType::kF32;
    std::int64_t next_row = 0;
    std::map<std::int64_t, Row> rows;
  };

  static ElementType type_of(float) { return ElementType::kF32; }
  static ElementType type_of(std::int16_t) { return ElementType::kI16; }
  static ElementType type_of(std::int32_t) { return ElementType::kI32; }
  static ElementType type_of(std::int64_t) { return ElementType::kI64; }

  Named* find(const Place& place);
  void put(const Place& place, ElementType type, std::int64_t whole, std::int64_t first,
           std::span<const std::byte> values);
  void emit(Named& named);

  const Plan& plan_;
  Observer* observer_;
  std::map<std::pair<std::int32_t, std::string>, Named> named_;
};

}  // namespace logos::spatial
