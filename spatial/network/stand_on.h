#pragma once

#include <cstddef>

namespace logos::spatial {

// SystemC's kernel changes stacks without telling AddressSanitizer, which then leaves the marks of
// frames that an exception has passed and takes them for others' later. Whoever goes on after such
// a change says where it stands. In builds without the sanitizer these do nothing.

/// Goes on in a kernel's thread, whose stack begins at `bottom`.
void stand_on(const void* bottom, std::size_t bytes);
/// The same at its very beginning, where marks of an earlier stack in this place may be left.
void stand_on_new(const void* bottom, std::size_t bytes);
/// Goes on in what called the kernel, and in its methods.
void stand_on_own();

}  // namespace logos::spatial
