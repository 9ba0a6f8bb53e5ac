#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/host/address_ranges.h"
#include "cuda/host/fiber.h"
#include "cuda/host/mma.h"
#include "cuda/host/place.h"
#include "cuda/machine.h"

namespace logos::cuda::host {

/// A kernel did what no GPU promises to survive: a barrier that not all threads reach, a divergent
/// warp operation, an access outside a buffer. The message names kernel, block, thread, place and
/// the seed of the schedule.
class KernelFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ExecutorOptions {
  std::uint64_t seed = 1;  ///< of the order of blocks, warps and threads
  /// Byte that dynamic shared memory holds when a block begins (`fill` of a run).
  std::uint8_t shared_fill = 0xA5;
  /// Threads of different warps start in one mixed order instead of warp after warp (slower).
  bool mix_warps = false;
};

struct Index3 {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
};

/// The warp-wide operations; all lanes of a mask must be in the same one.
enum class Collective : std::uint8_t { kSync, kShuffle, kBallot, kMaxU32, kSumS64, kMmaS8, kMmaU8 };

/// Lanes of one mask that wait for each other.
struct Group {
  std::uint32_t mask = 0;
  std::uint32_t arrived = 0;
  Collective kind = Collective::kSync;
  int tiles = 0;  ///< of an mma
  Place place;
};

struct Warp {
  std::uint32_t first = 0;  ///< index of its lane 0 in the block
  std::uint32_t alive = 0;  ///< lanes that exist and have not returned
  std::uint32_t waiting = 0;
  std::uint32_t groups_used = 0;
  Group groups[kWarpThreads];  ///< disjoint masks
  std::uint64_t value[kWarpThreads];
  std::uint32_t source[kWarpThreads];
  std::uint64_t result[kWarpThreads];
  MmaOperands mma[kWarpThreads];
};

/// One CUDA thread of the block that is running.
struct Thread {
  Index3 index;
  std::uint32_t linear = 0;
  std::uint32_t lane = 0;
  Warp* warp = nullptr;
  Fiber* fiber = nullptr;  ///< null until it starts
  bool at_barrier = false;
  /// Copies under way; a null destination ends a group.
  std::vector<std::pair<void*, const void*>> copies;
};

class Executor;

/// What the CUDA names (cuda/host/simt.h) stand on: the thread that is running on this host thread,
/// its place in the grid, and the counters of the launch. The only mutable state outside of
/// objects: `threadIdx` is a global name in a kernel. It means nothing outside of a launch.
struct Current {
  Thread* thread = nullptr;
  Executor* executor = nullptr;
  const AddressRanges* ranges = nullptr;  ///< null: addresses are not checked
  Index3 block_index;
  Dim3 block_dim;
  Dim3 grid_dim;
  Counters counters;
};
extern constinit thread_local Current current;

/// Runs kernels on the calling host thread: one fiber per CUDA thread, one block at a time.
///
/// A thread runs until it waits; then the next one that can run goes on, and when none can and some
/// still wait, the kernel is at fault. The last lane to arrive at a warp operation computes it for
/// all and goes on without a switch. Threads that never wait share one fiber. An executor stays on
/// the host thread of its first launch, since its fibers hold addresses of that thread's variables.
class Executor {
 public:
  explicit Executor(ExecutorOptions options = {});

  /// Runs `body(args)` once per thread of the grid. Throws KernelFault.
  Counters run(std::string_view name, const LaunchShape& shape, void (*body)(const void*),
               const void* args, bool early_exit = false, const AddressRanges* ranges = nullptr);

  const ExecutorOptions& options() const { return options_; }

  // Called from inside a kernel, through cuda/host/simt.h.

  /// Waits for the lanes of `mask`; on return, result[lane] is this lane's.
  void collective(std::uint32_t mask, Collective kind, Place place, int tiles = 0);
  void barrier(Place place);
  [[noreturn]] void fault(std::string_view what);
  /// An access outside of every buffer.
  [[noreturn]] void fault_address(const void* address, std::size_t bytes);
  /// cp.async of 16 bytes: carried out when the thread waits for its group.
  void copy_later(void* shared, const void* global);
  void copy_commit();
  void copy_wait(int pending);

 private:
  static void worker_entry(void* self);
  void note_fault(std::string_view what);
  [[noreturn]] void work();
  void run_block();
  void start_order();
  void finish_thread();
  Group& group_of(Warp& warp, std::uint32_t mask, Collective kind, int tiles, Place place);
  void complete(Warp& warp, std::uint32_t index);
  void release_barrier();
  Thread* next_thread();
  void wait();
  std::string waiting_threads() const;
  std::uint64_t random();

  void ready(Thread* thread) { ready_[ready_end_++ & (kMaxBlockThreads - 1)] = thread; }

  ExecutorOptions options_;
  FiberPool fibers_;
  Fiber host_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::uint64_t random_state_;
  std::thread::id host_thread_;

  // The launch
  std::string_view name_;
  void (*body_)(const void*) = nullptr;
  const void* args_ = nullptr;
  bool early_exit_ = false;
  // The block
  std::uint32_t thread_count_ = 0;
  std::vector<std::uint32_t> order_;
  std::uint32_t started_ = 0;
  std::uint32_t alive_ = 0;
  Thread* ready_[kMaxBlockThreads];
  std::uint32_t ready_begin_ = 0;
  std::uint32_t ready_end_ = 0;
  std::vector<Thread*> at_barrier_;
  Place barrier_place_;
  std::uint64_t barriers_ = 0;
  Fiber* running_ = nullptr;
  std::string fault_;
  bool faulted_ = false;
};

/// The launch for code that has no Machine: `launch(executor, "name", shape, kernel, arguments…)`.
template <typename... Parameters, typename... Arguments>
Counters launch(Executor& executor, std::string_view name, const LaunchShape& shape,
                void (*kernel)(Parameters...), Arguments... arguments) {
  const auto call = [&] { kernel(arguments...); };
  using Call = decltype(call);
  return executor.run(
      name, shape, [](const void* body) { (*static_cast<const Call*>(body))(); }, &call, true);
}

}  // namespace logos::cuda::host
