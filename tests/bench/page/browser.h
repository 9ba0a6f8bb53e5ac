#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace logos::bench {

/// How a page is looked at.
struct Screen {
  int width = 1280;  ///< pixels
  int height = 900;
  bool dark = false;
};

/// A headless Chromium, driven over its DevTools pipe. Everything that does not answer in a minute
/// throws std::runtime_error.
class Browser {
 public:
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Loads a file and waits until it has drawn itself.
  void open(const std::filesystem::path& file, const Screen& screen = {});

  /// The value of an expression, awaited where it is a promise.
  nlohmann::json evaluate(const std::string& expression);

  /// One key as a person presses it: "Tab", "Enter", "ArrowRight".
  void press(const std::string& key);

  /// A command of the DevTools protocol to the page.
  nlohmann::json command(const std::string& method,
                         const nlohmann::json& parameters = nlohmann::json::object());

  /// What the console, the log and failed scripts said since the page was opened.
  const std::vector<std::string>& complaints() const { return complaints_; }
  /// The addresses that the page asked for, itself first.
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  void attach();
  void end();
  nlohmann::json read_message();
  void note(const nlohmann::json& event);
  void wait_for(const std::string& expression);

  pid_t child_ = -1;
  int to_ = -1;
  int from_ = -1;
  int last_id_ = 0;
  std::string session_;
  std::string buffer_;
  std::filesystem::path profile_;
  std::vector<std::string> complaints_;
  std::vector<std::string> requests_;
};

}  // namespace logos::bench
