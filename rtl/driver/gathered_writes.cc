#include "rtl/driver/gathered_writes.h"

#include <iterator>
#include <utility>

#include "program/check.h"

namespace logos::d5005 {
namespace {

std::int64_t beats_of(std::span<const std::byte> bytes) {
  return static_cast<std::int64_t>(bytes.size()) / kSuperBeatBytes;
}

}  // namespace

GatheredWrites::GatheredWrites(std::size_t most_bytes, SuperBeatSink sink)
    : most_bytes_(most_bytes), sink_(std::move(sink)) {}

void GatheredWrites::write(std::int64_t at, std::span<const std::byte> bytes) {
  CHECK(bytes.size() % kSuperBeatBytes == 0);
  if (bytes.empty()) return;
  const auto next = held_.lower_bound(at);
  bool meets = next != held_.end() && next->first < at + beats_of(bytes);
  auto before = held_.end();
  if (next != held_.begin()) {
    before = std::prev(next);
    const std::int64_t end = before->first + beats_of(before->second);
    meets |= end > at;
    if (end != at) before = held_.end();
  }
  if (meets || held_bytes_ + bytes.size() > most_bytes_) {
    flush();
    before = held_.end();
  }
  if (before != held_.end()) {
    before->second.insert(before->second.end(), bytes.begin(), bytes.end());
  } else {
    held_.emplace(at, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  held_bytes_ += bytes.size();
}

void GatheredWrites::flush() {
  for (auto piece = held_.begin(); piece != held_.end();) {
    const std::int64_t at = piece->first;
    std::vector<std::byte> joined = std::move(piece->second);
    for (++piece; piece != held_.end() && piece->first == at + beats_of(joined); ++piece) {
      joined.insert(joined.end(), piece->second.begin(), piece->second.end());
    }
    sink_(at, joined);
  }
  held_.clear();
  held_bytes_ = 0;
}

}  // namespace logos::d5005
