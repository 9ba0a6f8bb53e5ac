#include "program/error.h"

#include <fmt/format.h>

#include "program/printable.h"

namespace logos {
namespace {

// A path and a tensor's name fit; a file's whole content does not.
constexpr std::size_t kLongestPlace = 6000;
constexpr std::size_t kLongestPart = 1200;

std::string part(std::string_view text, std::size_t most = kLongestPart) {
  return escaped(shortened(text, most));
}

}  // namespace

Error::Error(std::string_view where, std::string_view what)
    : std::runtime_error(
          fmt::format("{}: {}", part(where, kLongestPlace), part(what, kLongestPlace))) {}

Error::Error(std::string_view where, std::string_view what, std::string_view got,
             std::string_view want)
    : std::runtime_error(fmt::format("{}: {}; got {}, want {}", part(where, kLongestPlace),
                                     part(what), part(got), part(want))) {}

}  // namespace logos
