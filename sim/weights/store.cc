#include "sim/weights/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "program/check.h"
#include "program/error.h"
#include "program/input_file.h"
#include "program/safetensors_header.h"
#include "sim/weights/digest.h"
#include "sim/weights/store_format.h"

namespace logos {
namespace {

/// A file mapped for reading. Stores are only ever replaced by renaming, so the bytes stay.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const InputFile file(path);
    if (file.size() == 0) return;
    void* address = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (address == MAP_FAILED) {
      throw Error(path.string(),
                  fmt::format("cannot be mapped: {}", std::generic_category().message(errno)));
    }
    bytes_ = {static_cast<const std::byte*>(address), file.size()};
  }
  ~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

class PackedStore final : public WeightStore {
 public:
  PackedStore(std::filesystem::path file, MappedFile mapped, StoreHeader header)
      : file_(std::move(file)),
        mapped_(std::move(mapped)),
        header_(std::move(header)),
        data_(mapped_.bytes().subspan(header_.data_start)) {
    for (const PlacedTensor& placed : header_.layout.tensors) {
      by_name_.emplace(placed.tensor.name, &placed);
    }
  }

  MatrixView matrix(std::string_view tensor) const override {
    const PlacedTensor& placed = find(tensor);
    if (!placed.tensor.is_matrix) throw Error(tensor_place(file_, tensor), "is no matrix");
    const auto rows = static_cast<std::size_t>(placed.tensor.rows);
    return {.rows = placed.tensor.rows,
            .columns = placed.tensor.columns,
            .pitch = static_cast<std::int64_t>(placed.pitch),
            .groups = static_cast<std::int64_t>(placed.groups),
            .q = section<std::int8_t>(placed.q, rows * placed.pitch),
            .multipliers = section<std::uint8_t>(placed.multipliers, rows * placed.groups),
            .scales = section<float>(placed.scales, rows)};
  }

  std::span<const float> vector(std::string_view tensor) const override {
    const PlacedTensor& placed = find(tensor);
    if (placed.tensor.is_matrix) throw Error(tensor_place(file_, tensor), "is no vector");
    return section<float>(placed.values, static_cast<std::size_t>(placed.tensor.columns));
  }

  const std::string& sha256() const override { return header_.sha256; }
  const std::filesystem::path& file() const override { return file_; }

 private:
  const PlacedTensor& find(std::string_view tensor) const {
    const auto found = by_name_.find(tensor);
    if (found == by_name_.end()) throw Error(tensor_place(file_, tensor), "is missing");
    return *found->second;
  }

  template <typename T>
  std::span<const T> section(std::uint64_t offset, std::size_t count) const {
    const auto bytes = data_.subspan(offset, count * sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), count};
  }

  std::filesystem::path file_;
  MappedFile mapped_;
  StoreHeader header_;
  std::span<const std::byte> data_;
  std::map<std::string_view, const PlacedTensor*, std::less<>> by_name_;
};

void check_digest(const StoreHeader& header, std::span<const std::byte> file,
                  std::string_view where) {
  Sha256 digest;
  digest.add(content_text(header.layout));
  digest.add(file.subspan(header.data_start));
  const std::string got = digest.hex();
  if (got != header.sha256) {
    throw Error(where, "the packed weights are damaged", got, header.sha256);
  }
}

}  // namespace

std::unique_ptr<WeightStore> open_store(const std::filesystem::path& file,
                                        std::string_view expected_source) {
  MappedFile mapped(file);
  const std::string where = file.string();
  StoreHeader header = parse_header(mapped.bytes(), where);
  if (!expected_source.empty() && header.source != expected_source) {
    throw Error(where, "the weights were packed from another source", header.source,
                expected_source);
  }
  check_digest(header, mapped.bytes(), where);
  return std::make_unique<PackedStore>(file, std::move(mapped), std::move(header));
}

}  // namespace logos
