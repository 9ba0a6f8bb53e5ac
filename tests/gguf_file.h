#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/gguf_header.h"

namespace logos {

/// Numbers as a GGUF file holds them.
template <typename Number>
std::string as_bytes(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}
inline std::string as_string(std::string_view text) {
  return as_bytes(std::uint64_t{text.size()}) + std::string(text);
}

/// A GGUF file put together piece by piece, whatever a piece may be.
struct GgufFile {
  struct Key {
    std::string name;
    std::string value;  ///< its type, then its bytes
  };
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> shape;
    std::uint32_t type = 0;
    std::string data;
  };

  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::vector<Key> keys;
  std::vector<Tensor> tensors;
  std::uint64_t alignment = 32;
  std::string tail;  ///< after the data

  template <typename Number>
  void set(std::string_view name, GgufType type, Number number) {
    put(name, as_bytes(static_cast<std::uint32_t>(type)) + as_bytes(number));
  }
  void set(std::string_view name, std::uint32_t number) { set(name, GgufType::kUint32, number); }
  void set(std::string_view name, float number) { set(name, GgufType::kFloat32, number); }
  void set(std::string_view name, std::string_view text) {
    put(name, as_bytes(static_cast<std::uint32_t>(GgufType::kString)) + as_string(text));
  }
  void set(std::string_view name, const std::vector<std::string>& texts) {
    std::string value = as_bytes(static_cast<std::uint32_t>(GgufType::kArray)) +
                        as_bytes(static_cast<std::uint32_t>(GgufType::kString)) +
                        as_bytes(std::uint64_t{texts.size()});
    for (const std::string& text : texts) value += as_string(text);
    put(name, value);
  }
  /// A key's raw bytes, in place of one of that name.
  void put(std::string_view name, std::string value) {
    for (Key& key : keys) {
      if (key.name == name) {
        key.value = std::move(value);
        return;
      }
    }
    keys.push_back({std::string(name), std::move(value)});
  }
  void drop(std::string_view name) {
    std::erase_if(keys, [name](const Key& key) { return key.name == name; });
  }
  Tensor& tensor(std::string_view name) {
    for (Tensor& tensor : tensors) {
      if (tensor.name == name) return tensor;
    }
    return tensors.emplace_back(Tensor{std::string(name), {}, 0, ""});
  }
  void drop_tensor(std::string_view name) {
    std::erase_if(tensors, [name](const Tensor& tensor) { return tensor.name == name; });
  }

  /// Everything before the tensors' table.
  std::string beginning() const {
    std::string bytes = magic + as_bytes(version) + as_bytes(std::uint64_t{tensors.size()}) +
                        as_bytes(std::uint64_t{keys.size()});
    for (const Key& key : keys) bytes += as_string(key.name) + key.value;
    return bytes;
  }
  std::string bytes() const {
    std::string table = beginning();
    std::string data;
    for (const Tensor& tensor : tensors) {
      table += as_string(tensor.name) + as_bytes(static_cast<std::uint32_t>(tensor.shape.size()));
      for (const std::uint64_t size : tensor.shape) table += as_bytes(size);
      table += as_bytes(tensor.type) + as_bytes(std::uint64_t{data.size()});
      data += tensor.data;
      data.resize((data.size() + alignment - 1) / alignment * alignment);
    }
    table.resize((table.size() + alignment - 1) / alignment * alignment);
    return table + data + tail;
  }
};

/// Sizes of a small model as a file may hold it.
struct GgufSizes {
  std::string architecture = "llama";
  std::uint32_t layers = 2;
  std::uint32_t columns = 64;
  std::uint32_t hidden = 96;
  std::uint32_t heads = 8;
  std::uint32_t key_heads = 2;
  std::uint32_t head_columns = 8;
  std::uint32_t vocabulary = 40;
  bool own_head = false;
};

/// A whole small model whose every number differs: row `n` of a matrix has the scale 2^-8 * (1 +
/// n/1024) in each block and counts up from `n` along its columns.
inline GgufFile small_gguf(const GgufSizes& sizes = {}) {
  GgufFile file;
  const std::string& a = sizes.architecture;
  file.set("general.architecture", a);
  file.set(a + ".block_count", sizes.layers);
  file.set(a + ".context_length", std::uint32_t{128});
  file.set(a + ".embedding_length", sizes.columns);
  file.set(a + ".feed_forward_length", sizes.hidden);
  file.set(a + ".attention.head_count", sizes.heads);
  file.set(a + ".attention.head_count_kv", sizes.key_heads);
  file.set(a + ".attention.key_length", sizes.head_columns);
  file.set(a + ".attention.layer_norm_rms_epsilon", 1e-5F);
  file.set(a + ".rope.freq_base", 10000.0F);
  const auto vector = [&](const std::string& name, std::uint64_t size) {
    std::string data;
    for (std::uint64_t i = 0; i < size; ++i) data += as_bytes(1 + static_cast<float>(i) / 256);
    file.tensors.push_back({name, {size}, 0, data});
  };
  const auto matrix = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    std::string data;
    for (std::uint64_t n = 0; n < rows; ++n) {
      for (std::uint64_t k = 0; k < columns; ++k) {
        if (k % 32 == 0) data += as_bytes(static_cast<std::uint16_t>(0x1C00 + n));
        data += static_cast<char>(static_cast<std::uint8_t>(n + k));
      }
    }
    file.tensors.push_back({name, {columns, rows}, 8, data});
  };
  const std::uint64_t c = sizes.columns;
  const std::uint64_t queries = std::uint64_t{sizes.heads} * sizes.head_columns;
  const std::uint64_t keys = std::uint64_t{sizes.key_heads} * sizes.head_columns;
  matrix("token_embd.weight", sizes.vocabulary, c);
  for (std::uint32_t n = 0; n < sizes.layers; ++n) {
    const std::string block = "blk." + std::to_string(n) + ".";
    vector(block + "attn_norm.weight", c);
    matrix(block + "attn_q.weight", queries, c);
    matrix(block + "attn_k.weight", keys, c);
    matrix(block + "attn_v.weight", keys, c);
    if (a == "qwen2") {
      vector(block + "attn_q.bias", queries);
      vector(block + "attn_k.bias", keys);
      vector(block + "attn_v.bias", keys);
    }
    if (a == "qwen3") {
      vector(block + "attn_q_norm.weight", sizes.head_columns);
      vector(block + "attn_k_norm.weight", sizes.head_columns);
    }
    matrix(block + "attn_output.weight", c, queries);
    vector(block + "ffn_norm.weight", c);
    matrix(block + "ffn_gate.weight", sizes.hidden, c);
    matrix(block + "ffn_up.weight", sizes.hidden, c);
    matrix(block + "ffn_down.weight", c, sizes.hidden);
  }
  vector("output_norm.weight", c);
  if (sizes.own_head) matrix("output.weight", sizes.vocabulary, c);
  return file;
}

}  // namespace logos
