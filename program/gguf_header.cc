#include "program/gguf_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "program/divide_up.h"
#include "program/error.h"
#include "program/gguf_scanner.h"
#include "program/safetensors_json.h"

namespace logos {
namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint32_t kVersion = 3;
constexpr std::uint64_t kLongestName = 65535;    // of a key or tensor, as the format states it
constexpr std::uint64_t kLeastKeyBytes = 14;     // length, one letter, type, one byte
constexpr std::uint64_t kLeastTensorBytes = 33;  // length, one letter, one dimension, type, offset
constexpr std::uint32_t kMostDimensions = 4;
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kLeastAlignment = 8;
constexpr std::uint64_t kMostAlignment = 65536;
constexpr std::string_view kReadableTypes = "F32 or Q8_0";

/// The tensor types of ggml.h by their numbers, for messages.
std::string type_text(std::uint32_t type) {
  static constexpr std::array<std::pair<std::uint32_t, std::string_view>, 34> kNames = {
      {{0, "F32"},     {1, "F16"},      {2, "Q4_0"},      {3, "Q4_1"},     {6, "Q5_0"},
       {7, "Q5_1"},    {8, "Q8_0"},     {9, "Q8_1"},      {10, "Q2_K"},    {11, "Q3_K"},
       {12, "Q4_K"},   {13, "Q5_K"},    {14, "Q6_K"},     {15, "Q8_K"},    {16, "IQ2_XXS"},
       {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"},    {20, "IQ4_NL"},  {21, "IQ3_S"},
       {22, "IQ2_S"},  {23, "IQ4_XS"},  {24, "I8"},       {25, "I16"},     {26, "I32"},
       {27, "I64"},    {28, "F64"},     {29, "IQ1_M"},    {30, "BF16"},    {34, "TQ1_0"},
       {35, "TQ2_0"},  {39, "MXFP4"},   {31, "Q4_0_4_4"}, {32, "Q4_0_4_8"}}};
  for (const auto& [number, name] : kNames) {
    if (number == type) return std::string(name);
  }
  return fmt::format("type {}", type);
}

/// Bytes of a value of a type that has a size of its own; none for strings and arrays.
std::optional<std::uint64_t> bytes_of(GgufType type) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool:
      return 1;
    case GgufType::kUint16:
    case GgufType::kInt16:
      return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32:
      return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Reads a header from end to end. Until `place_tensors`, a tensor begins at its offset in the data
/// and ends at its length.
class HeaderReader {
 public:
  explicit HeaderReader(const InputFile& file) : file_(file), scan_(file) {
    header_.file = file.path();
  }

  GgufHeader read() {
    const auto [tensors, keys] = read_counts();
    for (std::uint64_t i = 0; i < keys; ++i) read_key();
    for (std::uint64_t i = 0; i < tensors; ++i) read_tensor();
    place_tensors();
    return std::move(header_);
  }

 private:
  std::string where() const { return header_.file.string(); }

  std::pair<std::uint64_t, std::uint64_t> read_counts();
  std::uint64_t count(std::string_view what, std::uint64_t least_bytes) {
    const auto number = scan_.number<std::uint64_t>(what);
    if (number > scan_.left() / least_bytes) {
      throw Error(where(), fmt::format("{} is more than the file can hold", what),
                  fmt::to_string(number), fmt::format("at most {}", scan_.left() / least_bytes));
    }
    return number;
  }
  GgufType type(const std::string& place, std::string_view what) {
    const auto number = scan_.number<std::uint32_t>(what);
    if (number <= static_cast<std::uint32_t>(GgufType::kFloat64)) {
      return static_cast<GgufType>(number);
    }
    throw Error(place, fmt::format("{} is unknown", what), fmt::to_string(number), "0 to 12");
  }
  void read_key();
  GgufValue read_value(GgufType type, const std::string& key);
  GgufArray read_array(const std::string& key);
  void read_tensor();
  void read_shape(GgufTensor& tensor, const std::string& place);
  std::uint64_t bytes_of_tensor(const GgufTensor& tensor, const std::string& place) const;
  std::uint64_t alignment() const;
  void place_tensors();

  const InputFile& file_;
  GgufScanner scan_;
  GgufHeader header_;
};

std::pair<std::uint64_t, std::uint64_t> HeaderReader::read_counts() {
  const auto magic = scan_.number<std::uint32_t>("the letters GGUF");
  if (magic != kMagic) {
    throw Error(where(), "no GGUF file", fmt::format("0x{:08X} at its start", magic),
                fmt::format("0x{:08X}, the letters GGUF", kMagic));
  }
  const auto version = scan_.number<std::uint32_t>("the version");
  if (version != 0 && (version & 0xFFFF) == 0) {
    throw Error(where(), "a GGUF file of the other byte order",
                fmt::format("version 0x{:08X}", version), "a little-endian file of version 3");
  }
  if (version != kVersion) {
    throw Error(where(), "a version of GGUF that is not read", fmt::to_string(version),
                fmt::to_string(kVersion));
  }
  const std::uint64_t tensors = count("the number of tensors", kLeastTensorBytes);
  const std::uint64_t keys = count("the number of keys", kLeastKeyBytes);
  return {tensors, keys};
}

void HeaderReader::read_key() {
  const std::string key = scan_.string("a key", 1, kLongestName);
  const std::string place = key_place(header_.file, key);
  const GgufType value_type = type(place, "the type of its value");
  if (!header_.values.emplace(key, read_value(value_type, key)).second) {
    throw Error(place, "stands twice");
  }
}

GgufValue HeaderReader::read_value(GgufType value_type, const std::string& key) {
  const std::string what = fmt::format("the value of key {}", in_quotes(key));
  GgufValue value{value_type, {}};
  const auto set = [&value](auto number) {
    using Number = decltype(number);
    if constexpr (std::is_floating_point_v<Number>) {
      value.value = double{number};
    } else if constexpr (std::is_signed_v<Number>) {
      value.value = std::int64_t{number};
    } else {
      value.value = std::uint64_t{number};
    }
  };
  switch (value_type) {
    case GgufType::kUint8:
      set(scan_.number<std::uint8_t>(what));
      break;
    case GgufType::kInt8:
      set(scan_.number<std::int8_t>(what));
      break;
    case GgufType::kUint16:
      set(scan_.number<std::uint16_t>(what));
      break;
    case GgufType::kInt16:
      set(scan_.number<std::int16_t>(what));
      break;
    case GgufType::kUint32:
      set(scan_.number<std::uint32_t>(what));
      break;
    case GgufType::kInt32:
      set(scan_.number<std::int32_t>(what));
      break;
    case GgufType::kUint64:
      set(scan_.number<std::uint64_t>(what));
      break;
    case GgufType::kInt64:
      set(scan_.number<std::int64_t>(what));
      break;
    case GgufType::kFloat32:
      set(scan_.number<float>(what));
      break;
    case GgufType::kFloat64:
      set(scan_.number<double>(what));
      break;
    case GgufType::kBool: {
      const auto byte = scan_.number<std::uint8_t>(what);
      if (byte > 1) {
        throw Error(key_place(header_.file, key), "no BOOL", fmt::to_string(byte), "0 or 1");
      }
      value.value = byte == 1;
      break;
    }
    case GgufType::kString:
      value.value = scan_.string(what, 0, scan_.left());
      break;
    case GgufType::kArray:
      value.value = read_array(key);
      break;
  }
  return value;
}

GgufArray HeaderReader::read_array(const std::string& key) {
  const std::string place = key_place(header_.file, key);
  const std::string what = fmt::format("the array of key {}", in_quotes(key));
  GgufArray array;
  array.element = type(place, "the type of its elements");
  if (array.element == GgufType::kArray) throw Error(place, "an array of arrays is not read");
  const auto bytes = bytes_of(array.element);
  array.count = count(what, bytes.value_or(sizeof(std::uint64_t)));
  if (bytes) {
    scan_.skip(array.count * *bytes, what);
    return array;
  }
  for (std::uint64_t i = 0; i < array.count; ++i) {
    array.strings.push_back(scan_.string(what, 0, scan_.left()));
  }
  return array;
}

void HeaderReader::read_shape(GgufTensor& tensor, const std::string& place) {
  const auto dimensions = scan_.number<std::uint32_t>("the dimensions of a tensor");
  if (dimensions < 1 || dimensions > kMostDimensions) {
    throw Error(place, "its number of dimensions is out of bounds", fmt::to_string(dimensions),
                fmt::format("1 to {}", kMostDimensions));
  }
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto size = scan_.number<std::uint64_t>("the shape of a tensor");
    tensor.shape.push_back(static_cast<std::int64_t>(size));
    // Below 2^56, so that no count of bytes overflows either.
    if (size < 1 || size >= std::uint64_t{1} << 56 ||
        __builtin_mul_overflow(elements, size, &elements) || elements >= std::uint64_t{1} << 56) {
      throw Error(place, fmt::format("dimension {} of its shape is out of bounds", i + 1),
                  fmt::to_string(size), "from 1 up, and fewer than 2^56 elements in all");
    }
  }
}

std::uint64_t HeaderReader::bytes_of_tensor(const GgufTensor& tensor,
                                            const std::string& place) const {
  std::uint64_t elements = 1;
  for (const std::int64_t size : tensor.shape) elements *= static_cast<std::uint64_t>(size);
  if (tensor.type == GgufTensorType::kF32) return elements * sizeof(float);
  const auto columns = static_cast<std::uint64_t>(tensor.shape.front());
  if (columns % kQ8BlockColumns != 0) {
    throw Error(place, "a row of Q8_0 is no whole number of blocks",
                fmt::format("{} columns", columns),
                fmt::format("a multiple of {}", kQ8BlockColumns));
  }
  return elements / kQ8BlockColumns * kQ8BlockBytes;
}

void HeaderReader::read_tensor() {
  GgufTensor tensor;
  tensor.name = scan_.string("the name of a tensor", 1, kLongestName);
  const std::string place = tensor_place(header_.file, tensor.name);
  read_shape(tensor, place);
  const auto number = scan_.number<std::uint32_t>("the type of a tensor");
  if (number != static_cast<std::uint32_t>(GgufTensorType::kF32) &&
      number != static_cast<std::uint32_t>(GgufTensorType::kQ8_0)) {
    throw Error(place, "its type is not read here", type_text(number), kReadableTypes);
  }
  tensor.type = static_cast<GgufTensorType>(number);
  tensor.begin = scan_.number<std::uint64_t>("the offset of a tensor");
  tensor.end = bytes_of_tensor(tensor, place);  // its length, until it is placed
  header_.tensors.push_back(std::move(tensor));
}

std::uint64_t HeaderReader::alignment() const {
  static constexpr std::string_view kKey = "general.alignment";
  const GgufValue* value = header_.value(kKey);
  if (value == nullptr) return kDefaultAlignment;
  const std::string place = key_place(header_.file, kKey);
  if (value->type != GgufType::kUint32) {
    throw Error(place, "a value of another type", name_of(value->type), "UINT32");
  }
  const std::uint64_t bytes = std::get<std::uint64_t>(value->value);
  if (bytes < kLeastAlignment || bytes > kMostAlignment || !std::has_single_bit(bytes)) {
    throw Error(place, "no alignment that is read here", fmt::to_string(bytes),
                fmt::format("a power of two from {} to {}", kLeastAlignment, kMostAlignment));
  }
  return bytes;
}

/// Holds the ranges against each other and the file, and counts them from the file's start.
void HeaderReader::place_tensors() {
  const std::uint64_t step = alignment();
  const std::uint64_t start = round_up(scan_.position(), step);
  std::stable_sort(header_.tensors.begin(), header_.tensors.end(),
                   [](const GgufTensor& a, const GgufTensor& b) { return a.begin < b.begin; });
  std::uint64_t end = 0;  // of the tensor before, from the start of the data
  std::string before = "the start of the data";
  for (GgufTensor& tensor : header_.tensors) {
    const std::string place = tensor_place(header_.file, tensor.name);
    if (tensor.begin % step != 0) {
      throw Error(place, "its offset is off the alignment", fmt::to_string(tensor.begin),
                  fmt::format("a multiple of {}", step));
    }
    if (tensor.begin != round_up(end, step)) {
      throw Error(place,
                  fmt::format("its bytes {} {}",
                              tensor.begin < round_up(end, step) ? "overlap" : "leave a hole after",
                              before),
                  fmt::format("offset {}", tensor.begin),
                  fmt::format("offset {}", round_up(end, step)));
    }
    const std::uint64_t bytes = tensor.end;
    // Offsets are at most the sum of the lengths before, so nothing overflows before this holds.
    if (start > file_.size() || bytes > file_.size() - start ||
        tensor.begin > file_.size() - start - bytes) {
      throw Error(place, "the file ends before its data does",
                  fmt::format("{} bytes", file_.size()),
                  fmt::format("at least {} bytes", start + tensor.begin + bytes));
    }
    end = tensor.begin + bytes;
    before = fmt::format("tensor {}", in_quotes(tensor.name));
    tensor.begin += start;
    tensor.end = tensor.begin + bytes;
  }
  if (file_.size() > start + round_up(end, step)) {
    throw Error(where(), "bytes at the end belong to no tensor",
                fmt::format("{} bytes", file_.size()),
                fmt::format("at most {} bytes", start + round_up(end, step)));
  }
  std::sort(header_.tensors.begin(), header_.tensors.end(),
            [](const GgufTensor& a, const GgufTensor& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(header_.tensors.begin(), header_.tensors.end(),
                         [](const GgufTensor& a, const GgufTensor& b) { return a.name == b.name; });
  if (twice != header_.tensors.end()) {
    throw Error(tensor_place(header_.file, twice->name), "stands twice");
  }
}

}  // namespace

std::string_view name_of(GgufType type) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "UINT8", "INT8",   "UINT16", "INT16",  "UINT32", "INT32",  "FLOAT32",
      "BOOL",  "STRING", "ARRAY",  "UINT64", "INT64",  "FLOAT64"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view name_of(GgufTensorType type) {
  return type == GgufTensorType::kF32 ? "F32" : "Q8_0";
}

std::string key_place(const std::filesystem::path& file, std::string_view key) {
  return fmt::format("{}: key {}", file.string(), in_quotes(key));
}

const GgufValue* GgufHeader::value(std::string_view key) const {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

const GgufTensor* GgufHeader::tensor(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const GgufTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return found == tensors.end() || found->name != name ? nullptr : &*found;
}

GgufHeader read_gguf_header(const InputFile& file) { return HeaderReader(file).read(); }

}  // namespace logos
