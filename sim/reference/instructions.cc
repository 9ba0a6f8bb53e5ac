#include "sim/reference/instructions.h"

#include "program/check.h"

namespace logos::reference {

std::string_view name_of(Instructions instructions) {
  switch (instructions) {
    case Instructions::kPlain:
      return "plain";
    case Instructions::kAvx2:
      return "avx2";
    case Instructions::kAvx512:
      return "avx512";
    case Instructions::kAvx512Vnni:
      return "avx512_vnni";
  }
  CHECK_UNREACHABLE();
}

std::vector<Instructions> available_instructions() {
  std::vector<Instructions> available = {Instructions::kPlain};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) available.push_back(Instructions::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    available.push_back(Instructions::kAvx512);
    if (__builtin_cpu_supports("avx512vnni")) available.push_back(Instructions::kAvx512Vnni);
  }
#endif
  return available;
}

Instructions best_instructions() { return available_instructions().back(); }

}  // namespace logos::reference
