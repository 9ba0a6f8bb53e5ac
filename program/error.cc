#include "program/error.h"

#include <fmt/format.h>

namespace logos {

Error::Error(std::string_view where, std::string_view what)
    : std::runtime_error(fmt::format("{}: {}", where, what)) {}

Error::Error(std::string_view where, std::string_view what, std::string_view got,
             std::string_view want)
    : std::runtime_error(fmt::format("{}: {}; got {}, want {}", where, what, got, want)) {}

}  // namespace logos
