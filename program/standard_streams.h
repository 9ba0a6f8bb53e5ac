#pragma once

#include <string_view>

namespace logos {

/// What a program's `main` does first. Closed standard descriptors are opened on nothing: else the
/// next file that is opened would take their numbers, and remarks would go into it. (Input is then
/// empty, output refuses to be written, remarks go nowhere.) A closed pipe and a limit of a file's
/// size become errors of the write that meets them, not signals.
void prepare_standard_streams();

/// Throws Error where nothing can be written to standard output because it is closed or open for
/// reading only: that is known before any work.
void check_standard_output();

/// Writes all of it to standard output. Throws Error with the cause (a closed pipe, a full disk).
void write_standard_output(std::string_view text);

/// Writes to standard error. Where that cannot be written there is nobody to tell: no error.
void write_standard_error(std::string_view text) noexcept;

}  // namespace logos
