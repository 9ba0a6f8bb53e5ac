#include "sim/weights/store_format.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "program/check.h"
#include "program/divide_up.h"
#include "program/error.h"
#include "program/identity.h"
#include "program/json_fault.h"
#include "program/safetensors_json.h"
#include "sim/weights/store.h"

namespace logos {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the store holds little-endian values");
static_assert(kStoreMagic.size() == 48);

constexpr std::size_t kJsonBytesAt = 48;
constexpr std::size_t kFileBytesAt = 56;
constexpr std::size_t kJsonDigestAt = 64;
constexpr std::size_t kDigestDigits = 64;
constexpr std::string_view kProfileA = "OFA-1 profile A, groups of 32";
constexpr std::string_view kProfileB = "OFA-1 profile B, groups of 32";

/// Takes `count * size` bytes from the next multiple of 64 on; returns where they begin.
std::uint64_t take(std::uint64_t count, std::uint64_t size, std::uint64_t& end,
                   std::string_view where) {
  // Far below 2^64, so that rounding up cannot overflow either.
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
  std::uint64_t bytes = 0;
  const std::uint64_t begin = round_up(end, kSectionAlignment);
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > kMostBytes - begin) {
    throw Error(where, "its tensors are too large", fmt::format("{} x {} bytes", count, size),
                "less than 2^62 bytes in all");
  }
  end = begin + bytes;
  return begin;
}

Json to_json(const PlacedTensor& placed, Profile profile) {
  const PlannedTensor& tensor = placed.tensor;
  if (!tensor.is_matrix) {
    return {{"name", tensor.name}, {"size", tensor.columns}, {"values", placed.values}};
  }
  if (profile == Profile::kB) {
    return {{"name", tensor.name},
            {"rows", tensor.rows},
            {"columns", tensor.columns},
            {"q", placed.q},
            {"halves", placed.halves}};
  }
  return {{"name", tensor.name},
          {"rows", tensor.rows},
          {"columns", tensor.columns},
          {"q", placed.q},
          {"multipliers", placed.multipliers},
          {"scales", placed.scales}};
}

std::int64_t integer(const Json& object, const char* key, std::string_view where) {
  const Json& value = object.at(key);
  if (!value.is_number_integer()) throw Error(where, fmt::format("{} is no whole number", key));
  return value.get<std::int64_t>();
}

PlannedTensor to_plan(const Json& object, std::string_view where) {
  PlannedTensor tensor;
  tensor.name = object.at("name").get<std::string>();
  tensor.is_matrix = object.contains("rows");
  tensor.rows = tensor.is_matrix ? integer(object, "rows", where) : 1;
  tensor.columns = integer(object, tensor.is_matrix ? "columns" : "size", where);
  return tensor;
}

StoreHeader header_from_json(std::string_view text, std::string_view where) {
  StoreHeader header;
  try {
    const Json json = Json::parse(text);
    std::vector<PlannedTensor> plan;
    for (const Json& tensor : json.at("content").at("tensors")) {
      plan.push_back(to_plan(tensor, where));
    }
    const bool b = json.at("content").at("arithmetic") == kProfileB;
    header.layout = lay_out(plan, where, b ? Profile::kB : Profile::kA);
    header.source = json.at("source").get<std::string>();
    header.sha256 = json.at("sha256").get<std::string>();
    const std::string stated = json.at("content").dump();
    if (stated != content_text(header.layout)) {
      throw Error(where, "its table of tensors is not laid out as this format is",
                  stated.substr(0, 200), content_text(header.layout).substr(0, 200));
    }
  } catch (const Json::exception& error) {
    throw Error(where, fmt::format("its header cannot be read: {}", json_fault(error)));
  }
  return header;
}

std::uint64_t number_at(std::span<const std::byte> file, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

}  // namespace

