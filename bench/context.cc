#include "bench/context.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/Version.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "bench/build_facts.h"

namespace logos::bench {
namespace {

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

BuildFacts build_facts() {
  BuildFacts facts;
  facts.version = LOGOS_VERSION;
  facts.compiler = compiler_text();
  facts.build_type = LOGOS_BUILD_TYPE;
  if (!std::string_view(LOGOS_GIT_COMMIT).empty()) {
    facts.git_commit = LOGOS_GIT_COMMIT;
    facts.git_dirty = LOGOS_GIT_DIRTY != 0;
  }
  return facts;
}

HostFacts host_facts() {
  HostFacts facts;
  utsname system{};
  if (::uname(&system) == 0) {
    facts.name = system.nodename;
    facts.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  facts.cpu = cpu_name();
  facts.threads = std::thread::hardware_concurrency();
  return facts;
}

std::vector<Library> libraries() {
  return {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                              FMT_VERSION % 100)},
          {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                        NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
          {"cli11", CLI11_VERSION},
          {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)}};
}

std::string version_text() {
  const BuildFacts facts = build_facts();
  std::string text =
      fmt::format("Logos Workbench {} ({}, {}", facts.version, facts.compiler, facts.build_type);
  if (facts.git_commit) {
    text += fmt::format(", commit {}{}", *facts.git_commit, *facts.git_dirty ? ", changed" : "");
  }
  text += ")\n";
  for (const Library& library : libraries()) {
    text += fmt::format("{} {}\n", library.name, library.version);
  }
  return text;
}

}  // namespace logos::bench
