#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/sim/core/temporary_folder.h"

namespace logos {

/// A temporary folder for packed stores, named by LOGOS_STORE while it lives.
class StoreFolder : public TemporaryFolder {
 public:
  StoreFolder() { setenv("LOGOS_STORE", path().c_str(), 1); }
  ~StoreFolder() { unsetenv("LOGOS_STORE"); }

  /// The only file in it.
  std::filesystem::path only_file() const {
    return entries() == 1 ? std::filesystem::directory_iterator(path())->path()
                          : std::filesystem::path();
  }
};

}  // namespace logos
