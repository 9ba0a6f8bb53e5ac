#include "sim/result.h"

#include <bit>

#include "program/identity.h"

namespace logos {

std::string output_sha256(const Result& result) {
  static_assert(std::endian::native == std::endian::little, "outputs are digested little-endian");
  return sha256_hex({reinterpret_cast<const char*>(result.outputs.data()),
                     result.outputs.size() * sizeof(float)});
}

}  // namespace logos
