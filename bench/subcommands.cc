#include "bench/subcommands.h"

#include <exception>

#include "bench/fits/fits_command.h"
#include "bench/history/history_command.h"
#include "bench/sweep/sweep_command.h"
#include "program/error.h"
#include "program/standard_streams.h"
#include "sim/whole_file.h"

namespace logos::bench {

std::optional<int> run_subcommand(const std::vector<std::string>& arguments,
                                  const LaneTable& table) {
  if (arguments.empty()) return std::nullopt;
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const std::string& name = arguments.front();
  if (name == "history") return history_command(rest);
  if (name == "compare") return compare_command(rest);
  if (name == "sweep") return sweep_command(rest, table);
  if (name == "fits") return fits_command(rest);
  return std::nullopt;
}

bool parse_subcommand(CLI::App& app, const std::vector<std::string>& arguments) {
  app.set_help_flag("-h,--help", "print this and end");
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    write_standard_output(app.help());
    return true;
  } catch (const CLI::ParseError& error) {
    throw Error(app.get_name(), error.what());
  }
  return false;
}

void write_result(const std::string& text, const std::string& out) {
  // The file first: a closed pipe does not cost it. Nor does a file that cannot be written cost the
  // standard output.
  std::exception_ptr failed;
  try {
    if (!out.empty()) write_whole_file(out, text);
  } catch (...) {
    failed = std::current_exception();
  }
  write_standard_output(text);
  if (failed) std::rethrow_exception(failed);
}

}  // namespace logos::bench
