#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace logos {

/// What a name stands for while a text is unrolled: a value of the program, or a whole number.
struct Binding {
  int value = -1;            ///< into Program::values
  std::int64_t integer = 0;  ///< where value is -1
};

/// The names of one call of a function, or of `## Main`: a scope for the body and one for every
/// loop around the statement at hand.
class Frame {
 public:
  explicit Frame(bool is_main) : is_main_(is_main) {}

  bool is_main() const { return is_main_; }

  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }

  /// Null where the frame does not have the name.
  Binding* find(std::string_view name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) return &found->second;
    }
    return nullptr;
  }
  void bind(const std::string& name, Binding binding) { scopes_.back()[name] = binding; }

 private:
  bool is_main_;
  std::vector<std::map<std::string, Binding, std::less<>>> scopes_ =
      std::vector<std::map<std::string, Binding, std::less<>>>(1);
};

}  // namespace logos
