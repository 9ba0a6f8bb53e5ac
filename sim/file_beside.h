#pragma once

#include <filesystem>

namespace logos {

/// A new file beside another, to be renamed into its place: so that the other changes whole or not
/// at all. A lock held on it ends with the process, however that ends; what a killed one left is
/// removed by the next that writes into the folder.
class FileBeside {
 public:
  /// Removes what killed processes left in the folder. Throws Error with path and cause.
  explicit FileBeside(const std::filesystem::path& file);
  ~FileBeside();  ///< removes it unless it was renamed
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;

  int descriptor() const { return descriptor_; }
  /// Returns 0 or errno.
  int rename_into_place();

 private:
  std::filesystem::path file_;
  std::filesystem::path name_;  ///< empty when it is in place
  int descriptor_ = -1;
};

/// Removes the files that FileBeside made in the folder and whose process is gone.
void remove_abandoned_files(const std::filesystem::path& folder);

}  // namespace logos
