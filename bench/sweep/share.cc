#include "bench/sweep/share.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "bench/option_values.h"
#include "program/error.h"

namespace logos::bench {
namespace {

using Get = std::function<const char*(const char*)>;

std::optional<std::int64_t> read(const Get& get, const char* name, std::int64_t least) {
  const char* text = get(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return number<std::int64_t>(name, text, least);
}

Share checked(std::string_view name, std::int64_t rank, std::int64_t size) {
  if (rank < size) return {rank, size};
  throw Error(name, "beyond the number of processes", fmt::to_string(rank),
              fmt::format("below {}", size));
}

Share of_mpirun(const Get& get) {
  const auto rank = read(get, "OMPI_COMM_WORLD_RANK", 0);
  const auto size = read(get, "OMPI_COMM_WORLD_SIZE", 1);
  if (!rank && !size) return {};
  if (!rank) throw Error("OMPI_COMM_WORLD_RANK", "missing beside OMPI_COMM_WORLD_SIZE");
  if (!size) throw Error("OMPI_COMM_WORLD_SIZE", "missing beside OMPI_COMM_WORLD_RANK");
  return checked("OMPI_COMM_WORLD_RANK", *rank, *size);
}

/// A job array's ids go from MIN in steps of STEP.
Share of_slurm(const Get& get) {
  const auto id = read(get, "SLURM_ARRAY_TASK_ID", 0);
  const auto count = read(get, "SLURM_ARRAY_TASK_COUNT", 1);
  if (!id && !count) return {};
  if (!id) throw Error("SLURM_ARRAY_TASK_ID", "missing beside SLURM_ARRAY_TASK_COUNT");
  if (!count) throw Error("SLURM_ARRAY_TASK_COUNT", "missing beside SLURM_ARRAY_TASK_ID");
  const std::int64_t least = read(get, "SLURM_ARRAY_TASK_MIN", 0).value_or(0);
  const std::int64_t step = read(get, "SLURM_ARRAY_TASK_STEP", 1).value_or(1);
  // Ids of a list (--array=1,5,7) have no place of their own: any share will do, the history sees
  // to it that no point runs twice.
  return {(std::max(*id - least, std::int64_t{0}) / step) % *count, *count};
}

}  // namespace

Share share_of_environment(const Get& get) {
  const Share inner = of_mpirun(get);
  const Share outer = of_slurm(get);
  return {outer.rank * inner.size + inner.rank, outer.size * inner.size};
}

}  // namespace logos::bench
