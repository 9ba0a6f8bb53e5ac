#include "program/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "program/error.h"

namespace logos {
namespace {

/// Writes all; returns 0 or errno.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // a descriptor that another program made non-blocking
      pollfd waiting{descriptor, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF; }

[[noreturn]] void fail_output(int error) {
  throw Error("standard output",
              fmt::format("cannot write: {}", std::generic_category().message(error)));
}

}  // namespace

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // In this order each open takes the lowest free number, the closed one.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (is_open(descriptor)) continue;
    // For reading only: what is written to a closed standard output is an error (EBADF).
    const int opened = ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != descriptor) ::close(opened);
  }
}

void check_standard_output() {
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (flags == -1) fail_output(errno);
  if ((flags & O_ACCMODE) == O_RDONLY) fail_output(EBADF);
}

void write_standard_output(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0) fail_output(error);
}

void write_standard_error(std::string_view text) noexcept { write_all(STDERR_FILENO, text); }

}  // namespace logos
