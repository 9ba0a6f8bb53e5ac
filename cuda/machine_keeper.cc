#include "cuda/machine_keeper.h"

#include <utility>

namespace logos::cuda {
namespace {

bool same(const HostOptions& a, const HostOptions& b) {
  return a.executor.seed == b.executor.seed && a.executor.shared_fill == b.executor.shared_fill &&
         a.executor.mix_warps == b.executor.mix_warps && a.memory_fill == b.memory_fill &&
         a.guard_bytes == b.guard_bytes && a.check_addresses == b.check_addresses &&
         a.count_touched == b.count_touched && a.check_traffic == b.check_traffic &&
         a.reason == b.reason;
}

}  // namespace

std::byte* WeightMemory::place(const std::string& name, std::span<const std::byte> bytes) {
  if (alias_) return const_cast<std::byte*>(bytes.data());  // NOLINT: kernels only read it
  const auto found = uploaded_.find(name);
  if (found != uploaded_.end() && found->second.bytes() == bytes.size()) {
    return found->second.data();
  }
  Buffer buffer = machine_.allocate(bytes.size(), name);
  if (!bytes.empty()) machine_.upload(buffer.data(), bytes);
  std::byte* data = buffer.data();
  uploaded_.insert_or_assign(name, std::move(buffer));
  return data;
}

void MachineKeeper::run_on(Kept& kept, const Request& request, bool alias, const Work& work) {
  if (kept.weights == nullptr || kept.weights->weights_sha256() != request.weights_sha256) {
    kept.weights.reset();
    kept.weights = std::make_unique<WeightMemory>(*kept.machine, request.weights_sha256, alias);
  }
  kept.machine->clear_records();
  work(*kept.machine, *kept.weights);
}

bool MachineKeeper::run_on_device(const Request& request, const Work& work,
                                  const std::function<void(const std::string&)>& say) {
  if (request.device == nullptr || no_device_) return false;
  try {
    if (device_.machine == nullptr) device_.machine = open_device(*request.device);
    run_on(device_, request, /*alias=*/false, work);
    say(device_.machine->description());
    return true;
  } catch (const DeviceError& error) {
    no_device_ = error.what();
    device_.reset();
    return false;
  }
}

void MachineKeeper::run(const Request& request, const Work& work,
                        const std::function<void(const std::string&)>& say) {
  const std::lock_guard lock(mutex_);
  if (run_on_device(request, work, say)) return;
  HostOptions options = request.host;
  if (no_device_) options.reason = *no_device_;
  const bool kept = host_.machine != nullptr && same(options, host_options_) &&
                    host_thread_ == std::this_thread::get_id();
  if (!kept) {
    host_.reset();
    host_.machine = std::make_unique<HostMachine>(options);
    host_options_ = options;
    host_thread_ = std::this_thread::get_id();
  }
  say(host_.machine->description());
  try {
    run_on(host_, request, !request.copy_weights, work);
  } catch (...) {
    host_.reset();  // a kernel at fault leaves no machine that another run may trust
    throw;
  }
}

}  // namespace logos::cuda
