#include "rtl/bringup/known_answer.h"

#include <algorithm>
#include <utility>

#include "program/identity.h"
#include "rtl/bringup/answer_file.h"

namespace logos::d5005 {

std::string identity_of(const KnownAnswer& answer) { return sha256_hex(answer_bytes(answer)); }

std::vector<Piece> joined(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.at < b.at; });
  std::vector<Piece> all;
  for (Piece& piece : pieces) {
    if (!all.empty()) {
      Piece& last = all.back();
      const auto beats = static_cast<std::int64_t>(last.bytes.size()) / kSuperBeatBytes;
      if (last.at + beats == piece.at) {
        last.bytes.insert(last.bytes.end(), piece.bytes.begin(), piece.bytes.end());
        continue;
      }
    }
    all.push_back(std::move(piece));
  }
  return all;
}

}  // namespace logos::d5005
