#pragma once

#include <openssl/evp.h>

#include <memory>
#include <span>
#include <string>

namespace logos::bench {

/// SHA-256 over values that arrive piece by piece (OpenSSL EVP), as little-endian binary32.
class StreamDigest {
 public:
  StreamDigest();
  void add(std::span<const float> values);
  std::string hex();  ///< ends it: 64 lower-case digits

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace logos::bench
