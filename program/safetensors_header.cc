#include "program/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "program/error.h"
#include "program/input_file.h"

namespace logos {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;     // the little-endian length before the JSON
constexpr std::uint64_t kShortestHeader = 2;  // "{}"
constexpr std::size_t kMostDimensions = 64;   // of a tensor; bounds the memory of a hostile shape
constexpr std::size_t kLongestTypeName = 32;  // shown in a message
constexpr std::size_t kLongestNameShown = 200;

/// A name out of a file as a message shows it: quoted, escaped, not too long.
std::string in_quotes(std::string_view name) {
  const bool cut = name.size() > kLongestNameShown;
  const Json json = std::string(name.substr(0, kLongestNameShown));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + (cut ? "…" : "");
}

std::string place(const std::filesystem::path& file, std::string_view tensor) {
  return fmt::format("{}: tensor {}", file.string(), in_quotes(tensor));
}

/// The size of an element in bits, of every type of the safetensors format; none for others.
std::optional<std::uint64_t> bits_of_type(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 22> kTypes = {
      {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
       {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
       {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
       {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
       {"I64", 64},        {"U64", 64}}};
  for (const auto& [name, bits] : kTypes) {
    if (name == type) return bits;
  }
  return std::nullopt;
}

/// What both readers of JSON here share: errors with the place, and refusal of what neither knows.
class Handler : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(const std::filesystem::path& file) : file_(file) {}

  bool null() override { return refuse("null"); }
  bool boolean(bool /*value*/) override { return refuse("a truth value"); }
  bool number_integer(number_integer_t value) override { return refuse(fmt::format("{}", value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return refuse(fmt::format("{}", value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return refuse(text.substr(0, kLongestTypeName));
  }
  bool string(string_t& /*value*/) override { return refuse("a string"); }
  bool binary(binary_t& /*value*/) override { return refuse("binary data"); }
  bool start_object(std::size_t /*elements*/) override { return refuse("an object"); }
  bool key(string_t& /*value*/) override { return refuse("a key"); }
  bool end_object() override { return refuse("the end of an object"); }
  bool start_array(std::size_t /*elements*/) override { return refuse("an array"); }
  bool end_array() override { return refuse("the end of an array"); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    throw Error(file_.string(), fmt::format("the header is not valid JSON at its byte {}: {}",
                                            position, in_quotes(error.what())));
  }

 protected:
  [[noreturn]] virtual bool refuse(std::string_view got) const = 0;
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

/// Collects the tensors of a header; offsets are still those of the file (from the data's start).
class HeaderHandler final : public Handler {
 public:
  using Handler::Handler;
  std::vector<TensorInfo> tensors;

  bool start_object(std::size_t elements) override {
    if (state_ == State::kStart) {
      state_ = State::kTop;
    } else if (state_ == State::kMetadataStart) {
      state_ = State::kMetadata;
    } else if (state_ == State::kTensorStart) {
      state_ = State::kTensor;
    } else {
      return Handler::start_object(elements);
    }
    return true;
  }

  bool key(string_t& value) override {
    if (state_ == State::kTop) {
      current_ = TensorInfo{value, "", {}, 0, 0, file()};
      seen_ = {};
      offsets_ = 0;
      const bool metadata = value == "__metadata__";
      if (metadata && std::exchange(metadata_seen_, true)) {
        throw Error(file().string(), "the key \"__metadata__\" stands twice");
      }
      state_ = metadata ? State::kMetadataStart : State::kTensorStart;
    } else if (state_ == State::kMetadata) {
      if (!metadata_keys_.insert(value).second) {
        throw Error(file().string(),
                    fmt::format("the metadata key {} stands twice", in_quotes(value)));
      }
    } else if (state_ == State::kTensor) {
      tensor_key(value);
    } else {
      return Handler::key(value);
    }
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::kType) {
      current_.dtype = value;
      state_ = State::kTensor;
    } else if (state_ != State::kMetadata) {
      return Handler::string(value);
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kShape) {
      if (value > std::uint64_t{INT64_MAX} || current_.shape.size() == kMostDimensions) {
        return Handler::number_unsigned(value);
      }
      current_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (state_ == State::kOffsets && offsets_ < 2) {
      (offsets_++ == 0 ? current_.begin : current_.end) = value;
    } else {
      return Handler::number_unsigned(value);
    }
    return true;
  }

  bool start_array(std::size_t elements) override {
    if (state_ == State::kShapeStart) {
      state_ = State::kShape;
    } else if (state_ == State::kOffsetsStart) {
      state_ = State::kOffsets;
    } else {
      return Handler::start_array(elements);
    }
    return true;
  }

  bool end_array() override {
    if (state_ == State::kOffsets && offsets_ != 2) {
      throw Error(place(file(), current_.name), "data_offsets has not two numbers",
                  fmt::format("{}", offsets_), "2");
    }
    state_ = State::kTensor;
    return true;
  }

  bool end_object() override {
    if (state_ == State::kTensor) {
      for (std::size_t i = 0; i < kKeys.size(); ++i) {
        if (!seen_[i]) {
          throw Error(place(file(), current_.name), fmt::format("the key {} is missing", kKeys[i]));
        }
      }
      tensors.push_back(std::move(current_));
    }
    state_ = state_ == State::kTop ? State::kEnd : State::kTop;
    return true;
  }

 private:
  enum class State {
    kStart,
    kTop,
    kMetadataStart,
    kMetadata,
    kTensorStart,
    kTensor,
    kType,
    kShapeStart,
    kShape,
    kOffsetsStart,
    kOffsets,
    kEnd
  };
  static constexpr std::array<std::string_view, 3> kKeys = {"dtype", "shape", "data_offsets"};

  void tensor_key(std::string_view key) {
    const auto found = std::find(kKeys.begin(), kKeys.end(), key);
    if (found == kKeys.end()) {
      throw Error(place(file(), current_.name), "unknown key", in_quotes(key),
                  "dtype, shape, data_offsets");
    }
    const auto index = static_cast<std::size_t>(found - kKeys.begin());
    if (std::exchange(seen_[index], true)) {
      throw Error(place(file(), current_.name), fmt::format("the key {} stands twice", key));
    }
    static constexpr std::array<State, 3> kNext = {State::kType, State::kShapeStart,
                                                   State::kOffsetsStart};
    state_ = kNext[index];
  }

  [[noreturn]] bool refuse(std::string_view got) const override {
    std::string_view want = "nothing more";
    std::string where = place(file(), current_.name);
    switch (state_) {
      case State::kStart:
        want = "an object";
        where = file().string();
        break;
      case State::kMetadataStart:
        want = "an object of strings";
        break;
      case State::kMetadata:
        want = "a string";
        break;
      case State::kTensorStart:
        want = "an object with dtype, shape, data_offsets";
        break;
      case State::kType:
        want = "the name of a type";
        break;
      case State::kShapeStart:
      case State::kShape:
        want = "a shape of at most 64 whole numbers from 0 to 2^63-1";
        break;
      case State::kOffsetsStart:
      case State::kOffsets:
        want = "two whole numbers from 0 to 2^64-1 as data_offsets";
        break;
      case State::kTop:
      case State::kTensor:
      case State::kEnd:
        break;
    }
    throw Error(where, "the header holds something else than it may", got, want);
  }

  State state_ = State::kStart;
  TensorInfo current_;
  std::array<bool, 3> seen_ = {};
  int offsets_ = 0;
  bool metadata_seen_ = false;
  std::set<std::string> metadata_keys_;
};

/// Collects `weight_map` of an index of shards; other keys may hold anything and are passed over.
class IndexHandler final : public Handler {
 public:
  using Handler::Handler;
  std::optional<std::map<std::string, std::string>> shard_of;  ///< by tensor

  bool null() override { return in_other() || Handler::null(); }
  bool boolean(bool value) override { return in_other() || Handler::boolean(value); }
  bool number_integer(number_integer_t value) override {
    return in_other() || Handler::number_integer(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return in_other() || Handler::number_unsigned(value);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return in_other() || Handler::number_float(value, text);
  }
  bool string(string_t& value) override {
    if (!in_map_) return in_other() || Handler::string(value);
    if (!shard_of->emplace(key_, value).second) {
      throw Error(place(file(), key_), "the tensor stands twice in weight_map");
    }
    return true;
  }
  bool start_object(std::size_t elements) override {
    if (in_map_ || (depth_ == 1 && key_ == "weight_map")) {
      if (in_map_) return Handler::start_object(elements);
      if (shard_of) throw Error(file().string(), "the key \"weight_map\" stands twice");
      shard_of.emplace();
      in_map_ = true;
    }
    return deeper();
  }
  bool key(string_t& value) override {
    if (depth_ == 1 || in_map_) key_ = value;
    return true;
  }
  bool end_object() override {
    in_map_ = false;
    --depth_;
    return true;
  }
  bool start_array(std::size_t elements) override {
    if (!in_other()) return Handler::start_array(elements);
    return deeper();
  }
  bool end_array() override {
    --depth_;
    return true;
  }

 private:
  static constexpr int kDeepest = 16;

  bool in_other() const {
    return depth_ >= 1 && !in_map_ && !(depth_ == 1 && key_ == "weight_map");
  }
  bool deeper() {
    if (++depth_ > kDeepest)
      throw Error(file().string(), "the JSON is nested too deep", "17", "16");
    return true;
  }
  [[noreturn]] bool refuse(std::string_view got) const override {
    if (depth_ == 0) throw Error(file().string(), "is no index of shards", got, "an object");
    throw Error(in_map_ ? place(file(), key_) : file().string(), "weight_map is malformed", got,
                in_map_ ? "the name of a file" : "an object of tensor names and file names");
  }

  int depth_ = 0;
  bool in_map_ = false;
  std::string key_;
};

std::string range_of(const TensorInfo& tensor) {
  return fmt::format("[{}, {})", tensor.begin, tensor.end);
}

/// The bytes that shape times type take; refuses an unknown type and a product that overflows.
std::uint64_t bytes_of_shape(const TensorInfo& tensor) {
  const auto bits = bits_of_type(tensor.dtype);
  if (!bits) {
    throw Error(place(tensor.file, tensor.name), "unknown type",
                in_quotes(std::string_view(tensor.dtype).substr(0, kLongestTypeName)),
                "a type of the safetensors format");
  }
  std::uint64_t product = *bits;
  const bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  if (empty) return 0;
  for (const std::int64_t size : tensor.shape) {
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) {
      throw Error(place(tensor.file, tensor.name), "the product of its shape overflows",
                  fmt::format("{}", fmt::join(tensor.shape, " x ")), "fewer than 2^64 bits");
    }
  }
  if (product % 8 != 0) {
    throw Error(place(tensor.file, tensor.name), "its elements fill no whole number of bytes",
                fmt::format("{} bits", product), "a multiple of 8");
  }
  return product / 8;
}

/// Checks each range against shape and type, then all of them together: from the start of the data
/// to the end of the file each byte belongs to one tensor. Offsets are relative to the data here.
void check_ranges(const std::vector<TensorInfo>& tensors, std::uint64_t data_bytes,
                  std::uint64_t data_start, const std::filesystem::path& file) {
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin > tensor.end) {
      throw Error(place(file, tensor.name), "its range begins after its end", range_of(tensor),
                  "begin <= end");
    }
    const std::uint64_t want = bytes_of_shape(tensor);
    if (tensor.end - tensor.begin != want) {
      throw Error(place(file, tensor.name),
                  fmt::format("its range {} is unlike its shape [{}] of {}", range_of(tensor),
                              fmt::join(tensor.shape, ", "), tensor.dtype),
                  fmt::format("{} bytes", tensor.end - tensor.begin),
                  fmt::format("{} bytes", want));
    }
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorInfo* a, const TensorInfo* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t end = 0;
  const TensorInfo* before = nullptr;
  for (const TensorInfo* tensor : order) {
    const std::string neighbour =
        before ? fmt::format("tensor {} {}", in_quotes(before->name), range_of(*before))
               : std::string("the start of the data");
    if (tensor->begin < end) {
      throw Error(place(file, tensor->name),
                  fmt::format("its range {} overlaps {}", range_of(*tensor), neighbour));
    }
    if (tensor->begin > end) {
      throw Error(place(file, tensor->name),
                  fmt::format("a hole of {} bytes lies between {} and its range {}",
                              tensor->begin - end, neighbour, range_of(*tensor)));
    }
    end = tensor->end;
    before = tensor;
  }
  if (end == data_bytes) return;
  const std::string have = fmt::format("{} bytes", data_start + data_bytes);
  if (end < data_bytes) {
    throw Error(file.string(),
                fmt::format("{} bytes at the end belong to no tensor", data_bytes - end), have,
                fmt::format("{} bytes", data_start + end));
  }
  throw Error(file.string(),
              fmt::format("the file is too short for tensor {} {}", in_quotes(before->name),
                          range_of(*before)),
              have, fmt::format("{} bytes of data after {}", end, data_start));
}

/// Sorts by name and refuses a name that stands twice.
void sort_by_name(std::vector<TensorInfo>& tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(tensors.begin(), tensors.end(),
                         [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name; });
  if (twice != tensors.end()) {
    throw Error(place(twice->file, twice->name), "the tensor stands twice in the header");
  }
}

/// Where a clone without Git LFS left the pointer in place of the data: both sizes.
void refuse_lfs_pointer(std::string_view head, const InputFile& file) {
  if (!head.starts_with("version https://git-lfs")) return;
  constexpr std::string_view kKey = "\nsize ";
  const std::size_t at = head.find(kKey);
  std::string want = "the tensors";
  if (at != std::string_view::npos) {
    const std::string_view rest = head.substr(at + kKey.size());
    want = fmt::format("{} bytes", rest.substr(0, rest.find('\n')));
  }
  throw Error(file.path().string(),
              "holds a Git LFS pointer in place of the tensors (git lfs pull)",
              fmt::format("{} bytes", file.size()), want);
}

/// The length that the first 8 bytes state, checked against the file's size.
std::uint64_t header_length(const InputFile& file) {
  std::array<char, 512> head = {};
  const std::size_t have = std::min<std::uint64_t>(head.size(), file.size());
  file.read_at(0, std::as_writable_bytes(std::span(head.data(), have)));
  refuse_lfs_pointer(std::string_view(head.data(), have), file);
  if (file.size() < kLengthBytes + kShortestHeader) {
    throw Error(file.path().string(), "is too short for a safetensors file",
                fmt::format("{} bytes", file.size()),
                fmt::format("at least {} bytes", kLengthBytes + kShortestHeader));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(head[i])} << (8 * i);
  }
  if (length < kShortestHeader || length > file.size() - kLengthBytes) {
    throw Error(file.path().string(),
                fmt::format("the header's length does not fit the file of {} bytes", file.size()),
                fmt::format("{} bytes", length),
                fmt::format("{} to {} bytes", kShortestHeader, file.size() - kLengthBytes));
  }
  return length;
}

std::vector<char> read_bytes(const InputFile& file, std::uint64_t offset, std::uint64_t length) {
  std::vector<char> bytes(length);
  file.read_at(offset, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

/// A shard's name leads to a file of the directory itself and to nowhere else.
void check_shard_name(const std::string& shard, const std::string& tensor,
                      const std::filesystem::path& index) {
  const bool plain = !shard.empty() && shard != "." && shard != ".." &&
                     shard.find('/') == std::string::npos &&
                     shard.find('\\') == std::string::npos && shard.find('\0') == std::string::npos;
  if (!plain) {
    throw Error(place(index, tensor), "its shard is no plain file name", in_quotes(shard),
                "a file of the same directory");
  }
}

CheckpointHeader read_shards(const std::filesystem::path& dir, const std::filesystem::path& index) {
  const InputFile file(index);
  const std::vector<char> text = read_bytes(file, 0, file.size());
  IndexHandler handler(index);
  Json::sax_parse(text.begin(), text.end(), &handler);
  if (!handler.shard_of) throw Error(index.string(), "the key weight_map is missing");

  std::set<std::string> shards;
  for (const auto& [tensor, shard] : *handler.shard_of) {
    check_shard_name(shard, tensor, index);
    shards.insert(shard);
  }
  CheckpointHeader header;
  for (const std::string& shard : shards) {
    CheckpointHeader part = read_safetensors_header(dir / shard);
    for (TensorInfo& tensor : part.tensors) {
      const auto mapped = handler.shard_of->find(tensor.name);
      if (mapped == handler.shard_of->end() || mapped->second != shard) {
        throw Error(place(index, tensor.name), "its place in weight_map is not where it lies",
                    mapped == handler.shard_of->end() ? "none" : in_quotes(mapped->second),
                    in_quotes(shard));
      }
      header.tensors.push_back(std::move(tensor));
    }
  }
  sort_by_name(header.tensors);
  for (const auto& [tensor, shard] : *handler.shard_of) {
    if (header.find(tensor) == nullptr) {
      throw Error(place(index, tensor),
                  fmt::format("is missing in its shard {}", in_quotes(shard)));
    }
  }
  return header;
}

}  // namespace

const TensorInfo* CheckpointHeader::find(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const TensorInfo& tensor, std::string_view key) { return tensor.name < key; });
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}

CheckpointHeader parse_safetensors_header(std::span<const char> json, std::uint64_t file_bytes,
                                          const std::filesystem::path& file) {
  const std::uint64_t data_start = kLengthBytes + json.size();
  if (file_bytes < data_start) {
    throw Error(file.string(), "the file ends within its header",
                fmt::format("{} bytes", file_bytes), fmt::format("at least {} bytes", data_start));
  }
  if (json.empty() || json.front() != '{') {
    throw Error(file.string(), "the header does not begin with {");
  }
  HeaderHandler handler(file);
  Json::sax_parse(json.begin(), json.end(), &handler);
  CheckpointHeader header{std::move(handler.tensors)};
  sort_by_name(header.tensors);
  check_ranges(header.tensors, file_bytes - data_start, data_start, file);
  for (TensorInfo& tensor : header.tensors) {
    tensor.begin += data_start;
    tensor.end += data_start;
  }
  return header;
}

CheckpointHeader read_safetensors_header(const std::filesystem::path& path) {
  const InputFile file(path);
  const std::uint64_t length = header_length(file);
  const std::vector<char> json = read_bytes(file, kLengthBytes, length);
  return parse_safetensors_header(json, file.size(), path);
}

CheckpointHeader read_checkpoint_header(const std::filesystem::path& dir) {
  // symlink_status: a link that leads nowhere is a broken checkpoint, not an absent one.
  const auto present = [](const std::filesystem::path& file) {
    return std::filesystem::symlink_status(file).type() != std::filesystem::file_type::not_found;
  };
  const std::filesystem::path single = dir / "model.safetensors";
  if (present(single)) return read_safetensors_header(single);
  const std::filesystem::path index = dir / "model.safetensors.index.json";
  if (present(index)) return read_shards(dir, index);
  return {};
}

}  // namespace logos
