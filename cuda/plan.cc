#include "cuda/plan.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "cuda/plan_fields.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

using nlohmann::json;

constexpr std::int64_t kVersion = 1;

// One description of the layout serves both ways: `transfer(archive, value)` writes a value to a
// Writer or reads it from a Reader. Records are arrays of their fields in order.

/// Appends to an array of JSON.
class Writer {
 public:
  explicit Writer(json& array) : array_(array) { array_ = json::array(); }
  void integer(std::int64_t& value, std::int64_t, std::int64_t) { array_.push_back(value); }
  void text(std::string& value) { array_.push_back(value); }
  template <typename Element, typename Visit>
  void list(std::vector<Element>& values, Visit&& visit) {
    json items = json::array();
    for (Element& value : values) {
      json item;
      Writer writer(item);
      visit(writer, value);
      items.push_back(std::move(item));
    }
    array_.push_back(std::move(items));
  }

 private:
  json& array_;
};

/// Takes from an array of JSON, in order; `finish` refuses what is left.
class Reader {
 public:
  Reader(const json& array, std::string_view where) : array_(array), where_(where) {
    if (!array.is_array()) fail("no array where a record is due");
  }

  void integer(std::int64_t& value, std::int64_t lowest, std::int64_t highest) {
    const json& item = next();
    if (!item.is_number_integer() ||
        (item.is_number_unsigned() &&
         item.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})) {
      fail("no integer where one is due");
    }
    value = item.get<std::int64_t>();
    if (value < lowest || value > highest) {
      throw Error(where_, "damaged plan: a number out of range", fmt::to_string(value),
                  fmt::format("{} to {}", lowest, highest));
    }
  }
  void text(std::string& value) {
    const json& item = next();
    if (!item.is_string()) fail("no text where one is due");
    value = item.get<std::string>();
  }
  template <typename Element, typename Visit>
  void list(std::vector<Element>& values, Visit&& visit) {
    const json& items = next();
    if (!items.is_array()) fail("no array where a list is due");
    values.clear();
    values.reserve(items.size());
    for (const json& item : items) {
      Reader reader(item, where_);
      visit(reader, values.emplace_back());
      reader.finish();
    }
  }
  void finish() const {
    if (at_ != array_.size()) fail("a record with fields too many");
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(where_, fmt::format("damaged plan: {}", what));
  }

 private:
  const json& next() {
    if (at_ == array_.size()) fail("a record with fields too few");
    return array_[at_++];
  }

  const json& array_;
  std::string_view where_;
  std::size_t at_ = 0;
};

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;  ///< far above any memory, sums are safe

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

template <typename Archive>
void field(Archive& archive, Reference& reference) {
  number(archive, reference.space, 0, kSpaces - 1);
  count(archive, reference.index);
  count(archive, reference.offset);
}
template <typename Archive>
void field(Archive& archive, std::int32_t& value) {
  count(archive, value);
}
template <typename Archive>
void field(Archive& archive, std::int64_t& value) {
  count(archive, value);
}
template <typename Archive>
void field(Archive& archive, float& value) {  // as its bits
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  number(archive, bits, 0, std::numeric_limits<std::uint32_t>::max());
  value = std::bit_cast<float>(bits);
}
template <typename Archive>
void field(Archive& archive, double& value) {  // as the two halves of its bits
  auto bits = std::bit_cast<std::uint64_t>(value);
  auto high = static_cast<std::uint32_t>(bits >> 32);
  auto low = static_cast<std::uint32_t>(bits);
  number(archive, high, 0, std::numeric_limits<std::uint32_t>::max());
  number(archive, low, 0, std::numeric_limits<std::uint32_t>::max());
  value = std::bit_cast<double>(std::uint64_t{high} << 32 | low);
}

/// Makes `work` hold the alternative of an index.
template <std::size_t kIndex = 0>
void emplace(Work& work, std::size_t index) {
  if constexpr (kIndex < std::variant_size_v<Work>) {
    if (index == kIndex) {
      work.emplace<kIndex>();
    } else {
      emplace<kIndex + 1>(work, index);
    }
  }
}

template <typename Archive>
void transfer(Archive& archive, Step& step) {
  count(archive, step.chip);
  std::size_t index = step.work.index();
  number(archive, index, 0, static_cast<std::int64_t>(std::variant_size_v<Work>) - 1);
  if (index != step.work.index()) emplace(step.work, index);
  std::visit(
      [&](auto& work) {
        if constexpr (std::is_same_v<decltype(work), ProductStep&>) {
          number(archive, work.kernel, 0, 1);
        }
        for_each_field(work, [&](auto& value) {
          if constexpr (kIsReference<decltype(value)>) {
            field(archive, static_cast<Reference&>(value));
          } else {
            field(archive, value);
          }
        });
      },
      step.work);
}

