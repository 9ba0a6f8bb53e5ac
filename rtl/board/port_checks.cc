#include "rtl/board/port_checks.h"

#include <fmt/format.h>

#include "program/error.h"

namespace logos::d5005 {
namespace {

// Reads of the host answer in any order, so each has a tag of its own; all are single beats.
constexpr AxiChecker::Rules kHostRules{1, false, true, true};
constexpr std::uint64_t kCsrCycles = 100;

}  // namespace

PortChecks::PortChecks() : host_("host", kHostRules), csr_("csr", kCsrCycles) {
  for (std::size_t b = 0; b < kBankPorts; ++b) {
    banks_.emplace_back(fmt::format("bank {}", b), AxiChecker::Rules{});
  }
}

void PortChecks::finish() {
  const auto check_end = [](auto& checker) {
    checker.finish();
    report(checker.faults());
  };
  for (AxiChecker& bank : banks_) check_end(bank);
  check_end(host_);
  check_end(csr_);
}

void PortChecks::report(const std::vector<std::string>& faults) {
  if (!faults.empty()) throw Error("board sim: port", faults.front());
}

}  // namespace logos::d5005
