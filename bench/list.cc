#include "bench/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cuda/time_model.h"
#include "program/model_spec.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

/// A line for each file, by name; `*` marks the one that is taken where none is asked for.
std::string gpu_lines() {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(gpu_configurations(), failed)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) {
    const cuda::GpuConfig gpu = cuda::parse_gpu_config(read_whole_file(file), file.string());
    const bool taken = file.filename() == cuda::kDefaultGpu;
    text += fmt::format("{} {:<18} {}{}\n", taken ? "*" : " ", file.filename().string(), gpu.name,
                        taken ? " (the default)" : "");
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
  return text + "configurations of GPUs (--gpu)\n" + gpu_lines();
}

}  // namespace logos::bench
