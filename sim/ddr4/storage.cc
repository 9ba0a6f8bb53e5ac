#include "sim/ddr4/storage.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "program/check.h"
#include "program/error.h"

namespace logos::ddr4 {
namespace {

constexpr std::uint64_t kAllBytes = ~std::uint64_t{0};

/// The mixing function of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

void store_little_endian(std::uint64_t value, int bytes, std::byte* to) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint64_t line_base(std::uint64_t address) { return address & ~std::uint64_t{kLineBytes - 1}; }

}  // namespace

Storage::Storage(std::uint64_t bytes, const FillPattern& fill)
    : bytes_(bytes), fill_(fill), folders_((bytes + kFolderBytes - 1) / kFolderBytes) {
  CHECK(bytes % kLineBytes == 0);
  for (int i = 0; i < kLineBytes; i += 4) store_little_endian(fill.word, 4, &constant_line_[i]);
}

void Storage::fill_line(std::uint64_t address, std::byte* line) const {
  if (!fill_.noise) {
    std::memcpy(line, constant_line_.data(), kLineBytes);
    return;
  }
  for (std::uint64_t i = 0; i < kLineBytes; i += 8) {
    store_little_endian(mix(mix(fill_.seed) ^ (line_base(address) + i)), 8, line + i);
  }
}

std::byte* Storage::new_page() {
  constexpr std::size_t kSlabBytes = kSlabPages * kPageBytes;
  if (pages_ % kSlabPages == 0) {
    slabs_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kSlabBytes, kSlabBytes)));
    if (slabs_.back() == nullptr) throw std::bad_alloc();
    // Only a wish: streams touch a new page every 64 lines, and a miss of the TLB is dear.
    madvise(slabs_.back().get(), kSlabBytes, MADV_HUGEPAGE);
  }
  return slabs_.back().get() + pages_++ % kSlabPages * kPageBytes;
}

std::byte* Storage::page_for_writing(std::uint64_t address, bool filled) {
  Folder& folder = folders_[address / kFolderBytes];
  if (folder == nullptr) folder = std::make_unique<Folder::element_type>();
  std::byte*& page = (*folder)[address / kPageBytes % kFolderPages];
  if (page != nullptr) return page;
  page = new_page();
  const std::uint64_t base = address - address % kPageBytes;
  for (std::uint64_t at = 0; filled && at < kPageBytes; at += kLineBytes) {
    fill_line(base + at, page + at);
  }
  return page;
}

void Storage::read_line(std::uint64_t address, Line& line) const {
  const std::byte* page = page_of(address);
  if (page == nullptr) {
    fill_line(address, line.data());
    return;
  }
  std::memcpy(line.data(), page + line_base(address) % kPageBytes, kLineBytes);
}

void Storage::write_line(std::uint64_t address, const Line& line, std::uint64_t byte_enable) {
  if (page_of(address) == nullptr) {
    // What changes nothing needs no page: streams of the fill's own lines cost no memory.
    Line before;
    fill_line(address, before.data());
    if (before == line) return;
  }
  std::byte* to = page_for_writing(address) + line_base(address) % kPageBytes;
  if (byte_enable == kAllBytes) {
    std::memcpy(to, line.data(), kLineBytes);
    return;
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((byte_enable >> i & 1U) != 0) to[i] = line[i];
  }
}

void Storage::check_range(std::uint64_t address, std::size_t count) const {
  if (address <= bytes_ && count <= bytes_ - address) return;
  throw Error("ddr4", "range leaves the memory", fmt::format("{} bytes at {:#x}", count, address),
              fmt::format("an end not above {:#x}", bytes_));
}

void Storage::read(std::uint64_t address, std::span<std::byte> to) const {
  check_range(address, to.size());
  while (!to.empty()) {
    Line line;
    read_line(address, line);
    const std::size_t offset = address % kLineBytes;
    const std::size_t count = std::min(to.size(), kLineBytes - offset);
    std::memcpy(to.data(), line.data() + offset, count);
    address += count;
    to = to.subspan(count);
  }
}

void Storage::write(std::uint64_t address, std::span<const std::byte> from) {
  check_range(address, from.size());
  while (!from.empty()) {
    const std::uint64_t offset = address % kPageBytes;
    const std::size_t count = std::min<std::size_t>(from.size(), kPageBytes - offset);
    std::memcpy(page_for_writing(address, count != kPageBytes) + offset, from.data(), count);
    address += count;
    from = from.subspan(count);
  }
}

}  // namespace logos::ddr4
