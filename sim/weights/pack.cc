#include "sim/weights/pack.h"

#include <algorithm>
#include <functional>
#include <string>

#include "program/check.h"
#include "sim/weights/digest.h"
#include "sim/weights/store_format.h"
#include "sim/weights/temporary_file.h"

namespace logos {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;  // of q, written at a time

/// Writes the data section by section and takes its digest on the way.
class DataWriter {
 public:
  DataWriter(TemporaryFile& file, std::uint64_t data_start, Sha256& digest)
      : file_(file), data_start_(data_start), digest_(digest) {}

  /// Bytes at an offset of the data that does not lie before the end of the last ones.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    static constexpr std::byte kZeros[kSectionAlignment] = {};
    CHECK(offset >= end_ && offset - end_ < kSectionAlignment);
    append(std::span(kZeros, offset - end_));
    append(bytes);
  }

 private:
  void append(std::span<const std::byte> bytes) {
    file_.write_at(data_start_ + end_, bytes);
    digest_.add(bytes);
    end_ += bytes.size();
  }

  TemporaryFile& file_;
  std::uint64_t data_start_;
  Sha256& digest_;
  std::uint64_t end_ = 0;
};

/// Writes q a block of rows at a time; `quantize` fills one row of it.
void write_integers(
    const PlacedTensor& placed, DataWriter& writer,
    const std::function<void(std::uint64_t row, std::span<std::int8_t>)>& quantize) {
  const auto count = static_cast<std::uint64_t>(placed.tensor.rows);
  const auto columns = static_cast<std::uint64_t>(placed.tensor.columns);
  const std::uint64_t block_rows =
      std::min(count, std::max<std::uint64_t>(kBlockBytes / placed.pitch, 1));
  std::vector<std::int8_t> q(block_rows * placed.pitch);  // what lies beyond the columns stays 0
  for (std::uint64_t first = 0; first < count; first += block_rows) {
    const std::uint64_t end = std::min(count, first + block_rows);
    for (std::uint64_t row = first; row < end; ++row) {
      quantize(row, std::span(q).subspan((row - first) * placed.pitch, columns));
    }
    writer.write(placed.q + first * placed.pitch,
                 std::as_bytes(std::span(q).first((end - first) * placed.pitch)));
  }
}

void write_matrix(const PlacedTensor& placed, RowSource& rows, DataWriter& writer) {
  const auto count = static_cast<std::uint64_t>(placed.tensor.rows);
  std::vector<std::uint8_t> multipliers(count * placed.groups);
  std::vector<float> scales(count);
  write_integers(placed, writer, [&](std::uint64_t row, std::span<std::int8_t> q) {
    scales[row] =
        rows.matrix_row(placed.tensor, static_cast<std::int64_t>(row),
                        std::span(multipliers).subspan(row * placed.groups, placed.groups), q);
  });
  writer.write(placed.multipliers, std::as_bytes(std::span(multipliers)));
  writer.write(placed.scales, std::as_bytes(std::span(scales)));
}

void write_half_matrix(const PlacedTensor& placed, RowSource& rows, DataWriter& writer) {
  std::vector<std::uint16_t> halves(static_cast<std::uint64_t>(placed.tensor.rows) * placed.groups);
  write_integers(placed, writer, [&](std::uint64_t row, std::span<std::int8_t> q) {
    rows.half_row(placed.tensor, static_cast<std::int64_t>(row),
                  std::span(halves).subspan(row * placed.groups, placed.groups), q);
  });
  writer.write(placed.halves, std::as_bytes(std::span(halves)));
}

void write_vector(const PlacedTensor& placed, RowSource& rows, DataWriter& writer) {
  std::vector<float> values(static_cast<std::size_t>(placed.tensor.columns));
  rows.vector(placed.tensor, values);
  writer.write(placed.values, std::as_bytes(std::span(values)));
}

}  // namespace

float RowSource::matrix_row(const PlannedTensor&, std::int64_t, std::span<std::uint8_t>,
                            std::span<std::int8_t>) {
  CHECK_UNREACHABLE();
}

void RowSource::half_row(const PlannedTensor&, std::int64_t, std::span<std::uint16_t>,
                         std::span<std::int8_t>) {
  CHECK_UNREACHABLE();
}

void pack(const std::vector<PlannedTensor>& plan, RowSource& rows, std::string_view source,
          const std::filesystem::path& file, Profile profile) {
  StoreHeader header;
  header.layout = lay_out(plan, file.string(), profile);
  header.source = source;
  header.sha256 = std::string(64, '0');  // takes the digest's place until it is known
  serialise_header(header);
  TemporaryFile temporary(file, header.file_bytes);
  Sha256 digest;
  digest.add(content_text(header.layout));
  DataWriter writer(temporary, header.data_start, digest);
  for (const PlacedTensor& placed : header.layout.tensors) {
    if (!placed.tensor.is_matrix) {
      write_vector(placed, rows, writer);
    } else if (profile == Profile::kB) {
      write_half_matrix(placed, rows, writer);
    } else {
      write_matrix(placed, rows, writer);
    }
  }
  writer.write(header.layout.data_bytes, {});
  rows.finish();
  header.sha256 = digest.hex();
  const std::string text = serialise_header(header);
  temporary.write_at(0, std::as_bytes(std::span(text)));
  temporary.commit();
}

}  // namespace logos
