// The tool `program`: writes LOGOS texts, names their identities, checks them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "program/author.h"
#include "program/check_facts.h"
#include "program/error.h"
#include "program/genuine.h"
#include "program/printable.h"
#include "program/read_program.h"
#include "program/standard_streams.h"
#include "program/text/scanner.h"
#include "program/text/source.h"
#include "program/text_file.h"
#include "program/token_list.h"
#include "program/whole_number.h"
#include "program/written.h"

namespace {

using namespace logos;

constexpr int kBadInput = 2;

struct Options {
  std::string cut;
  std::string model = "kjv";
  std::string chips = "1";
  std::string directory;
  std::optional<std::string> tokens;
  std::optional<std::string> position;
  std::string file;
};

/// A whole number. (The option reader takes 010 for 8, and what is too large for its largest.)
std::int64_t number(std::string_view option, std::string_view text) {
  std::int64_t value = 0;
  if (read_whole_number(text, value) == std::errc{}) return value;
  throw Error(option, "not a whole number in range", quote(text),
              "a number from 1, without a leading zero");
}

void remark(std::string_view text) { write_standard_error(fmt::format("{}\n", escaped(text))); }

Facts facts_of_options(const Options& options) {
  Facts facts;
  facts.cut = Cut::parse(options.cut);
  const ModelName model = resolve_model(options.model);
  for (const std::string& told : model.reading.remarks) {
    remark(told);
  }
  facts.spec = model.reading.spec;
  facts.chips = number("--chips", options.chips);
  facts.directory = options.directory;
  return facts;
}

/// The tokens of the cut's rows. A step takes its own token; as on the bench, a whole context of
/// them is taken for its last one, with a remark: the text has no place for the others.
std::vector<std::int64_t> row_tokens(const Cut& cut, const std::string& argument,
                                     const std::vector<std::vector<std::int64_t>>& lists) {
  const auto rows = static_cast<std::size_t>(cut.rows);
  if (cut.work == Cut::Work::kPrefill || (lists.size() == 1 && lists[0].size() == rows)) {
    if (lists.size() == 1) return lists[0];  // another count is the author's to refuse
    throw Error("--tokens", "a chunk is one sequence", fmt::format("{} lines", lists.size()),
                "1 line");
  }
  if (lists.size() != rows) {
    throw Error("--tokens", "another count of sequences than the cut has",
                fmt::format("{}", lists.size()), fmt::format("{}", rows));
  }
  std::vector<std::int64_t> tokens;
  bool dropped = false;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::vector<std::int64_t>& list = lists[i];
    if (list.size() != 1 && static_cast<std::int64_t>(list.size()) != cut.context) {
      throw Error(place_of_sequence(argument, i), "another count of tokens than a row takes",
                  fmt::format("{}", list.size()), fmt::format("1 or {}", cut.context));
    }
    tokens.push_back(list.back());
    dropped |= list.size() > 1;
  }
  if (dropped) {
    remark(fmt::format(
        "--tokens for {}: the text states a step's token, the last id, and its position; "
        "the ids before it, which fill the cache on the bench, are not in it",
        cut.text()));
  }
  return tokens;
}