template <typename Archive>
void transfer(Archive& archive, ObservedPart& part) {
  field(archive, part.values);
  field(archive, part.second);
  field(archive, part.exponents);
  count(archive, part.pitch);
  count(archive, part.skip);
  count(archive, part.count);
}

template <typename Archive>
void transfer(Archive& archive, Observed& observed) {
  count(archive, observed.operation);
  archive.text(observed.name);
  number(archive, observed.form, 0, kForms - 1);
  count(archive, observed.rows);
  count(archive, observed.position_row);
  count(archive, observed.width);
  archive.list(observed.parts, [](auto& inner, ObservedPart& part) { transfer(inner, part); });
}

template <typename Archive>
void transfer(Archive& archive, Group& group) {
  archive.list(group.steps, [](auto& inner, Step& step) { transfer(inner, step); });
  archive.list(group.observed, [](auto& inner, Observed& value) { transfer(inner, value); });
}

template <typename Archive>
void transfer_head(Archive& archive, Plan& plan) {
  std::int64_t version = kVersion;
  archive.integer(version, kVersion, kVersion);
  count(archive, plan.rows);
  for (bool* flag : {&plan.is_chunk, &plan.has_tokens, &plan.has_positions, &plan.has_given,
                     &plan.each_row_caches}) {
    number(archive, *flag, 0, 1);
  }
  for (std::int64_t* value :
       {&plan.columns, &plan.vocabulary, &plan.head_columns, &plan.key_heads, &plan.window}) {
    count(archive, *value);
  }
  std::int64_t context = plan.context.value_or(0);
  count(archive, context);
  plan.context = context == 0 ? std::nullopt : std::optional(context);
  number(archive, plan.rotary.kind, 0, 2);
  for (double* value : {&plan.rotary.base, &plan.rotary.factor, &plan.rotary.low, &plan.rotary.high,
                        &plan.rotary.original}) {
    field(archive, *value);
  }
  number(archive, plan.chips, 1, kMaxInt32);
  count(archive, plan.memory_bytes);
}

template <typename Archive>
void transfer(Archive& archive, Plan& plan) {
  transfer_head(archive, plan);
  archive.list(plan.matrices, [](auto& inner, PlanMatrix& matrix) {
    inner.text(matrix.tensor);
    number(inner, matrix.rows, 0, kMaxInt32);
    number(inner, matrix.columns, 0, kMaxInt32);
  });
  archive.list(plan.vectors, [](auto& inner, PlanVector& vector) {
    inner.text(vector.tensor);
    number(inner, vector.size, 0, kMaxInt32);
  });
  archive.list(plan.caches, [](auto& inner, PlanCache& cache) {
    count(inner, cache.chip);
    for (std::int64_t* value : {&cache.layer, &cache.first_head, &cache.heads}) {
      number(inner, *value, 0, kMaxInt32);
    }
  });
  for (auto* sizes : {&plan.arenas, &plan.observed}) {
    archive.list(*sizes, [](auto& inner, std::int64_t& bytes) { count(inner, bytes); });
  }
  archive.list(plan.operations, [](auto& inner, PlanOperation& operation) {
    number(inner, operation.layer, 0, kMaxInt32);
    count(inner, operation.line);
  });
  archive.list(plan.groups, [](auto& inner, Group& group) { transfer(inner, group); });
  field(archive, plan.output);
  count(archive, plan.output_rows);
  count(archive, plan.output_columns);
}

}  // namespace

std::string serialise_plan(const Plan& plan) {
  json record;
  Writer writer(record);
  Plan copy = plan;  // one description of the layout for both directions asks for a mutable value
  transfer(writer, copy);
  return record.dump();
}

Plan parse_plan(std::string_view payload, std::string_view where) {
  const json record = json::parse(payload, nullptr, false);
  if (record.is_discarded()) throw Error(where, "damaged plan: no JSON");
  if (record.dump() != payload) throw Error(where, "damaged plan: surplus text");
  Plan plan;
  Reader reader(record, where);
  transfer(reader, plan);
  reader.finish();
  return plan;
}

}  // namespace logos::cuda
