#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "program/model_spec.h"
#include "sim/weights/plan.h"
#include "tests/small_shape.h"

namespace logos {

/// A tensor as a test puts it into a file.
struct FileTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

inline void write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Eight bytes of length, the header's JSON, the data.
inline std::string with_header(std::string_view json, std::string_view data) {
  const std::uint64_t length = json.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(json).append(data);
}

inline std::string safetensors(const std::vector<FileTensor>& tensors) {
  std::string json;
  std::string data;
  for (const FileTensor& tensor : tensors) {
    json +=
        fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                    json.empty() ? "" : ",", tensor.name, tensor.dtype,
                    fmt::join(tensor.shape, ","), data.size(), data.size() + tensor.bytes.size());
    data += tensor.bytes;
  }
  return with_header(fmt::format("{{{}}}", json), data);
}

/// Values that binary16 and bfloat16 hold too, as the bytes of a type.
inline std::string encoded(const std::vector<float>& values, std::string_view dtype) {
  std::string bytes;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    std::uint32_t code = bits;
    if (dtype == "BF16") code = bits >> 16;
    if (dtype == "F16") {  // normal numbers of binary16 and zero only
      const std::uint32_t rest = (bits & 0x7FFFFFFFU) >> 13;
      code = (bits >> 16 & 0x8000U) | (rest == 0 ? 0 : rest - ((127U - 15U) << 10));
    }
    bytes.append(reinterpret_cast<const char*>(&code), dtype == "F32" ? 4 : 2);
  }
  return bytes;
}

/// A small model whose sizes fill no group of 32, with grouped heads.
inline ModelSpec small_spec() {
  ModelSpec spec = small_shape(40, 4, 2, 10, 36, 33);
  spec.tied_head = true;
  return spec;
}

/// Every tensor of a spec, with values of 8 significant bits that depend on name and place.
/// `dtype_of` gives the type of the n-th tensor.
inline std::vector<FileTensor> model_tensors(
    const ModelSpec& spec, const std::function<std::string(std::size_t)>& dtype_of) {
  std::vector<FileTensor> tensors;
  std::uint32_t state = 1;
  for (const PlannedTensor& planned : weight_plan(spec)) {
    std::vector<float> values(static_cast<std::size_t>(planned.rows * planned.columns));
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;
      const int numerator = static_cast<int>(state >> 24) - 128;
      value = static_cast<float>(numerator) / (state & 0x10000U ? 1024.0F : 64.0F);
    }
    const std::string dtype = dtype_of(tensors.size());
    std::vector<std::int64_t> shape = {planned.columns};
    if (planned.is_matrix) shape.insert(shape.begin(), planned.rows);
    tensors.push_back({planned.name, dtype, shape, encoded(values, dtype)});
  }
  return tensors;
}

inline std::vector<FileTensor> model_tensors(const ModelSpec& spec) {
  return model_tensors(spec, [](std::size_t) { return "F32"; });
}

inline FileTensor& tensor_named(std::vector<FileTensor>& tensors, std::string_view name) {
  for (FileTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::out_of_range(std::string(name));
}

}  // namespace logos
