#include "bench/list.h"

#include <fmt/format.h>

#include "bench/configurations.h"
#include "program/model_spec.h"

namespace logos::bench {
namespace {

/// A line for each file, by name; `*` marks the one that is taken where none is asked for.
std::string lines_of(const ConfigurationKind& kind) {
  std::string text;
  for (const Configuration& configuration : configurations(kind)) {
    const std::string name = configuration.file.filename().string();
    const bool taken = name == kind.standard;
    const std::string line = fmt::format("{} {:<18} {}{}", taken ? "*" : " ", name,
                                         configuration.title, taken ? " (the default)" : "");
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string list_text(const LaneTable& table) {
  std::string text =
      "cuts\n"
      "  decode:CTX         one token over a cache of CTX positions\n"
      "  prefill:ROWS       a chunk of ROWS tokens\n"
      "  batch:ROWSxCTX     one token of ROWS sequences, each over its own cache\n"
      "  layer:N@CUT        layer N (from 1) of one of these\n"
      "  embedding@CUT      the embedding of one of these\n"
      "  head@CUT           the head of one of these\n"
      "models\n"
      "  kjv                the embedded default; token id = byte\n"
      "  DIR                a folder with config.json and model.safetensors\n"
      "presets (synthetic weights)\n";
  for (const std::string& name : preset_names()) {
    const ModelSpec spec = *preset(name);
    text += fmt::format("  {:<18} {} layers of {}, {} query heads over {} of {}, vocabulary {}\n",
                        name, spec.layers, spec.columns, spec.query_heads, spec.key_heads,
                        spec.head_columns, spec.vocabulary);
  }
  text += "lanes\n";
  for (const LaneKind& kind : table) {
    text += fmt::format("  {:<18} {}\n", kind.name, kind.make ? "built in" : "not built");
  }
  for (const LaneKind& kind : table) {
    if (kind.make && !kind.faults.empty()) {
      text += fmt::format("faults of the lane {} (--fault UNIT:KIND@CYCLE)\n{}", kind.name,
                          kind.faults);
    }
  }
  return text + "configurations of GPUs (--gpu)\n" + lines_of(kGpus) +
         "configurations of boards (--board)\n" + lines_of(kBoards) +
         "configurations of chips (--chip-config)\n" + lines_of(kChips);
}

}  // namespace logos::bench
