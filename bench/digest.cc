#include "bench/digest.h"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "program/check.h"

namespace logos::bench {

static_assert(std::endian::native == std::endian::little, "digests are over little-endian values");

StreamDigest::StreamDigest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void StreamDigest::add(std::span<const float> values) {
  CHECK(EVP_DigestUpdate(context_.get(), values.data(), values.size_bytes()) == 1);
}

std::string StreamDigest::hex() {
  std::array<unsigned char, 32> digest{};
  unsigned size = 0;
  CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1 && size == digest.size());
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace logos::bench
