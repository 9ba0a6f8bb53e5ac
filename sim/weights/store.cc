#include "sim/weights/store.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "program/check.h"
#include "program/error.h"
#include "program/input_file.h"
#include "program/safetensors_header.h"
#include "sim/weights/digest.h"
#include "sim/weights/store_format.h"

namespace logos {
namespace {

/// Refuses what this host cannot hold, before it is asked for.
void check_memory(const InputFile& file) {
  const auto have = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                    static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (file.size() <= have) return;
  throw Error(file.path().string(), "the packed weights do not fit into this host's memory",
              fmt::format("{} bytes", file.size()), fmt::format("at most {} bytes", have));
}

/// A file's content in memory of our own. (Mapped, a file that another process cuts short ends this
/// one with SIGBUS at the next use, and one that it writes to changes under a digest that was
/// checked. The digest needs every byte once anyway.)
class Content {
 public:
  explicit Content(const std::filesystem::path& path) {
    const InputFile file(path);
    check_memory(file);
    const auto size = static_cast<std::size_t>(file.size());
    if (size == 0) return;
    const std::size_t room = (size + kAlignment - 1) / kAlignment * kAlignment;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, room)));
    if (data_ == nullptr) {
      throw Error(path.string(), "no memory for the packed weights", fmt::format("{} bytes", size),
                  "less, or more memory");
    }
    ::madvise(data_.get(), room, MADV_HUGEPAGE);  // advice: nothing hangs on it
    bytes_ = {data_.get(), size};
    file.read_at(0, {data_.get(), size});
    file.check_unchanged();
  }

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kAlignment = std::size_t{2} << 20;  // a huge page
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::span<const std::byte> bytes_;
};

class PackedStore final : public WeightStore {
 public:
  PackedStore(std::filesystem::path file, Content content, StoreHeader header)
      : file_(std::move(file)),
        content_(std::move(content)),
        header_(std::move(header)),
        data_(content_.bytes().subspan(header_.data_start)) {
    for (const PlacedTensor& placed : header_.layout.tensors) {
      by_name_.emplace(placed.tensor.name, &placed);
    }
  }

  MatrixView matrix(std::string_view tensor) const override {
    const PlacedTensor& placed = find(tensor);
    if (!placed.tensor.is_matrix) throw Error(tensor_place(file_, tensor), "is no matrix");
    const auto rows = static_cast<std::size_t>(placed.tensor.rows);
    if (header_.layout.profile == Profile::kB) {
      return {.rows = placed.tensor.rows,
              .columns = placed.tensor.columns,
              .pitch = static_cast<std::int64_t>(placed.pitch),
              .groups = static_cast<std::int64_t>(placed.groups),
              .q = section<std::int8_t>(placed.q, rows * placed.pitch),
              .multipliers = {},
              .scales = {},
              .halves = section<std::uint16_t>(placed.halves, rows * placed.groups)};
    }
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
  Content content_;
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

void check_profile(const MatrixView& matrix, Profile wanted, std::string_view tensor) {
  if (matrix.profile() == wanted) return;
  const auto text = [](Profile profile) {
    return profile == Profile::kA ? "OFA-1 profile A" : "OFA-1 profile B";
  };
  throw Error(tensor, "encoded in another profile", text(matrix.profile()), text(wanted));
}

std::unique_ptr<WeightStore> open_store(const std::filesystem::path& file,
                                        std::string_view expected_source) {
  Content content(file);
  const std::string where = file.string();
  StoreHeader header = parse_header(content.bytes(), where);
  if (!expected_source.empty() && header.source != expected_source) {
    throw Error(where, "the weights were packed from another source", header.source,
                expected_source);
  }
  check_digest(header, content.bytes(), where);
  return std::make_unique<PackedStore>(file, std::move(content), std::move(header));
}

}  // namespace logos
