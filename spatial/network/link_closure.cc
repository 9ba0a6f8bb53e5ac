#include "spatial/network/link_closure.h"

#include <string>

#include "program/error.h"

namespace logos::spatial {

LinkClosure::LinkClosure(std::uint64_t seed, std::int32_t closed_of_256, Cycles origin)
    : seed_(scatter(seed)), share_(static_cast<std::uint64_t>(closed_of_256)), origin_(origin) {
  if (closed_of_256 >= 0 && closed_of_256 <= 255) return;
  throw Error("links", "closed cycles of 256 are out of range", std::to_string(closed_of_256),
              "0 to 255");
}

}  // namespace logos::spatial
