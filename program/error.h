#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace logos {

/// Everything a user can cause: a bad file, option, text or size. Thrown anywhere, caught once in
/// `main`, printed as "where: what; got X, want Y". Broken invariants of our own use CHECK instead.
/// The message is one line of valid UTF-8 of bounded length whatever a file holds: control
/// characters and other bytes stand in it as `\x1b`.
class Error : public std::runtime_error {
 public:
  /// `where` names the place (file, file:line:column, key, tensor, option), `what` the fault.
  Error(std::string_view where, std::string_view what);
  /// The same with the value found and the value wanted.
  Error(std::string_view where, std::string_view what, std::string_view got, std::string_view want);
};

}  // namespace logos
