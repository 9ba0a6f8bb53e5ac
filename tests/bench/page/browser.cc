#include "tests/bench/page/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace logos::bench {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(60);

/// The child's side after fork: the pipe is descriptors 3 (in) and 4 (out).
[[noreturn]] void execute(int in, int out, const std::string& profile) {
  const int kept_in = ::fcntl(in, F_DUPFD, 10);
  const int kept_out = ::fcntl(out, F_DUPFD, 10);
  ::dup2(kept_in, 3);
  ::dup2(kept_out, 4);
  ::close(kept_in);
  ::close(kept_out);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
  ::setsid();  // its processes are one group, ended together
  const std::string folder = "--user-data-dir=" + profile;
  // Tests run as root in containers, where its sandbox cannot be built and /dev/shm is small.
  ::execl(LOGOS_CHROMIUM, LOGOS_CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
          "--disable-dev-shm-usage", "--disable-extensions", "--no-first-run", folder.c_str(),
          "--remote-debugging-pipe", "about:blank", static_cast<char*>(nullptr));
  ::_exit(127);
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Browser::Browser() {
  std::string folder = (std::filesystem::temp_directory_path() / "logos-browser-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  profile_ = folder;
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe failed");
  }
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("fork failed");
  if (child_ == 0) execute(to[0], from[1], profile_.string());
  ::close(to[0]);
  ::close(from[1]);
  to_ = to[1];
  from_ = from[0];
  try {
    attach();
  } catch (...) {
    end();
    throw;
  }
}

void Browser::attach() {
  const Json page = command("Target.createTarget", {{"url", "about:blank"}}).at("targetId");
  session_ = command("Target.attachToTarget", {{"targetId", page}, {"flatten", true}})
                 .at("sessionId")
                 .get<std::string>();
  for (const char* domain : {"Page", "Runtime", "Log", "Network"}) {
    command(std::string(domain) + ".enable");
  }
}

Browser::~Browser() { end(); }

void Browser::end() {
  ::close(to_);  // it ends when its pipe does
  int status = 0;
  for (int waited = 0; waited < 100 && ::waitpid(child_, &status, WNOHANG) == 0; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ::kill(-child_, SIGKILL);  // what is left of its own group
  ::waitpid(child_, &status, 0);
  ::close(from_);
  std::error_code ignored;
  std::filesystem::remove_all(profile_, ignored);
}

nlohmann::json Browser::read_message() {
  const auto deadline = Clock::now() + kPatience;
  std::size_t end = 0;
  while ((end = buffer_.find('\0')) == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd waiting{from_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
      throw std::runtime_error("the browser does not answer");
    }
    std::array<char, 65536> bytes{};
    const ssize_t got = ::read(from_, bytes.data(), bytes.size());
    if (got <= 0) throw std::runtime_error("the browser has ended");
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  Json message = Json::parse(buffer_.substr(0, end));
  buffer_.erase(0, end + 1);
  return message;
}

void Browser::note(const nlohmann::json& event) {
  const std::string method = event.value("method", "");
  const Json& parameters = event.value("params", Json::object());
  if (method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown" ||
      method == "Log.entryAdded" || method == "Page.javascriptDialogOpening") {
    complaints_.push_back(method + ": " + parameters.dump());
  } else if (method == "Network.requestWillBeSent") {
    requests_.push_back(text_of(parameters.at("request").at("url")));
  }
}

nlohmann::json Browser::command(const std::string& method, const nlohmann::json& parameters) {
  Json message = {{"id", ++last_id_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump();
  for (std::size_t sent = 0; sent <= text.size();) {  // with the NUL that ends it
    const ssize_t wrote = ::write(to_, text.c_str() + sent, text.size() + 1 - sent);
    if (wrote <= 0) throw std::runtime_error("the browser does not listen");
    sent += static_cast<std::size_t>(wrote);
  }
  while (true) {
    const Json answer = read_message();
    if (answer.value("id", 0) != last_id_) {
      note(answer);
      continue;
    }
    if (answer.contains("error")) throw std::runtime_error(method + ": " + answer.dump());
    return answer.at("result");
  }
}

nlohmann::json Browser::evaluate(const std::string& expression) {
  const Json result =
      command("Runtime.evaluate",
              {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (result.contains("exceptionDetails")) {
    throw std::runtime_error(expression + ": " + result.at("exceptionDetails").dump());
  }
  return result.at("result").value("value", Json());
}

void Browser::wait_for(const std::string& expression) {
  const auto deadline = Clock::now() + kPatience;
  while (evaluate(expression) != true) {
    if (Clock::now() > deadline) throw std::runtime_error("never true: " + expression);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void Browser::open(const std::filesystem::path& file, const Screen& screen) {
  command("Emulation.setDeviceMetricsOverride", {{"width", screen.width},
                                                 {"height", screen.height},
                                                 {"deviceScaleFactor", 1},
                                                 {"mobile", screen.width < 600}});
  command("Emulation.setEmulatedMedia",
          {{"features",
            {{{"name", "prefers-color-scheme"}, {"value", screen.dark ? "dark" : "light"}}}}});
  complaints_.clear();
  requests_.clear();
  const std::string address = "file://" + std::filesystem::absolute(file).string();
  command("Page.navigate", {{"url", address}});
  wait_for("document.readyState === 'complete' && location.href === " + Json(address).dump());
  // Charts draw themselves once their room is known: two frames later.
  evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

void Browser::press(const std::string& key) {
  Json event = {{"type", "keyDown"}, {"key", key}, {"code", key}};
  if (key == "Enter") event.update({{"text", "\r"}, {"windowsVirtualKeyCode", 13}});
  if (key == "Tab") event["windowsVirtualKeyCode"] = 9;
  if (key == "ArrowRight") event["windowsVirtualKeyCode"] = 39;
  if (key == "ArrowDown") event["windowsVirtualKeyCode"] = 40;
  command("Input.dispatchKeyEvent", event);
  command("Input.dispatchKeyEvent", {{"type", "keyUp"}, {"key", key}, {"code", key}});
  evaluate("new Promise(done => requestAnimationFrame(done))");
}

}  // namespace logos::bench
