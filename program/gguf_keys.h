#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "program/gguf_header.h"

namespace logos {

/// The keys of a GGUF file by what they must hold. A key of another type is refused by name.
class GgufKeys {
 public:
  explicit GgufKeys(const GgufHeader& header);

  /// `general.architecture`: llama, qwen2 or qwen3.
  const std::string& architecture() const { return architecture_; }

  /// Keys below are those under `ARCH.`; null where absent.
  std::optional<std::int64_t> whole(std::string_view key) const;
  std::int64_t required(std::string_view key) const;
  /// A FLOAT32 as the binary64 that its shortest decimal reads as.
  std::optional<double> decimal(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::string place(std::string_view key) const;

  /// Refuses keys under `ARCH.` that are not known to leave the numbers as they are, and files that
  /// are one of several.
  void check_known() const;

 private:
  const GgufValue* find(std::string_view key) const;

  const GgufHeader& header_;
  std::string architecture_;
};

/// The binary64 that the shortest decimal of a binary32 reads as.
double by_shortest_decimal(float value);

}  // namespace logos
