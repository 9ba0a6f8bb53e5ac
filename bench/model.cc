#include "bench/model.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/progress.h"
#include "program/error.h"
#include "program/gguf_model.h"
#include "program/json_fault.h"
#include "program/printable.h"
#include "program/text_file.h"
#include "program/whole_number.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kByteValues = 256;
constexpr std::uint64_t kMostTextBytes = std::uint64_t{64} << 20;  // of a file beside a model

/// `<0xNN>` as its byte.
std::optional<char> byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, code] = std::from_chars(text.data() + 3, text.data() + 5, value, 16);
  if (code != std::errc{} || end != text.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

Vocabulary read_vocabulary_beside(const fs::path& dir, std::int64_t size) {
  Vocabulary vocabulary;
  const fs::path file = dir / "vocab.json";
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    vocabulary.texts = read_vocabulary(read_text_file(file, kMostTextBytes), file.string(), size);
    if (vocabulary.texts.empty()) {
      say(
          fmt::format("{}: a tokenizer's vocabulary, which is not decoded here: ids stand as they "
                      "are",
                      file.string()));
    }
    return vocabulary;
  }
  const bool has_tokenizer =
      fs::exists(dir / "tokenizer.json", ignored) || fs::exists(dir / "tokenizer.model", ignored);
  vocabulary.bytes = size == kByteValues && !has_tokenizer;
  return vocabulary;
}

std::vector<std::int64_t> read_prompt_beside(const fs::path& dir, std::int64_t vocabulary) {
  const fs::path file = dir / "prompt.txt";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  std::vector<std::int64_t> ids;
  for (const char c : read_text_file(file, kMostTextBytes)) {
    const std::int64_t id = static_cast<unsigned char>(c);
    if (id >= vocabulary) {
      throw Error(fmt::format("{}: byte {}", file.string(), ids.size() + 1),
                  "outside the vocabulary (a byte is a token id)", fmt::to_string(id),
                  fmt::format("0 to {}", vocabulary - 1));
    }
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

std::string printable_utf8(std::string_view bytes) {
  static constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes, at);
    const bool kept = length == 1 && (bytes[at] == '\n' || bytes[at] == '\t');
    if (length == 0 || (is_control(bytes, at, length) && !kept)) {
      text += kReplacement;
      at += length == 0 ? 1 : length;
      continue;
    }
    text += bytes.substr(at, length);
    at += length;
  }
  return text;
}

std::optional<std::string> Vocabulary::text(std::span<const std::int64_t> ids) const {
  if (!known()) return std::nullopt;
  std::string result;
  for (const std::int64_t id : ids) {
    if (bytes) {
      result.push_back(static_cast<char>(static_cast<unsigned char>(id)));
    } else {
      result += texts[static_cast<std::size_t>(id)];
    }
  }
  return printable_utf8(result);
}

std::vector<std::string> read_vocabulary(std::string_view json, std::string_view where,
                                         std::int64_t vocabulary) {
  refuse_zero_byte(json, where);
  nlohmann::json object;
  try {
    object = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    throw Error(where, fmt::format("not JSON: {}", json_fault(error)));
  }
  if (!object.is_object()) throw Error(where, "not an object of ids and texts");
  if (!object.empty() && object.begin()->is_number()) return {};  // a tokenizer's: ids by text
  std::vector<std::string> texts(static_cast<std::size_t>(vocabulary));
  for (const auto& [key, value] : object.items()) {
    std::int64_t id = -1;
    if (read_whole_number(key, id) != std::errc{} || id < 0 || id >= vocabulary) {
      throw Error(fmt::format("{}: \"{}\"", where, key), "no token id of this model", key,
                  fmt::format("0 to {}", vocabulary - 1));
    }
    if (!value.is_string()) throw Error(fmt::format("{}: \"{}\"", where, key), "not a text");
    const std::string text = value.get<std::string>();
    const std::optional<char> byte = byte_token(text);
    texts[static_cast<std::size_t>(id)] = byte ? std::string(1, *byte) : text;
  }
  return texts;
}

Model read_model(std::string_view name) {
  ModelName resolved = resolve_model(name);
  Model model;
  model.name = escaped(resolved.name);
  model.spec = resolved.reading.spec;
  model.trained_positions = resolved.reading.trained_positions;
  model.path = resolved.path;
  for (const std::string& remark : resolved.reading.remarks) say(remark);
  model.is_gguf = resolved.is_gguf;
  if (model.is_gguf) {
    const InputFile file(*model.path);
    model.vocabulary.texts = gguf_vocabulary(read_gguf_header(file));
  } else if (model.path) {
    model.vocabulary = read_vocabulary_beside(*model.path, model.spec.vocabulary);
    model.prompt = read_prompt_beside(*model.path, model.spec.vocabulary);
  }
  return model;
}

void load_weights(const Options& options, Model& model) {
  std::vector<std::string> remarks;
  Progress progress;
  progress.show(fmt::format("weights of {}", model.name));
  if (options.synthetic_seed || !model.path) {
    const std::uint64_t seed = options.synthetic_seed.value_or(1);
    model.weights_kind = fmt::format("synthetic:{}", seed);
    model.weights = synthetic_store(model.spec, seed);
  } else if (model.is_gguf) {
    model.weights_kind = "gguf";
    model.weights = store_of_gguf(*model.path, model.spec, &remarks);
  } else {
    model.weights_kind = "checkpoint";
    model.weights = store_of_checkpoint(*model.path, model.spec, remarks);
  }
  progress.clear();
  for (const std::string& remark : remarks) say(remark);
}

}  // namespace logos::bench
