#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rtl/driver/driver.h"

namespace logos::d5005 {

/// Bytes at a place: from a super-beat of the board's memory on, or from a byte of the output
/// buffer on.
struct Piece {
  std::int64_t at = 0;
  std::vector<std::byte> bytes;

  bool operator==(const Piece&) const = default;
};

/// Which bank what an element of the output was made of lies in, so that wrong ones can name it.
enum class BankOf {
  kAny,      ///< all banks take part in each
  kOutputs,  ///< element n is an output of a matrix: bank n mod 4
  kFloats,   ///< element n was binary32 n of a row: bank n / 16 mod 4
  kBytes     ///< element n was byte n of a row: bank n / 64 mod 4
};

/// One start of the engine: what is written before it, and what it must leave.
struct KnownRun {
  std::vector<Piece> image;  ///< whole super-beats, which stay as they are
  std::vector<Piece> cache;  ///< whole super-beats that runs write into
  std::vector<TableRow> table;
  std::int64_t output_bytes = 0;      ///< of the output buffer, whole lines
  std::vector<Piece> expected;        ///< of the output buffer; a piece is one row of elements
  std::vector<Piece> left;            ///< whole super-beats of memory, as the run leaves them
  std::vector<std::uint64_t> greedy;  ///< choices of the first rows, as their registers hold them
  std::optional<std::uint32_t> fault_line;
};

/// A program with its inputs and the bits that it gives: of a cut, or of a vector for one unit.
/// Whoever has it can check a board without a model of the engine.
struct KnownAnswer {
  int rung = 0;
  std::string name;          ///< "product-bias", "decode:24"
  std::string proves;        ///< what holds where it passes
  std::string look_at;       ///< what to look at where it does not
  std::string sha256;        ///< identity of the program, which the engine compares
  std::int64_t program = 0;  ///< super-beat of its header
  BankOf bank_of = BankOf::kAny;
  std::int64_t element_bytes = 4;
  std::vector<KnownRun> runs;  ///< one after another on the same memory
};

/// Known answers for an engine of one size.
struct AnswerSet {
  std::int64_t rows = 0;
  std::int64_t mac_rows = 0;
  std::string source;  ///< model and weights that they were computed of
  std::vector<KnownAnswer> answers;
};

/// SHA-256 over everything that an answer states.
std::string identity_of(const KnownAnswer& answer);

/// Puts pieces that lie side by side into one.
std::vector<Piece> joined(std::vector<Piece> pieces);

}  // namespace logos::d5005
