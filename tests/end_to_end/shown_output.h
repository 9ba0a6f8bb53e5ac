#pragma once

#include <string>
#include <vector>

namespace logos {

/// A command of a page, and what the page says it prints.
struct ShownCommand {
  int line = 0;  ///< of the page, from 1
  std::string command;
  std::vector<std::string> output;
};

/// The commands in the blocks ```console of a page in Markdown: lines that begin with "$ " (to be
/// continued after a backslash), each with the lines up to the next.
std::vector<ShownCommand> shown_commands(const std::string& markdown);

/// "" where the lines are those shown, else the first that is not. "…" in a shown line stands for
/// any text, a line of it alone for any number of lines; spaces at the end do not count.
std::string difference(const std::vector<std::string>& shown, const std::vector<std::string>& got);

/// A text's lines.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace logos
