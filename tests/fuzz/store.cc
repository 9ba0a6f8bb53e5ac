// Packed stores: as they come, and with size and digest of the header put right, so that what lies
// behind them is reached. Every tensor of a store that opens lies in it to its last byte.
#include "sim/weights/store.h"

#include <cstring>
#include <string>

#include "program/check.h"
#include "program/identity.h"
#include "sim/weights/store_format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace logos;

template <typename T>
std::uint64_t ends_of(std::span<const T> values) {
  if (values.empty()) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return std::to_integer<std::uint64_t>(bytes.front()) +
         std::to_integer<std::uint64_t>(bytes.back());
}

void read_ends(const WeightStore& store, const StoreLayout& layout) {
  std::uint64_t sum = 0;
  for (const PlacedTensor& placed : layout.tensors) {
    if (placed.tensor.is_matrix) {
      const MatrixView view = store.matrix(placed.tensor.name);
      sum += ends_of(view.q) + ends_of(view.multipliers) + ends_of(view.scales);
    } else {
      sum += ends_of(store.vector(placed.tensor.name));
    }
  }
  CHECK(sum < std::uint64_t{1} << 40);  // keeps the reads
}

/// The bytes with the file's size and the header's digest as they should be.
std::string mended(std::string bytes) {
  constexpr std::size_t kJsonSize = 48;
  constexpr std::size_t kFileSize = 56;
  constexpr std::size_t kDigest = 64;
  if (bytes.size() < kStorePrefixBytes) return bytes;
  std::memcpy(bytes.data(), kStoreMagic.data(), kStoreMagic.size());
  const std::uint64_t file_bytes = bytes.size();
  std::memcpy(bytes.data() + kFileSize, &file_bytes, sizeof file_bytes);
  std::uint64_t json_bytes = 0;
  std::memcpy(&json_bytes, bytes.data() + kJsonSize, sizeof json_bytes);
  if (json_bytes > bytes.size() - kStorePrefixBytes) return bytes;
  const std::string digest =
      sha256_hex({bytes.data() + kStorePrefixBytes, static_cast<std::size_t>(json_bytes)});
  std::memcpy(bytes.data() + kDigest, digest.data(), digest.size());
  return bytes;
}

void open(std::string_view bytes) {
  StoreHeader header;
  const std::span<const char> all(bytes.data(), bytes.size());
  if (!taken([&] { header = parse_header(std::as_bytes(all), "fuzz"); })) return;
  const MemoryFile file(bytes);
  taken([&] { read_ends(*open_store(file.path()), header.layout); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(logos::bytes_of(data, size));
  open(bytes);
  open(mended(bytes));
  return 0;
}
