#pragma once

#include <string_view>

namespace logos::bench {

/// A file that the build has put into the program: "page.html", "style.css", "page.js" (ours),
/// "d3.js" (the charts' library, BSD), "d3.license".
std::string_view page_asset(std::string_view name);

}  // namespace logos::bench
