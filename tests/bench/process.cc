#include "tests/bench/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>

namespace logos::bench {
namespace {

/// The child's side after fork: never returns.
[[noreturn]] void execute(const std::vector<std::string>& arguments, const Launch& launch) {
  const char* program = launch.altered ? LOGOS_ALTERED_BENCH : LOGOS_BENCH;
  ::setenv("LOGOS_STORE", LOGOS_TEST_STORE, 1);
  ::unsetenv("NO_COLOR");
  for (const auto& [name, value] : launch.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (launch.file_bytes) {
    const rlimit limit{*launch.file_bytes, *launch.file_bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> pointers = {const_cast<char*>(program)};
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  for (const int descriptor : launch.closed) ::close(descriptor);
  ::execv(program, pointers.data());
  ::_exit(127);
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Reads several descriptors until all are at their end.
void read_all(const std::vector<std::pair<int, std::string*>>& sources) {
  std::vector<pollfd> waiting;
  waiting.reserve(sources.size());
  for (const auto& source : sources) waiting.push_back({source.first, POLLIN, 0});
  std::size_t open = waiting.size();
  while (open > 0) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = ::read(waiting[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        sources[i].second->append(buffer.data(), static_cast<std::size_t>(got));
      } else {  // the end; a terminal reports it as an error
        ::close(waiting[i].fd);
        waiting[i].fd = -1;
        --open;
      }
    }
  }
}

Ended run_on_terminal(const std::vector<std::string>& arguments, const Launch& launch) {
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
  if (child < 0) throw std::runtime_error("forkpty failed");
  if (child == 0) execute(arguments, launch);
  Ended ended;
  read_all({{master, &ended.out}});
  ended.status = status_of(child);
  return ended;
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  return ends;
}

}  // namespace

Ended run_bench(const std::vector<std::string>& arguments, const Launch& launch) {
  if (launch.terminal) return run_on_terminal(arguments, launch);
  const std::array<int, 2> out = make_pipe();
  const std::array<int, 2> err = make_pipe();
  const bool closed = launch.standard_output == "closed";
  const bool file = !launch.standard_output.empty() && !closed;
  if (closed) ::close(out[0]);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    ::dup2(file ? ::open(launch.standard_output.c_str(), O_WRONLY) : out[1], STDOUT_FILENO);
    const std::string& error = launch.standard_error;
    ::dup2(error.empty() ? err[1] : ::open(error.c_str(), O_WRONLY), STDERR_FILENO);
    execute(arguments, launch);
  }
  ::close(out[1]);
  ::close(err[1]);
  Ended ended;
  if (closed) {
    read_all({{err[0], &ended.err}});
  } else {
    read_all({{out[0], &ended.out}, {err[0], &ended.err}});
  }
  ended.status = status_of(child);
  return ended;
}

std::string at_file(const std::filesystem::path& file) { return fmt::format("@{}", file.string()); }

std::string test_store() { return LOGOS_TEST_STORE; }

}  // namespace logos::bench
