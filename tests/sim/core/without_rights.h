#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/sim/core/temporary_folder.h"

namespace logos {

/// Runs `action` in a child without root's rights; the message of its Error comes back, "" for
/// none.
inline std::string error_without_rights(const std::function<void()>& action) {
  constexpr uid_t kNobody = 65534;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool dropped = getuid() != 0 || setuid(kNobody) == 0;
    const std::string error = dropped ? error_of(action) : "rights not dropped";
    const bool sent = write(ends[1], error.data(), error.size()) == ssize_t(error.size());
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  std::string error(4096, '\0');
  const ssize_t size = read(ends[0], error.data(), error.size());
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  error.resize(size < 0 ? 0 : std::size_t(size));
  return error;
}

}  // namespace logos
