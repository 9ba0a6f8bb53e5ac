#include "cuda/device.h"

namespace logos::cuda {

// Built where no nvcc works.
std::vector<Cubin> embedded_cubins() { return {}; }

}  // namespace logos::cuda
