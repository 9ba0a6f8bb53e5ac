#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace logos {

/// Writes a file whole or not at all: to a temporary name beside it (FileBeside), then renamed.
/// What is no regular file (a pipe, a device) is written in place. Throws Error with path and cause
/// (a missing parent, a directory in its place, no permission, a full disk).
void write_whole_file(const std::filesystem::path& file, std::string_view bytes);

/// Throws what `write_whole_file` would throw before any work is done, as far as that can be known:
/// parent, kind, permission. Leaves nothing behind.
void check_writable(const std::filesystem::path& file);

/// Reads a regular file. Throws Error with path and cause.
std::string read_whole_file(const std::filesystem::path& file);

}  // namespace logos
