#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace logos {

/// The bytes of a regular file. Throws Error with both sizes where it has more than `most_bytes`.
std::string read_text_file(const std::filesystem::path& file, std::uint64_t most_bytes);

}  // namespace logos
