#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/driver.h"
#include "cuda/machine.h"

namespace logos::cuda {

/// The kernels for one architecture: machine code (`sm_90`, `sm_90a`) or PTX (`compute_80`), which
/// the driver compiles for devices that no machine code fits. PTX ends in a zero byte.
struct Cubin {
  std::string_view architecture;
  std::span<const std::byte> image;
  bool is_ptx = false;
};

/// What was built into this program; empty where no nvcc was found.
std::vector<Cubin> embedded_cubins();

/// The best image for a device of compute capability major.minor: machine code of the same major
/// and the highest minor up to it (an `a` image only where both are equal), else PTX that is not
/// newer. Null where none fits.
const Cubin* best_cubin(std::span<const Cubin> cubins, int major, int minor);

struct DeviceOptions {
  std::string driver = "libcuda.so.1";
  std::vector<Cubin> cubins = embedded_cubins();
};

/// The first GPU that the driver shows. Throws DeviceError in one line where there is none, the
/// driver is missing, too old or fails in any way, or no image fits; its other calls throw it, too.
/// (cuda/machine_keeper.h lets the host take over then.)
std::unique_ptr<Machine> open_device(const DeviceOptions& options);

}  // namespace logos::cuda
