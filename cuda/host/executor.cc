#include "cuda/host/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>

#include "program/check.h"

/// `extern __shared__ __align__(128) unsigned char smem[];` of every kernel (cuda/host/simt.h).
__attribute__((
    aligned(128))) constinit thread_local unsigned char smem[logos::cuda::kMaxSharedBytes] = {};

namespace logos::cuda::host {

constinit thread_local Current current;

namespace {

std::string place_text(const Place& place) { return fmt::format("{}:{}", place.file, place.line); }

std::string_view name_of(Collective kind) {
  switch (kind) {
    case Collective::kSync:
      return "__syncwarp";
    case Collective::kShuffle:
      return "a shuffle";
    case Collective::kBallot:
      return "a vote";
    case Collective::kMaxU32:
      return "a warp maximum";
    case Collective::kSumS64:
      return "a warp sum";
    case Collective::kMmaS8:
      return "mma s8.s8";
    case Collective::kMmaU8:
      return "mma u8.s8";
  }
  CHECK_UNREACHABLE();
}

/// Unwinds the thread at fault down to Executor::work.
struct Abandoned {};

constexpr std::uint64_t kMmaMacs = 16 * 8 * 32;

bool is_mma(Collective kind) { return kind == Collective::kMmaS8 || kind == Collective::kMmaU8; }

/// Visits 0 … count-1 in steps of a number that has no divisor in common with count, from a random
/// start: an order that costs nothing to keep.
struct Stride {
  std::uint64_t start;
  std::uint64_t step;
};
Stride random_stride(std::uint64_t count, std::uint64_t random) {
  std::uint64_t step = 1 + (random >> 32) % count;
  while (std::gcd(step, count) != 1) ++step;
  return {random % count, step % count};
}

}  // namespace

Executor::Executor(ExecutorOptions options)
    : options_(options), fibers_(&Executor::worker_entry, this), random_state_(options.seed) {}

/// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t Executor::random() {
  std::uint64_t z = (random_state_ += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Counters Executor::run(std::string_view name, const LaunchShape& shape, void (*body)(const void*),
                       const void* args, bool early_exit, const AddressRanges* ranges) {
  check_shape(name, shape);
  CHECK(current.executor == nullptr);  // kernels do not launch kernels
  if (host_thread_ == std::thread::id()) host_thread_ = std::this_thread::get_id();
  CHECK(host_thread_ == std::this_thread::get_id());
  name_ = name;
  body_ = body;
  args_ = args;
  early_exit_ = early_exit;
  thread_count_ = static_cast<std::uint32_t>(shape.block.count());
  threads_.resize(thread_count_);
  warps_.resize((thread_count_ + kWarpThreads - 1) / kWarpThreads);
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    Thread& thread = threads_[i];
    thread.linear = i;
    thread.lane = i % kWarpThreads;
    thread.warp = &warps_[i / kWarpThreads];
    thread.index = {i % shape.block.x, i / shape.block.x % shape.block.y,
                    i / (shape.block.x * shape.block.y)};
    thread.warp->first = i / kWarpThreads * kWarpThreads;
  }
  current = {};
  current.executor = this;
  current.ranges = ranges;
  current.block_dim = shape.block;
  current.grid_dim = shape.grid;
  const std::uint64_t blocks = shape.grid.count();
  const Stride stride = random_stride(blocks, random());
  std::uint64_t block = stride.start;
  for (std::uint64_t n = 0; n < blocks && !faulted_; ++n) {
    current.block_index = {static_cast<std::uint32_t>(block % shape.grid.x),
                           static_cast<std::uint32_t>(block / shape.grid.x % shape.grid.y),
                           static_cast<std::uint32_t>(block / shape.grid.x / shape.grid.y)};
    std::memset(smem, options_.shared_fill, shape.shared_bytes);
    run_block();
    block += stride.step;
    if (block >= blocks) block -= blocks;
  }
  const Counters counters = current.counters;
  current = {};
  if (faulted_) {
    faulted_ = false;
    fibers_.restart_all();
    throw KernelFault(std::exchange(fault_, {}));
  }
  return counters;
}

/// Warp after warp (so that few stacks are in use at a time), warps and lanes in random order.
void Executor::start_order() {
  order_.resize(thread_count_);
  if (options_.mix_warps) {
    std::iota(order_.begin(), order_.end(), 0U);
    for (std::uint32_t i = thread_count_; i > 1; --i) {
      std::swap(order_[i - 1], order_[random() % i]);
    }
    return;
  }
  const Stride warp_stride = random_stride(warps_.size(), random());
  std::uint64_t warp = warp_stride.start;
  std::size_t at = 0;
  for (std::size_t n = 0; n < warps_.size(); ++n) {
    const std::uint32_t first = warps_[warp].first;
    const std::uint32_t lanes = std::min(kWarpThreads, thread_count_ - first);
    const Stride lane_stride = random_stride(lanes, random());
    std::uint64_t lane = lane_stride.start;
    for (std::uint32_t i = 0; i < lanes; ++i) {
      order_[at++] = first + static_cast<std::uint32_t>(lane);
      lane += lane_stride.step;
      if (lane >= lanes) lane -= lanes;
    }
    warp += warp_stride.step;
    if (warp >= warps_.size()) warp -= warps_.size();
  }
}

void Executor::run_block() {
  start_order();
  for (Warp& warp : warps_) {
    const std::uint32_t lanes = std::min(kWarpThreads, thread_count_ - warp.first);
    warp.alive = lanes == kWarpThreads ? ~0U : (1U << lanes) - 1;
    warp.waiting = 0;
    warp.groups_used = 0;
  }
  for (Thread& thread : threads_) {
    thread.fiber = nullptr;
    thread.at_barrier = false;
    thread.copies.clear();
  }
  started_ = 0;
  alive_ = thread_count_;
  ready_begin_ = ready_end_ = 0;
  at_barrier_.clear();
  barriers_ = 0;
  current.thread = next_thread();
  running_ = current.thread->fiber = fibers_.take();
  Fiber::switch_from_to(host_, *running_);
  current.counters.barriers += barriers_;
  current.counters.barriers_per_block = std::max(current.counters.barriers_per_block, barriers_);
}

void Executor::worker_entry(void* self) { static_cast<Executor*>(self)->work(); }

/// What every fiber does: runs the thread it was given to its end, then the next one that has not
/// started; where a thread waits that can go on, the fiber goes back to the pool and that thread's
/// fiber goes on. After a fault the launch is over: run() restarts every fiber.
void Executor::work() {
  for (;;) {
    Thread* next = nullptr;
    try {
      body_(args_);
      finish_thread();
      next = next_thread();
      if (next == nullptr && alive_ != 0) {
        fault(fmt::format("not all threads reach a barrier or warp operation: {}",
                          waiting_threads()));
      }
    } catch (const Abandoned&) {
      CHECK(faulted_);
    } catch (const std::exception& error) {
      note_fault(fmt::format("threw {}", error.what()));
    }
    if (faulted_) next = nullptr;
    Fiber* mine = running_;
    if (next != nullptr && next->fiber == nullptr) {
      current.thread = next;
      next->fiber = mine;
      continue;
    }
    fibers_.give_back(mine);
    current.thread = next;
    running_ = next == nullptr ? &host_ : next->fiber;
    Fiber::switch_from_to(*mine, *running_);
  }
}

void Executor::finish_thread() {
  Thread& thread = *current.thread;
  Warp& warp = *thread.warp;
  warp.alive &= ~(1U << thread.lane);
  --alive_;
  if (!at_barrier_.empty()) {
    if (!early_exit_) {
      fault(fmt::format("not all threads reach a barrier: this one returned while {}",
                        waiting_threads()));
    }
    if (at_barrier_.size() == alive_) release_barrier();
  }
  for (std::uint32_t i = 0; i < warp.groups_used;) {
    const Group& group = warp.groups[i];
    if (group.arrived == (group.mask & warp.alive)) {
      complete(warp, i);
    } else {
      ++i;
    }
  }
}

Thread* Executor::next_thread() {
  if (ready_begin_ != ready_end_) return ready_[ready_begin_++ & (kMaxBlockThreads - 1)];
  if (started_ < thread_count_) return &threads_[order_[started_++]];
  return nullptr;
}

/// Leaves the running thread, which waits, for the next one that can run.
void Executor::wait() {
  Thread* self = current.thread;
  Thread* next = next_thread();
  if (next == nullptr) {
    fault(fmt::format("not all threads reach a barrier or warp operation: {}", waiting_threads()));
  }
  if (next->fiber == nullptr) next->fiber = fibers_.take();
  current.thread = next;
  running_ = next->fiber;
  Fiber::switch_from_to(*self->fiber, *next->fiber);
}

void Executor::barrier(Place place) {
  Thread& thread = *current.thread;
  if (at_barrier_.empty()) {
    barrier_place_ = place;
  } else if (place.line != barrier_place_.line ||
             (place.file != barrier_place_.file &&
              std::strcmp(place.file, barrier_place_.file) != 0)) {
    fault(fmt::format("divergent barrier: this thread is at the barrier of {} while {}",
                      place_text(place), waiting_threads()));
  }
  if (alive_ != thread_count_ && !early_exit_) {
    fault(fmt::format("not all threads reach the barrier of {}: {} of {} have returned",
                      place_text(place), thread_count_ - alive_, thread_count_));
  }
  if (at_barrier_.size() + 1 == alive_) {
    release_barrier();
    return;
  }
  thread.at_barrier = true;
  at_barrier_.push_back(&thread);
  wait();
}

/// Lets the waiting threads go on, in an order that begins anywhere.
void Executor::release_barrier() {
  ++barriers_;
  if (at_barrier_.empty()) return;
  const std::size_t count = at_barrier_.size();
  std::size_t at = static_cast<std::size_t>(random() % count);
  for (std::size_t n = 0; n < count; ++n) {
    at_barrier_[at]->at_barrier = false;
    ready(at_barrier_[at]);
    if (++at == count) at = 0;
  }
  at_barrier_.clear();
}

Group& Executor::group_of(Warp& warp, std::uint32_t mask, Collective kind, int tiles, Place place) {
  const std::uint32_t bit = 1U << current.thread->lane;
  if ((mask & bit) == 0) {
    fault(fmt::format("{} at {}: the mask {:#010x} leaves out the lane itself", name_of(kind),
                      place_text(place), mask));
  }
  if (is_mma(kind) && (mask & warp.alive) != ~0U) {
    fault(fmt::format("{} at {}: not all 32 lanes take part", name_of(kind), place_text(place)));
  }
  for (std::uint32_t i = 0; i < warp.groups_used; ++i) {
    Group& group = warp.groups[i];
    if ((group.mask & mask) == 0) continue;
    if (group.mask != mask || group.kind != kind || group.tiles != tiles) {
      fault(
          fmt::format("divergent warp: this lane is in {} of mask {:#010x} at {}, while lanes "
                      "{:#010x} wait in {} of mask {:#010x} at {}",
                      name_of(kind), mask, place_text(place), group.arrived, name_of(group.kind),
                      group.mask, place_text(group.place)));
    }
    return group;
  }
  Group& group = warp.groups[warp.groups_used++];
  group = {mask, 0, kind, tiles, place};
  return group;
}

void Executor::collective(std::uint32_t mask, Collective kind, Place place, int tiles) {
  Thread& thread = *current.thread;
  Warp& warp = *thread.warp;
  Group* group = &warp.groups[0];
  // The common case: one group, and this lane belongs to it.
  if (warp.groups_used != 1 || group->mask != mask || group->kind != kind ||
      group->tiles != tiles || (mask >> thread.lane & 1) == 0) {
    group = &group_of(warp, mask, kind, tiles, place);
  }
  group->arrived |= 1U << thread.lane;
  if (group->arrived == (mask & warp.alive)) {
    complete(warp, static_cast<std::uint32_t>(group - &warp.groups[0]));
  } else {
    wait();
  }
}

/// Computes the operation for every lane of the group and lets the others go on.
void Executor::complete(Warp& warp, std::uint32_t index) {
  const Group group = warp.groups[index];
  warp.groups[index] = warp.groups[--warp.groups_used];
  ++current.counters.collectives;
  const std::uint32_t lanes = group.arrived;
  const auto for_each = [lanes](auto&& visit) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      visit(static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  };
  const auto give = [&](std::uint64_t result) {
    for_each([&](std::uint32_t lane) { warp.result[lane] = result; });
  };
  switch (group.kind) {
    case Collective::kSync:
      break;
    case Collective::kShuffle:
      for_each([&](std::uint32_t lane) {
        const std::uint32_t source = warp.source[lane];
        if ((lanes >> source & 1) == 0) {
          fault(fmt::format("a shuffle at {}: lane {} reads lane {}, which does not take part",
                            place_text(group.place), lane, source));
        }
        warp.result[lane] = warp.value[source];
      });
      break;
    case Collective::kBallot: {
      std::uint64_t votes = 0;
      for_each([&](std::uint32_t lane) { votes |= (warp.value[lane] & 1) << lane; });
      give(votes);
      break;
    }
    case Collective::kMaxU32: {
      std::uint64_t highest = 0;
      for_each([&](std::uint32_t lane) { highest = std::max(highest, warp.value[lane]); });
      give(highest);
      break;
    }
    case Collective::kSumS64: {
      std::uint64_t sum = 0;  // modulo 2^64, as on a device
      for_each([&](std::uint32_t lane) { sum += warp.value[lane]; });
      give(sum);
      break;
    }
    case Collective::kMmaS8:
    case Collective::kMmaU8:
      multiply_fragments(warp.mma, group.tiles, group.kind == Collective::kMmaU8);
      current.counters.traffic.int8_macs += kMmaMacs * static_cast<unsigned>(group.tiles);
      current.counters.traffic.tensor_macs += kMmaMacs * static_cast<unsigned>(group.tiles);
      break;
  }
  const Thread* self = current.thread;
  for_each([&](std::uint32_t lane) {
    Thread* thread = &threads_[warp.first + lane];
    if (thread != self) ready(thread);
  });
}

std::string Executor::waiting_threads() const {
  std::string text;
  if (!at_barrier_.empty()) {
    text = fmt::format("{} of {} threads wait at the barrier of {} (thread {} for one)",
                       at_barrier_.size(), thread_count_, place_text(barrier_place_),
                       at_barrier_.front()->linear);
  }
  for (const Warp& warp : warps_) {
    for (std::uint32_t i = 0; i < warp.groups_used; ++i) {
      const Group& group = warp.groups[i];
      text += fmt::format("{}lanes {:#010x} of warp {} wait in {} of mask {:#010x} at {}",
                          text.empty() ? "" : "; ", group.arrived, warp.first / kWarpThreads,
                          name_of(group.kind), group.mask, place_text(group.place));
    }
  }
  return text;
}

void Executor::note_fault(std::string_view what) {
  const Index3& block = current.block_index;
  const Index3& thread = current.thread->index;
  fault_ =
      fmt::format("kernel {}, block ({}, {}, {}), thread ({}, {}, {}), seed {}: {}", name_, block.x,
                  block.y, block.z, thread.x, thread.y, thread.z, options_.seed, what);
  faulted_ = true;
}

void Executor::fault(std::string_view what) {
  note_fault(what);
  throw Abandoned{};
}

void Executor::fault_address(const void* address, std::size_t bytes) {
  fault(fmt::format("access of {} bytes outside every buffer: {}", bytes,
                    current.ranges->nearest(address)));
}

void Executor::copy_later(void* shared, const void* global) {
  current.thread->copies.emplace_back(shared, global);
}

void Executor::copy_commit() { current.thread->copies.emplace_back(nullptr, nullptr); }

void Executor::copy_wait(int pending) {
  auto& copies = current.thread->copies;
  auto groups = std::count_if(copies.begin(), copies.end(),
                              [](const auto& copy) { return copy.first == nullptr; });
  auto at = copies.begin();
  for (; groups > pending; ++at) {
    if (at->first == nullptr) {
      --groups;
    } else {
      std::memcpy(at->first, at->second, 16);
    }
  }
  copies.erase(copies.begin(), at);
}

}  // namespace logos::cuda::host
