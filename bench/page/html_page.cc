#include "bench/page/html_page.h"

#include <string_view>

#include "bench/page/assets.h"

namespace logos::bench {
namespace {

/// Text between tags, or an attribute's value in double quotes.
std::string escaped_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

/// JSON that may stand inside a script element: what could end the element or open a comment
/// (HTML, 4.12.1.3) stands only inside strings, where JSON may write it as \u….
std::string script_json(const nlohmann::ordered_json& object) {
  const std::string plain =
      object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  for (const char c : plain) {
    switch (c) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += c;
    }
  }
  return text;
}

/// Valid UTF-8, as the JSON has it.
std::string title_of(const nlohmann::ordered_json& document) {
  const auto clean = nlohmann::ordered_json::parse(
      document.at("title").dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return escaped_html(clean.get<std::string>());
}

/// The skeleton with each `{{name}}` replaced, in order of appearance; what is put in is not read
/// again.
std::string filled(std::string_view skeleton,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> parts) {
  std::string page;
  for (const auto& [name, value] : parts) {
    const std::size_t at = skeleton.find(name);
    page += skeleton.substr(0, at);
    page += value;
    skeleton.remove_prefix(at + name.size());
  }
  page += skeleton;
  return page;
}

}  // namespace

std::string html_page(const nlohmann::ordered_json& document) {
  return filled(page_asset("page.html"), {{"{{title}}", title_of(document)},
                                          {"{{style}}", page_asset("style.css")},
                                          {"{{license}}", page_asset("d3.license")},
                                          {"{{d3}}", page_asset("d3.js")},
                                          {"{{document}}", script_json(document)},
                                          {"{{script}}", page_asset("page.js")}});
}

}  // namespace logos::bench
