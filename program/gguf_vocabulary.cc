// The texts of a GGUF file's token ids.
#include <array>
#include <charconv>
#include <optional>

#include "program/gguf_model.h"
#include "program/printable.h"

namespace logos {
namespace {

/// `<0xNN>` as its byte.
std::optional<char> byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, code] = std::from_chars(text.data() + 3, text.data() + 5, value, 16);
  if (code != std::errc{} || end != text.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

/// SentencePiece writes a space as U+2581.
std::string with_spaces(std::string_view text) {
  static constexpr std::string_view kMark = "\xE2\x96\x81";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool mark = text.substr(at).starts_with(kMark);
    result += mark ? ' ' : text[at];
    at += mark ? kMark.size() : 1;
  }
  return result;
}

/// The bytes by the character that stands for each in a byte-level vocabulary (GPT-2's
/// bytes_to_unicode): printable Latin-1 stands for itself, the other 68 follow from U+0100 on.
std::array<std::optional<char>, 0x144> bytes_by_character() {
  std::array<std::optional<char>, 0x144> bytes{};
  std::size_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool itself =
        (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    bytes[itself ? byte : next++] = static_cast<char>(byte);
  }
  return bytes;
}

/// A token of a byte-level vocabulary as the bytes that it stands for.
std::string with_bytes(std::string_view text) {
  static const auto kBytes = bytes_by_character();
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    std::uint32_t character = 0xFFFF;  // of one or two bytes it is below U+0800
    if (length == 1) character = static_cast<unsigned char>(text[at]);
    if (length == 2) {
      character = (static_cast<unsigned char>(text[at]) & 0x1FU) << 6 |
                  (static_cast<unsigned char>(text[at + 1]) & 0x3FU);
    }
    const bool known = character < kBytes.size() && kBytes[character].has_value();
    if (known) {
      result += *kBytes[character];
    } else {
      result += text.substr(at, length == 0 ? 1 : length);
    }
    at += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace

std::vector<std::string> gguf_vocabulary(const GgufHeader& header) {
  const GgufValue* tokens = header.value("tokenizer.ggml.tokens");
  const auto* array = tokens == nullptr ? nullptr : std::get_if<GgufArray>(&tokens->value);
  if (array == nullptr) return {};
  const GgufValue* model = header.value("tokenizer.ggml.model");
  const auto* kind = model == nullptr ? nullptr : std::get_if<std::string>(&model->value);
  const bool byte_level = kind != nullptr && *kind == "gpt2";
  std::vector<std::string> texts;
  texts.reserve(array->strings.size());
  for (const std::string& text : array->strings) {
    if (const auto byte = byte_token(text)) {
      texts.emplace_back(1, *byte);
    } else {
      texts.push_back(byte_level ? with_bytes(text) : with_spaces(text));
    }
  }
  return texts;
}

}  // namespace logos
