#include "cuda/host/host_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "program/check.h"
#include "program/divide_up.h"

namespace logos::cuda {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::uint64_t kGuardWord = 0xC0DEFACE5EA1ED0F;

/// Offset of the first byte that is not the pattern's, or `bytes`.
std::size_t first_changed(const std::byte* guard, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto want = static_cast<std::byte>(kGuardWord >> (8 * (i % 8)));
    if (guard[i] != want) return i;
  }
  return bytes;
}

bool intact(const std::byte* guard, std::size_t bytes) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < bytes; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, guard + i, 8);
    difference |= word ^ kGuardWord;
  }
  return difference == 0;
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

}  // namespace

/// `[front guard][data][tail guard]`; the front guard is padded so that data is aligned.
struct HostMachine::Block {
  std::string name;
  std::size_t bytes = 0;
  std::unique_ptr<std::byte, Free> memory;
  std::byte* data = nullptr;
};

HostMachine::HostMachine(HostOptions options)
    : options_(std::move(options)), executor_(options_.executor) {
  CHECK(options_.guard_bytes % 8 == 0);
}

// Buffers outlive nothing: they hold a pointer to this machine.
HostMachine::~HostMachine() { CHECK(blocks_.empty()); }

std::string HostMachine::description() const {
  return fmt::format("kernels run on this host ({})", options_.reason);
}

Buffer HostMachine::allocate(std::size_t bytes, std::string_view name) {
  const std::size_t front = round_up(options_.guard_bytes, kAlignment);
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  auto block = std::make_unique<Block>();
  block->name = name;
  block->bytes = bytes;
  void* memory = nullptr;
  // At least one byte, so that empty buffers have addresses of their own.
  if (posix_memalign(&memory, kAlignment,
                     front + std::max<std::size_t>(bytes, 1) + options_.guard_bytes) != 0) {
    throw std::bad_alloc();
  }
  block->memory.reset(static_cast<std::byte*>(memory));
  block->data = block->memory.get() + front;
  for (std::size_t i = 0; i < bytes; ++i) {
    block->data[i] = static_cast<std::byte>(options_.memory_fill >> (8 * (i % 4)));
  }
  for (std::size_t i = 0; i < options_.guard_bytes; i += 8) {
    std::memcpy(block->data - options_.guard_bytes + i, &kGuardWord, 8);
    std::memcpy(block->data + bytes + i, &kGuardWord, 8);
  }
  std::byte* data = block->data;
  ranges_.insert(data, bytes, block->name);
  blocks_.emplace(data, std::move(block));
  return Buffer(*this, data, bytes);
}

void HostMachine::release(std::byte* data) noexcept {
  ranges_.erase(data);
  blocks_.erase(data);
}

void HostMachine::check_inside(const std::byte* address, std::size_t bytes,
                               std::string_view what) const {
  if (bytes != 0 && !ranges_.contains(address, bytes)) {
    throw host::KernelFault(fmt::format("{} of {} bytes outside every buffer: {}", what, bytes,
                                        ranges_.nearest(address)));
  }
}

void HostMachine::upload(std::byte* to, std::span<const std::byte> from) {
  check_inside(to, from.size(), "upload");
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

void HostMachine::download(std::span<std::byte> to, const std::byte* from) {
  check_inside(from, to.size(), "download");
  if (!to.empty()) std::memcpy(to.data(), from, to.size());
}

void HostMachine::fill(std::byte* to, std::uint8_t value, std::size_t bytes) {
  check_inside(to, bytes, "fill");
  if (bytes != 0) std::memset(to, value, bytes);
}

void HostMachine::check_guards(std::string_view kernel) const {
  const std::size_t guard = options_.guard_bytes;
  for (const auto& [data, block] : blocks_) {
    const std::byte* front = data - guard;
    const std::byte* tail = data + block->bytes;
    if (intact(front, guard) && intact(tail, guard)) continue;
    const std::size_t behind = first_changed(tail, guard);
    const std::string where = behind < guard ? fmt::format("{} bytes behind its end", behind)
                                             : fmt::format("{} bytes before its begin",
                                                           guard - first_changed(front, guard));
    throw host::KernelFault(
        fmt::format("kernel {}, seed {}: wrote outside buffer {} of {} bytes: {}", kernel,
                    options_.executor.seed, block->name, block->bytes, where));
  }
}

void HostMachine::launch_bytes(const Kernel& kernel, const LaunchShape& shape,
                               std::span<const std::byte> args, const Traffic& declared) {
  CHECK(args.size() == kernel.args_bytes && kernel.args_bytes <= kMaxArgumentBytes);
  const host::AddressRanges* ranges = options_.check_addresses ? &ranges_ : nullptr;
  if (options_.count_touched) ranges_.note_touched();
  Counters counted =
      executor_.run(kernel.name, shape, kernel.host, args.data(), kernel.early_exit, ranges);
  if (options_.count_touched) counted.touched_bytes = ranges_.touched();
  check_guards(kernel.name);
  if (options_.check_traffic && !(counted.traffic == declared)) {
    const auto text = [](const Traffic& t) {
      return fmt::format(
          "weight_bytes {} kv_bytes {} other_bytes {} int8_macs {} tensor_macs {} fp32_ops {}",
          t.weight_bytes, t.kv_bytes, t.other_bytes, t.int8_macs, t.tensor_macs, t.fp32_ops);
    };
    throw host::KernelFault(fmt::format("kernel {}: declared traffic {} but counted {}",
                                        kernel.name, text(declared), text(counted.traffic)));
  }
  records_.push_back({kernel.name, shape, declared, counted});
}

std::optional<double> HostMachine::median_seconds(const std::function<void()>&, int) {
  return std::nullopt;
}

}  // namespace logos::cuda