/// Puts a run's inputs in, counted from 1. Where only one is given, the other is the default of the
/// bench: a step at the end of its cache, a chunk from position 1.
void put_inputs(const Options& options, Facts* facts) {
  if (!options.tokens && !options.position) return;
  const Cut& cut = facts->cut;
  const auto refuse_option = [&](std::string_view option) {
    throw Error(option, "not an input of this cut", cut.text(), "a cut that takes it");
  };
  if (options.tokens) {
    if (!takes_tokens(cut)) refuse_option("--tokens");
    facts->tokens =
        row_tokens(cut, *options.tokens, read_token_lists(*options.tokens, facts->spec.vocabulary));
    for (std::int64_t& token : facts->tokens) ++token;
  } else if (takes_tokens(cut)) {
    throw Error("--position", "a run of this cut has tokens, too", "no --tokens", "--tokens");
  }
  if (!takes_positions(cut)) {
    if (options.position) refuse_option("--position");
    return;
  }
  if (cut.rows > kMostRunRows) {
    throw Error("--cut", "too many rows of a run", fmt::format("{}", cut.rows),
                fmt::format("at most {}", kMostRunRows));
  }
  const bool chunk = cut.work == Cut::Work::kPrefill;
  const std::int64_t first = options.position ? number("--position", *options.position)
                             : chunk          ? 1
                                              : cut.context;
  if (first < 1 || first > (std::int64_t{1} << 31) - 1) {
    throw Error("--position", "out of bounds", fmt::format("{}", first),
                "1 to 2147483647 (counted from 1)");
  }
  for (std::int64_t i = 0; i < cut.rows; ++i) facts->positions.push_back(first + (chunk ? i : 0));
}

std::string read_program_file(const std::string& file) {
  return read_text_file(file, kMostTextBytes);
}

void write(const Options& options) {
  Facts facts = facts_of_options(options);
  put_inputs(options, &facts);
  write_standard_output(author(facts));
}

void identity(const Options& options) {
  if (options.file.empty() == options.cut.empty()) {
    throw Error("identity", "takes a FILE or --cut", options.cut.empty() ? "neither" : "both",
                "one of them");
  }
  if (!options.file.empty()) {
    write_standard_output(genuine(read_program_file(options.file), options.file).text() + "\n");
    return;
  }
  const Facts facts = facts_of_options(options);
  write_standard_output(written_split(facts.spec, facts.cut, facts.chips).identity.text() + "\n");
}

void check(const Options& options) {
  const std::string text = read_program_file(options.file);
  check_text({text, options.file});
  const Identity found = genuine(text, options.file);
  write_standard_output(fmt::format("{}: genuine, {}\n", options.file, found.text()));
}

int run(int argc, char** argv) {
  CLI::App app("Writes and checks LOGOS programs");
  app.require_subcommand(1);
  Options options;
  const auto add_cut = [&](CLI::App* command, bool required) {
    command->add_option("--cut", options.cut, "decode:CTX, prefill:ROWS, batch:ROWSxCTX; layer:N@…")
        ->required(required);
    command->add_option("--model", options.model, "a preset, kjv, a model directory or a GGUF file")
        ->capture_default_str();
    command->add_option("--chips", options.chips, "chips to split over")->capture_default_str();
  };
  CLI::App* write_command = app.add_subcommand("write", "print the text of a cut");
  add_cut(write_command, true);
  write_command->add_option("--dir", options.directory, "where the weights lie");
  write_command->add_option("--tokens", options.tokens,
                            "token ids from 0: ID,ID,…, or @FILE: separated by white space, one "
                            "sequence a line. A step's text states its own token, not those that "
                            "fill the cache");
  write_command->add_option("--position", options.position, "position of the first row, from 1");
  CLI::App* identity_command = app.add_subcommand("identity", "print CUT CHIPS SHA256");
  add_cut(identity_command, false);
  identity_command->add_option("file", options.file, "a LOGOS text");
  CLI::App* check_command = app.add_subcommand("check", "parse, check, genuine or not");
  check_command->add_option("file", options.file, "a LOGOS text")->required();
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (!first.starts_with('-') && first != "write" && first != "identity" && first != "check") {
    throw Error("command line", "no such command", fmt::format("\"{}\"", first),
                "write, identity or check");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    if (fault.get_exit_code() != 0) throw Error("command line", fault.what());
    write_standard_output(app.help());
    return 0;
  }
  if (*write_command) write(options);
  if (*identity_command) identity(options);
  if (*check_command) check(options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  prepare_standard_streams();
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    write_standard_error(fmt::format("{}\n", error.what()));
  } catch (const std::exception& error) {
    write_standard_error(fmt::format("program: {}\n", escaped(error.what())));
  }
  return kBadInput;
}
