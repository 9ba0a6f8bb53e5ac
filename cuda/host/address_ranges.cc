#include "cuda/host/address_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace logos::cuda::host {

void AddressRanges::insert(const std::byte* begin, std::size_t bytes, std::string name) {
  const auto at = std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                                   [](const std::byte* b, const Range& r) { return b < r.begin; });
  ranges_.insert(at, {begin, bytes, std::move(name), {}});
}

void AddressRanges::erase(const std::byte* begin) {
  std::erase_if(ranges_, [&](const Range& range) { return range.begin == begin; });
}

bool AddressRanges::contains(const void* address, std::size_t bytes) const {
  const auto* first = static_cast<const std::byte*>(address);
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), first,
                       [](const std::byte* b, const Range& r) { return b < r.begin; });
  if (after == ranges_.begin()) return false;
  const Range& range = *(after - 1);
  const auto offset = static_cast<std::size_t>(first - range.begin);
  if (offset > range.bytes || bytes > range.bytes - offset) return false;
  if (!range.touched.empty()) {
    std::fill_n(range.touched.begin() + static_cast<std::ptrdiff_t>(offset), bytes, true);
  }
  return true;
}

void AddressRanges::note_touched() {
  for (Range& range : ranges_) range.touched.assign(range.bytes, false);
}

std::uint64_t AddressRanges::touched() const {
  std::uint64_t bytes = 0;
  for (const Range& range : ranges_) {
    bytes +=
        static_cast<std::uint64_t>(std::count(range.touched.begin(), range.touched.end(), true));
  }
  return bytes;
}

std::string AddressRanges::nearest(const void* address) const {
  const auto* first = static_cast<const std::byte*>(address);
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), first,
                       [](const std::byte* b, const Range& r) { return b < r.begin; });
  if (after == ranges_.begin()) return "below every buffer";
  const Range& range = *(after - 1);
  return fmt::format("byte {} of buffer {}, which has {}", first - range.begin, range.name,
                     range.bytes);
}

}  // namespace logos::cuda::host
