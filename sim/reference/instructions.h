#pragma once

#include <string_view>
#include <vector>

namespace logos::reference {

/// Vector instructions that the exact integer loops may use. All give the same sums.
enum class Instructions { kPlain, kAvx2, kAvx512, kAvx512Vnni };

std::string_view name_of(Instructions instructions);  ///< "plain", "avx2", "avx512", "avx512_vnni"

/// Those that this processor has, slowest first; never empty.
std::vector<Instructions> available_instructions();

/// The fastest of them.
Instructions best_instructions();

}  // namespace logos::reference
