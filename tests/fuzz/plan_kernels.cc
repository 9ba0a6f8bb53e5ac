// Clang 14 lacks the std::source_location of the kernels' host executor. A plan's launches are
// computed here and never made, so a table of kernels without kernels is enough.
#include "cuda/kernels/table.h"

namespace logos::cuda {

const Kernels& kernels() {
  static constexpr Kernels kTable = {};
  return kTable;
}

}  // namespace logos::cuda
