#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/gguf_header.h"
#include "program/input_file.h"
#include "program/model_spec.h"

namespace logos {

/// Reads a model's shape from the keys of a GGUF file (design/arithmetic.md, section GGUF):
/// architectures llama, qwen2 and qwen3, profile B. Of the data only the factors of a Llama 3
/// rotation are read. Throws Error naming file and key or tensor, what was found and what is
/// wanted.
ModelReading read_gguf_model(const std::filesystem::path& path);
/// The same of a header that was read already.
ModelReading read_gguf_model(const InputFile& file, const GgufHeader& header);

/// Whether `path` is meant as a GGUF file: by its name, or by its first letters.
bool looks_like_gguf(const std::filesystem::path& path);

/// The name under which the file holds a tensor of `weight_plan`: `blk.0.attn_q.weight` for
/// `model.layers.0.self_attn.q_proj.weight`.
std::string gguf_name(std::string_view tensor);

/// Whether the file states the architecture llama.
bool is_llama(const GgufHeader& header);

/// Whether the rows of a tensor of `weight_plan` lie in pairs within each head, as llama files hold
/// the query and key projections: row 2j of a head is its row j, row 2j + 1 its row j + hd/2.
bool has_paired_rows(const GgufHeader& header, std::string_view tensor);

/// The texts of the token ids, with `<0xNN>` as one byte and the marks of word beginnings and bytes
/// undone; empty where the file has no tokens.
std::vector<std::string> gguf_vocabulary(const GgufHeader& header);

}  // namespace logos