StoreLayout lay_out(const std::vector<PlannedTensor>& plan, std::string_view where,
                    Profile profile) {
  StoreLayout layout;
  layout.profile = profile;
  std::set<std::string_view> names;
  constexpr auto kGroupBytes = static_cast<std::uint64_t>(kGroup);
  for (const PlannedTensor& tensor : plan) {
    if (tensor.rows < 1 || tensor.columns < 1) {
      throw Error(where, fmt::format("tensor {} is empty", in_quotes(tensor.name)),
                  fmt::format("{} x {}", tensor.rows, tensor.columns), "sizes from 1 up");
    }
    if (!names.insert(tensor.name).second) {
      throw Error(where, fmt::format("tensor {} stands twice", in_quotes(tensor.name)));
    }
    PlacedTensor placed{.tensor = tensor};
    const auto rows = static_cast<std::uint64_t>(tensor.rows);
    const auto columns = static_cast<std::uint64_t>(tensor.columns);
    if (tensor.is_matrix) {
      placed.groups = (columns + kGroupBytes - 1) / kGroupBytes;
      placed.pitch = placed.groups * kGroupBytes;
      placed.q = take(rows, placed.pitch, layout.data_bytes, where);
      if (profile == Profile::kB) {
        placed.halves = take(rows, 2 * placed.groups, layout.data_bytes, where);
      } else {
        placed.multipliers = take(rows, placed.groups, layout.data_bytes, where);
        placed.scales = take(rows, sizeof(float), layout.data_bytes, where);
      }
    } else {
      placed.values = take(columns, sizeof(float), layout.data_bytes, where);
    }
    layout.tensors.push_back(std::move(placed));
  }
  layout.data_bytes = round_up(layout.data_bytes, kSectionAlignment);
  return layout;
}

std::string content_text(const StoreLayout& layout) {
  Json tensors = Json::array();
  for (const PlacedTensor& placed : layout.tensors) {
    tensors.push_back(to_json(placed, layout.profile));
  }
  return Json{{"arithmetic", layout.profile == Profile::kA ? kProfileA : kProfileB},
              {"data_bytes", layout.data_bytes},
              {"tensors", tensors}}
      .dump();
}

std::string serialise_header(StoreHeader& header) {
  CHECK(header.source.size() == kDigestDigits && header.sha256.size() == kDigestDigits);
  std::string json = fmt::format(R"({{"content":{},"sha256":"{}","source":"{}"}})",
                                 content_text(header.layout), header.sha256, header.source);
  json.resize(round_up(json.size(), kSectionAlignment), ' ');
  header.data_start = kStorePrefixBytes + json.size();
  header.file_bytes = header.data_start + header.layout.data_bytes;
  std::string bytes(kStorePrefixBytes, '\0');
  const std::uint64_t json_bytes = json.size();
  std::memcpy(bytes.data(), kStoreMagic.data(), kStoreMagic.size());
  std::memcpy(bytes.data() + kJsonBytesAt, &json_bytes, sizeof json_bytes);
  std::memcpy(bytes.data() + kFileBytesAt, &header.file_bytes, sizeof header.file_bytes);
  std::memcpy(bytes.data() + kJsonDigestAt, sha256_hex(json).data(), kDigestDigits);
  return bytes + json;
}

StoreHeader parse_header(std::span<const std::byte> file, std::string_view where) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kStoreMagic)) {
    throw Error(where,
                fmt::format("the file of {} bytes is no store of packed weights", file.size()),
                in_quotes(text.substr(0, kStoreMagic.size())), in_quotes(kStoreMagic));
  }
  if (file.size() < kStorePrefixBytes || file.size() != number_at(file, kFileBytesAt)) {
    throw Error(
        where, "the packed weights are cut short or damaged", fmt::format("{} bytes", file.size()),
        file.size() < kStorePrefixBytes ? fmt::format("at least {} bytes", kStorePrefixBytes)
                                        : fmt::format("{} bytes", number_at(file, kFileBytesAt)));
  }
  const std::uint64_t json_bytes = number_at(file, kJsonBytesAt);
  if (json_bytes > file.size() - kStorePrefixBytes) {
    throw Error(where, "the header of the packed weights is damaged",
                fmt::format("{} bytes", json_bytes),
                fmt::format("at most {} bytes", file.size() - kStorePrefixBytes));
  }
  const std::string_view json = text.substr(kStorePrefixBytes, json_bytes);
  const std::string_view digest = text.substr(kJsonDigestAt, kDigestDigits);
  if (sha256_hex(json) != digest) {
    throw Error(where, "the header of the packed weights is damaged", sha256_hex(json),
                in_quotes(digest));
  }
  StoreHeader header = header_from_json(json, where);
  header.data_start = kStorePrefixBytes + json_bytes;
  header.file_bytes = header.data_start + header.layout.data_bytes;
  if (header.file_bytes != file.size() || header.data_start % kSectionAlignment != 0) {
    throw Error(where, "the header of the packed weights fits another file",
                fmt::format("{} bytes", file.size()), fmt::format("{} bytes", header.file_bytes));
  }
  return header;
}

}  // namespace logos
