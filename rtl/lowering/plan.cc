#include "rtl/lowering/plan.h"

#include <cstring>

#include "sim/records.h"
#include "sim/weights/store.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kVersion = 2;

using records::count;
using records::kMaxInt32;
using records::number;

template <typename Archive>
void transfer(Archive& archive, MatrixPart& part) {
  archive.text(part.tensor);
  archive.text(part.bias);
  for (std::int64_t* value : {&part.first_row, &part.rows, &part.lead, &part.head_columns}) {
    number(archive, *value, 0, kMaxInt32);
  }
}

template <typename Archive>
void transfer(Archive& archive, MatrixItem& item) {
  count(archive, item.base);
  archive.list(item.parts, [](auto& inner, MatrixPart& part) { transfer(inner, part); });
  number(archive, item.first_column, 0, kMaxInt32);
  number(archive, item.columns, 1, kMaxInt32);
  number(archive, item.lead, 0, kGroup - 1);
}

template <typename Archive>
void transfer(Archive& archive, CacheItem& item) {
  for (std::int64_t* value : {&item.layer, &item.base, &item.row_stride, &item.head_stride,
                              &item.values_offset, &item.first_head, &item.heads}) {
    number(archive, *value, 0, kMaxInt32);
  }
}

/// An instruction as its 16 little-endian words.
template <typename Archive>
void transfer(Archive& archive, Instruction& instruction) {
  std::array<std::byte, kInstructionBytes> bytes = encode(instruction);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    number(archive, word, 0, records::kMaxUint32);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  instruction = decode(bytes);
}

template <typename Archive>
void transfer(Archive& archive, BoardPlan& board) {
  archive.list(board.matrices, [](auto& inner, MatrixItem& item) { transfer(inner, item); });
  archive.list(board.gains, [](auto& inner, GainItem& item) {
    count(inner, item.base);
    inner.text(item.tensor);
    number(inner, item.size, 1, kMaxInt32);
  });
  archive.list(board.embeddings, [](auto& inner, EmbeddingItem& item) {
    count(inner, item.base);
    inner.text(item.tensor);
    for (std::int64_t* value : {&item.first_row, &item.rows, &item.columns}) {
      number(inner, *value, 0, kMaxInt32);
    }
  });
  archive.list(board.caches, [](auto& inner, CacheItem& item) { transfer(inner, item); });
  for (std::int64_t* value : {&board.rotary_base, &board.given_base, &board.peaks_base,
                              &board.sums_base, &board.program_base, &board.super_beats}) {
    number(archive, *value, 0, kMaxInt32);
  }
  archive.list(board.program, [](auto& inner, Instruction& i) { transfer(inner, i); });
  archive.list(board.segments, [](auto& inner, Segment& segment) {
    for (std::int64_t* value : {&segment.base, &segment.first, &segment.count, &segment.copies}) {
      number(inner, *value, 0, kMaxInt32);
    }
  });
}

template <typename Archive>
void transfer(Archive& archive, OutputPiece& piece) {
  for (std::int64_t* value : {&piece.offset, &piece.first, &piece.columns, &piece.board}) {
    number(archive, *value, 0, kMaxInt32);
  }
}

template <typename Archive>
void transfer(Archive& archive, EngineSize& size) {
  for (std::int64_t* value :
       {&size.rows, &size.mac_rows, &size.vector_words, &size.activation_words, &size.query_words,
        &size.gain_words, &size.scores, &size.positions, &size.fifo_beats, &size.instructions,
        &size.table_rows, &size.super_beats}) {
    number(archive, *value, 1, kMaxInt32);
  }
}

template <typename Archive>
void transfer_head(Archive& archive, Plan& plan) {
  std::int64_t version = kVersion;
  archive.integer(version, kVersion, kVersion);
  number(archive, plan.rows, 1, kMaxInt32);
  for (bool* flag : {&plan.is_chunk, &plan.has_tokens, &plan.has_positions, &plan.has_given,
                     &plan.each_row_caches}) {
    number(archive, *flag, 0, 1);
  }
  for (std::int64_t* value :
       {&plan.columns, &plan.vocabulary, &plan.head_columns, &plan.key_heads, &plan.capacity}) {
    number(archive, *value, 0, kMaxInt32);
  }
  std::int64_t context = plan.context.value_or(0);
  number(archive, context, 0, kMaxInt32);
  plan.context = context == 0 ? std::nullopt : std::optional(context);
  number(archive, plan.rotary.kind, 0, 2);
  for (double* value : {&plan.rotary.base, &plan.rotary.factor, &plan.rotary.low, &plan.rotary.high,
                        &plan.rotary.original}) {
    records::real(archive, *value);
  }
}

}  // namespace

template <typename Archive>
void transfer(Archive& archive, Plan& plan) {
  transfer_head(archive, plan);
  transfer(archive, plan.engine);
  archive.list(plan.lines, [](auto& inner, PlanLine& line) {
    for (std::int64_t* value : {&line.layer, &line.line}) number(inner, *value, 0, kMaxInt32);
    inner.text(line.name);
  });
  archive.list(plan.boards, [](auto& inner, BoardPlan& board) { transfer(inner, board); });
  archive.list(plan.exchanges, [](auto& inner, Exchange& exchange) {
    number(inner, exchange.kind, 0, 2);
    inner.text(exchange.tensor);
    number(inner, exchange.columns, 0, kMaxInt32);
    inner.list(exchange.pieces, [](auto& items, OutputPiece& piece) { transfer(items, piece); });
  });
  archive.list(plan.outputs, [](auto& inner, OutputPiece& piece) { transfer(inner, piece); });
  number(archive, plan.rows_are_held, 0, 1);
  for (std::int64_t* value : {&plan.output_rows, &plan.output_columns, &plan.host_units}) {
    number(archive, *value, 0, kMaxInt32);
  }
}

std::string serialise_plan(const Plan& plan) { return records::serialise(plan); }

Plan parse_plan(std::string_view payload, std::string_view where) {
  return records::parse<Plan>(payload, where);
}

}  // namespace logos::d5005
