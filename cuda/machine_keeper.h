#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "cuda/device.h"
#include "cuda/host/host_machine.h"
#include "cuda/machine.h"

namespace logos::cuda {

/// The weights of one store on a machine: uploaded when first asked for and kept, or, where the
/// machine reads this host's memory, the store's own bytes.
class WeightMemory {
 public:
  WeightMemory(Machine& machine, std::string weights_sha256, bool alias)
      : machine_(machine), weights_sha256_(std::move(weights_sha256)), alias_(alias) {}

  const std::string& weights_sha256() const { return weights_sha256_; }
  /// Where `bytes` lie for kernels, which only read them. `name` is theirs alone in the store.
  std::byte* place(const std::string& name, std::span<const std::byte> bytes);

 private:
  Machine& machine_;
  std::string weights_sha256_;
  bool alias_;
  std::map<std::string, Buffer> uploaded_;
};

/// Keeps the machine of a lane from run to run: a GPU's context and the weights in its memory, the
/// host executor's fibers. Nothing of it shows in a result. Runs of one lane take turns.
class MachineKeeper {
 public:
  using Work = std::function<void(Machine&, WeightMemory&)>;

  struct Request {
    const DeviceOptions* device = nullptr;  ///< null: the host only
    HostOptions host;
    bool copy_weights = false;  ///< on the host, too
    std::string weights_sha256;
  };

  /// On a GPU where one works, else, and where it fails in the middle, on the host. `say` receives
  /// the one line which way and why.
  void run(const Request& request, const Work& work,
           const std::function<void(const std::string&)>& say);

 private:
  struct Kept {
    std::unique_ptr<Machine> machine;
    std::unique_ptr<WeightMemory> weights;  // goes first
    void reset() {
      weights.reset();
      machine.reset();
    }
  };

  void run_on(Kept& kept, const Request& request, bool alias, const Work& work);
  bool run_on_device(const Request& request, const Work& work,
                     const std::function<void(const std::string&)>& say);

  std::mutex mutex_;
  Kept device_;
  std::optional<std::string> no_device_;  ///< why, once that is known
  Kept host_;
  HostOptions host_options_;
  std::thread::id host_thread_;  ///< fibers stay on the thread that made them
};

}  // namespace logos::cuda
