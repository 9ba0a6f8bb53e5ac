#include "program/words.h"

#include <algorithm>
#include <array>

namespace logos {
namespace {

constexpr std::array kWords = {
    WordEntry{"embedded", Word::kEmbedded, 2, 2},
    WordEntry{"rms_norm", Word::kRmsNorm, 3, 3},
    WordEntry{"quantized", Word::kQuantized, 1, 1},
    WordEntry{"product", Word::kProduct, 2, 2},
    WordEntry{"with_bias", Word::kWithBias, 2, 2},
    WordEntry{"heads", Word::kHeads, 2, 2},
    WordEntry{"rotated", Word::kRotated, 3, 3},
    WordEntry{"attended", Word::kAttended, 4, 5},
    WordEntry{"silu", Word::kSilu, 1, 1},
    WordEntry{"last_row", Word::kLastRow, 1, 1},
    WordEntry{"peak", Word::kPeak, 1, 1},
    WordEntry{"quantized_at", Word::kQuantizedAt, 2, 2},
    WordEntry{"sums", Word::kSums, 2, 2},
    WordEntry{"scaled", Word::kScaled, 1, 1},
    WordEntry{"greatest_over_chips", Word::kGreatestOverChips, 1, 1},
    WordEntry{"sum_over_chips", Word::kSumOverChips, 1, 1},
    WordEntry{"joined_over_chips", Word::kJoinedOverChips, 1, 1},
    WordEntry{"held_over_chips", Word::kHeldOverChips, 1, 1},
};

constexpr std::array<std::string_view, 27> kReserved = {"arithmetic",
                                                        "layers",
                                                        "columns",
                                                        "query_heads",
                                                        "key_heads",
                                                        "head_columns",
                                                        "hidden_columns",
                                                        "vocabulary",
                                                        "norm_epsilon",
                                                        "rotary",
                                                        "window",
                                                        "chips",
                                                        "plain",
                                                        "linear",
                                                        "llama3",
                                                        "tokens",
                                                        "positions",
                                                        "counted",
                                                        "repeated",
                                                        "given",
                                                        "weight",
                                                        "gain",
                                                        "bias",
                                                        "cache",
                                                        "to",
                                                        "at",
                                                        "be"};

}  // namespace

std::optional<WordEntry> find_word(std::string_view name) {
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const WordEntry& entry) { return entry.name == name; });
  if (found == kWords.end()) return std::nullopt;
  return *found;
}

bool is_reserved(std::string_view name) {
  return find_word(name).has_value() ||
         std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

}  // namespace logos
