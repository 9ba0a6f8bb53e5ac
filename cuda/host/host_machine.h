#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/host/executor.h"
#include "cuda/machine.h"

namespace logos::cuda {

struct HostOptions {
  host::ExecutorOptions executor = {};
  /// What memory holds before anything is written to it (`fill` of a run).
  std::uint32_t memory_fill = 0xA5A5A5A5;
  /// Bytes of a known pattern before and behind each buffer, looked at after each launch. 0 leaves
  /// them out, so that AddressSanitizer sees the ends of the buffers. A multiple of 8.
  std::size_t guard_bytes = 256;
  /// Looks up every address that the helpers of cuda/kernels/primitives.cuh access (slower).
  bool check_addresses = false;
  /// With check_addresses: Counters::touched_bytes of each launch (slower still).
  bool count_touched = false;
  /// Throws KernelFault where a launch's declared traffic is not what its kernel counted.
  bool check_traffic = false;
  /// Why the kernels run on this host; shown in `description`.
  std::string reason = "asked for";
};

/// Runs the kernels on this host, one launch after the other. Throws host::KernelFault.
class HostMachine : public Machine {
 public:
  explicit HostMachine(HostOptions options = {});
  ~HostMachine() override;

  std::string description() const override;
  TimeClass time_class() const override { return TimeClass::kModelled; }
  Buffer allocate(std::size_t bytes, std::string_view name) override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void fill(std::byte* to, std::uint8_t value, std::size_t bytes) override;
  void launch_bytes(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> args,
                    const Traffic& declared) override;
  void synchronize() override {}
  std::optional<double> median_seconds(const std::function<void()>& launches, int replays) override;

 protected:
  void release(std::byte* data) noexcept override;

 private:
  struct Block;
  void check_inside(const std::byte* address, std::size_t bytes, std::string_view what) const;
  void check_guards(std::string_view kernel) const;

  HostOptions options_;
  host::Executor executor_;
  host::AddressRanges ranges_;
  std::map<const std::byte*, std::unique_ptr<Block>> blocks_;
};

}  // namespace logos::cuda
