#include "program/safetensors_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "program/error.h"
#include "program/json_fault.h"
#include "program/printable.h"

namespace logos {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDimensions = 64;   // of a tensor; bounds the memory of a hostile shape
constexpr std::size_t kLongestTypeName = 32;  // shown in a message
constexpr std::size_t kLongestNameShown = 200;

/// What both readers of JSON here share: errors with the place, and refusal of what neither knows.
class Handler : public nlohmann::json_sax<Json> {
 public:
  /// `what` of the file is read: "the header".
  Handler(const std::filesystem::path& file, std::string_view what) : file_(file), what_(what) {}

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
    throw Error(file_.string(), fmt::format("{} is not valid JSON at its byte {}: {}", what_,
                                            position, json_fault(error)));
  }

 protected:
  [[noreturn]] virtual bool refuse(std::string_view got) const = 0;
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::string_view what_;
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
      throw Error(tensor_place(file(), current_.name), "data_offsets has not two numbers",
                  fmt::format("{}", offsets_), "2");
    }
    state_ = State::kTensor;
    return true;
  }

  bool end_object() override {
    if (state_ == State::kTensor) {
      for (std::size_t i = 0; i < kKeys.size(); ++i) {
        if (!seen_[i]) {
          throw Error(tensor_place(file(), current_.name),
                      fmt::format("the key {} is missing", kKeys[i]));
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
      throw Error(tensor_place(file(), current_.name), "unknown key", in_quotes(key),
                  "dtype, shape, data_offsets");
    }
    const auto index = static_cast<std::size_t>(found - kKeys.begin());
    if (std::exchange(seen_[index], true)) {
      throw Error(tensor_place(file(), current_.name), fmt::format("the key {} stands twice", key));
    }
    static constexpr std::array<State, 3> kNext = {State::kType, State::kShapeStart,
                                                   State::kOffsetsStart};
    state_ = kNext[index];
  }

  [[noreturn]] bool refuse(std::string_view got) const override {
    std::string_view want = "nothing more";
    std::string where = tensor_place(file(), current_.name);
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
      throw Error(tensor_place(file(), key_), "the tensor stands twice in weight_map");
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
    throw Error(in_map_ ? tensor_place(file(), key_) : file().string(), "weight_map is malformed",
                got, in_map_ ? "the name of a file" : "an object of tensor names and file names");
  }

  int depth_ = 0;
  bool in_map_ = false;
  std::string key_;
};

}  // namespace

/// A name out of a file as a message shows it: quoted, escaped, not too long.
std::string in_quotes(std::string_view name) {
  const Json json = shortened(name, kLongestNameShown);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<TensorInfo> read_header_json(std::span<const char> json,
                                         const std::filesystem::path& file) {
  refuse_zero_byte({json.data(), json.size()}, fmt::format("{}: the header", file.string()));
  HeaderHandler handler(file, "the header");
  Json::sax_parse(json.begin(), json.end(), &handler);
  return std::move(handler.tensors);
}

std::map<std::string, std::string> read_index_json(std::span<const char> json,
                                                   const std::filesystem::path& file) {
  refuse_zero_byte({json.data(), json.size()}, file.string());
  IndexHandler handler(file, "the index");
  Json::sax_parse(json.begin(), json.end(), &handler);
  if (!handler.shard_of) throw Error(file.string(), "the key weight_map is missing");
  return std::move(*handler.shard_of);
}

}  // namespace logos
