#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/safetensors_header.h"

namespace logos {

/// A name out of a file as a message shows it: quoted, escaped, cut where it is long.
std::string in_quotes(std::string_view name);

/// The tensors as a header's JSON states them, in its order; begin and end count from the start of
/// the data. Refuses malformed JSON, keys that are unknown, missing or stand twice in an entry, and
/// values of another kind. Read event by event: no tree is built, nesting cannot go deep.
std::vector<TensorInfo> read_header_json(std::span<const char> json,
                                         const std::filesystem::path& file);

/// `weight_map` of an index of shards: the shard of each tensor. Likewise; other keys of the index
/// may hold anything and are passed over.
std::map<std::string, std::string> read_index_json(std::span<const char> json,
                                                   const std::filesystem::path& file);

}  // namespace logos
