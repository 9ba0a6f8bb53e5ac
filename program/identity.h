#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace logos {

/// SHA-256 (OpenSSL EVP) as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// Which program a text is: the cut, the chips it is split over, the SHA-256 of its placeholder
/// form as `author` wrote it.
struct Identity {
  std::string cut;
  std::int64_t chips = 1;
  std::string sha256;

  bool operator==(const Identity&) const = default;
  std::string text() const;  ///< `CUT CHIPS SHA256`
};

}  // namespace logos
