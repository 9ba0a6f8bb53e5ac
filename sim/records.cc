#include "sim/records.h"

#include <fmt/format.h>

namespace logos::records {

using nlohmann::json;

Reader::Reader(const json& array, std::string_view where) : array_(array), where_(where) {
  if (!array.is_array()) fail("no array where a record is due");
}

void Reader::integer(std::int64_t& value, std::int64_t lowest, std::int64_t highest) {
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

void Reader::text(std::string& value) {
  const json& item = next();
  if (!item.is_string()) fail("no text where one is due");
  value = item.get<std::string>();
}

void Reader::finish() const {
  if (at_ != array_.size()) fail("a record with fields too many");
}

void Reader::fail(std::string_view what) const {
  throw Error(where_, fmt::format("damaged plan: {}", what));
}

const json& Reader::next() {
  if (at_ == array_.size()) fail("a record with fields too few");
  return array_[at_++];
}

json parse_text(std::string_view payload, std::string_view where) {
  json record = json::parse(payload, nullptr, false);
  if (record.is_discarded()) throw Error(where, "damaged plan: no JSON");
  if (record.dump() != payload) throw Error(where, "damaged plan: surplus text");
  return record;
}

}  // namespace logos::records
