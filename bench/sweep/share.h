#pragma once

#include <cstdint>
#include <functional>

namespace logos::bench {

/// Which of the processes that a launcher started this one is.
struct Share {
  std::int64_t rank = 0;
  std::int64_t size = 1;
};

/// From the environment that Open MPI's mpirun (OMPI_COMM_WORLD_RANK, _SIZE) and Slurm's job arrays
/// (SLURM_ARRAY_TASK_ID, _MIN, _STEP, _COUNT) set; both together multiply; neither: one process.
/// `get` reads a variable, null where it is unset. Throws Error naming a variable that is no number
/// or is missing beside its twin.
Share share_of_environment(const std::function<const char*(const char*)>& get);

}  // namespace logos::bench
