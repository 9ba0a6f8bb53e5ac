#include "tests/bench/started.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace logos::bench {
namespace {

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Started::Started(const std::vector<std::string>& arguments, const std::filesystem::path& output) {
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("fork failed");
  if (child_ > 0) return;
  ::setenv("LOGOS_STORE", test_store().c_str(), 1);
  ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
  std::vector<char*> pointers = {const_cast<char*>(LOGOS_BENCH)};
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  ::execv(LOGOS_BENCH, pointers.data());
  ::_exit(127);
}

Started::~Started() {
  if (child_ > 0) {
    kill();
    wait();
  }
}

void Started::kill() { ::kill(child_, SIGKILL); }

int Started::wait() {
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return exit_status(status);
}

Ended run_shell(const std::string& command) {
  const std::string whole =
      fmt::format("export LOGOS_STORE='{}'; {{ {}; }} 2>&1", test_store(), command);
  FILE* pipe = ::popen(whole.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  Ended ended;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ended.out.append(buffer.data(), got);
  }
  ended.status = exit_status(::pclose(pipe));
  return ended;
}

std::string bench_in_shell() { return fmt::format("'{}'", LOGOS_BENCH); }

}  // namespace logos::bench
