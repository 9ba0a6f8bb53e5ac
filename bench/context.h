#pragma once

#include <optional>
#include <string>
#include <vector>

namespace logos::bench {

/// What a result must say of the program and machine that gave it, beside the model.
struct BuildFacts {
  std::string version;                    ///< of the workbench
  std::string compiler;                   ///< name and version
  std::string build_type;                 ///< Release, Debug, …
  std::optional<std::string> git_commit;  ///< null where it was built outside a repository
  std::optional<bool> git_dirty;          ///< tracked files differed from the commit
};
BuildFacts build_facts();

struct HostFacts {
  std::string name;
  std::string system;  ///< kernel name, release, machine
  std::string cpu;     ///< model name; "unknown" where the system does not say
  unsigned threads = 0;
};
HostFacts host_facts();

/// Name and version of each library that takes part in a result.
struct Library {
  std::string name;
  std::string version;
};
std::vector<Library> libraries();

std::string version_text();  ///< for --version, several lines

}  // namespace logos::bench
