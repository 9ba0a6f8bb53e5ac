#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/timing.h"

namespace logos::cuda {

/// A grid or block in CUDA's sense.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

/// Traffic and work of a launch. A launcher declares from shapes what device memory has to give and
/// take: each useful byte once, however many threads ask for it. The host executor counts what the
/// threads ask for, each time that they do (cuda/kernels/primitives.cuh says which helper counts
/// what); what is asked for again comes from the caches. Tests hold the declared bytes to the bytes
/// that a kernel touches, and the declared products to the counted ones.
struct Traffic {
  std::uint64_t weight_bytes = 0;  ///< packed weights read from device memory
  std::uint64_t kv_bytes = 0;      ///< keys, values and their exponents, read or written
  std::uint64_t other_bytes = 0;   ///< activations and everything else, read or written
  std::uint64_t int8_macs = 0;     ///< 8 x 8 bit multiply-adds: dp4a 4, mma m16n8k32 4096
  std::uint64_t fp32_ops = 0;      ///< operations of the binary32 and int32 units (see count_fp32)
  std::uint64_t tensor_macs = 0;   ///< those of int8_macs that mma makes, on the tensor cores
  /// Declared alone, and not part of bytes(): what further tiles of rows read again of the weights,
  /// keys and values. The second-level cache gives it where they fit.
  std::uint64_t again_bytes = 0;

  std::uint64_t bytes() const { return weight_bytes + kv_bytes + other_bytes; }
  Traffic& operator+=(const Traffic& other);
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// What the host executor counted in one launch.
struct Counters {
  Traffic traffic;
  std::uint64_t barriers = 0;            ///< block barriers completed, over all blocks
  std::uint64_t barriers_per_block = 0;  ///< the most that one block completed
  std::uint64_t collectives = 0;         ///< warp-wide operations completed, over all warps
  /// Different bytes that the helpers accessed; where HostOptions::count_touched asks for it.
  std::uint64_t touched_bytes = 0;
};

/// A kernel: its `extern "C"` symbol in the cubins, and the same source compiled for the host.
/// Every kernel takes one trivially copyable argument struct by value, so that host and device
/// take the same bytes. Make one with `kernel<&symbol>("symbol")`, or LOGOS_KERNEL(symbol).
struct Kernel {
  std::string_view name;
  void (*host)(const void* args);
  std::size_t args_bytes;
  /// Threads may return before a block barrier that the others reach (hardware lets them). Without
  /// it the executor reports such a barrier as one that not all threads reach.
  bool early_exit = false;
};

namespace detail {
template <typename Function>
struct KernelArgs;
template <typename Args>
struct KernelArgs<void (*)(Args)> {
  using Type = std::remove_cv_t<Args>;
};
}  // namespace detail

template <auto kFunction>
constexpr Kernel kernel(std::string_view name, bool early_exit = false) {
  using Args = typename detail::KernelArgs<decltype(kFunction)>::Type;
  static_assert(std::is_trivially_copyable_v<Args>, "kernel arguments are plain bytes");
  return {name, [](const void* args) { kFunction(*static_cast<const Args*>(args)); }, sizeof(Args),
          early_exit};
}

#define LOGOS_KERNEL(symbol) (::logos::cuda::kernel<&(symbol)>(#symbol))

/// Limits of every architecture we build for; a launch beyond them is refused by check_shape.
inline constexpr std::uint32_t kWarpThreads = 32;
inline constexpr std::uint32_t kMaxBlockThreads = 1024;
inline constexpr std::uint32_t kMaxGridX = 0x7FFFFFFF;
inline constexpr std::uint32_t kMaxGridYz = 65535;
inline constexpr std::size_t kMaxSharedBytes = 99 * 1024;  ///< sm_89 and sm_120, the smallest
inline constexpr std::size_t kMaxArgumentBytes = 4096;

/// How a kernel is launched.
struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
};

/// Throws Error naming the kernel, the dimension and its limit. Grids of zero blocks are refused.
void check_shape(std::string_view kernel, const LaunchShape& shape);

class Machine;

/// Memory of a machine, freed with the object. The address is valid inside kernels; on a device it
/// is not on the host. Addresses are multiples of 256 bytes.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Machine& machine, std::byte* data, std::size_t bytes)
      : machine_(&machine), data_(data), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  Machine* machine_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// One launch as it was made; what the time model reads.
struct LaunchRecord {
  std::string_view kernel;
  LaunchShape shape;
  Traffic declared;
  std::optional<Counters> counted;  ///< by the host executor only
};

/// A place where kernels run: this host (cuda/host/host_machine.h) or a GPU (cuda/device.h). Every
/// call may throw Error; on a device every return code is checked. Not thread-safe.
class Machine {
 public:
  virtual ~Machine() = default;

  /// One line: which machine and why this one.
  virtual std::string description() const = 0;
  /// kMeasured on a device, kModelled on the host.
  virtual TimeClass time_class() const = 0;

  /// Memory with undefined contents (the host fills it with a pattern). `name` is for messages.
  virtual Buffer allocate(std::size_t bytes, std::string_view name) = 0;

  /// In order with the launches. `to`, `from` lie inside buffers of this machine.
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void fill(std::byte* to, std::uint8_t value, std::size_t bytes) = 0;

  /// `args` is the kernel's argument struct; its bytes are copied.
  template <typename Args>
  void launch(const Kernel& kernel, const LaunchShape& shape, const Args& args,
              const Traffic& declared) {
    static_assert(std::is_trivially_copyable_v<Args>);
    launch_bytes(kernel, shape, std::as_bytes(std::span<const Args, 1>(&args, 1)), declared);
  }
  virtual void launch_bytes(const Kernel& kernel, const LaunchShape& shape,
                            std::span<const std::byte> args, const Traffic& declared) = 0;

  /// Waits for every launch; faults of kernels are thrown here at the latest.
  virtual void synchronize() = 0;

  /// On a device: records the launches that `launches` makes into a graph (only launches and fills
  /// are allowed in it), replays it `replays` times between events and gives the median seconds.
  /// The launches must be repeatable: the same inputs give the same outputs. Null on the host,
  /// which does not call `launches`.
  virtual std::optional<double> median_seconds(const std::function<void()>& launches,
                                               int replays) = 0;

  /// The launches since the last call of clear_records, in order.
  const std::vector<LaunchRecord>& records() const { return records_; }
  void clear_records() { records_.clear(); }

 protected:
  friend class Buffer;
  virtual void release(std::byte* data) noexcept = 0;

  std::vector<LaunchRecord> records_;
};

}  // namespace logos::cuda
