#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "program/identity.h"

namespace logos {

/// What a lane lowered: names the exact program, weights and configuration it was made from.
struct Artifact {
  std::string lane;
  Identity identity;
  std::string weights_sha256;
  std::string config_sha256;  ///< of the lane configuration
  std::string payload;        ///< the lane's own bytes; deterministic
};

/// Writes the artifact whole or not at all. Throws Error with path and cause.
void save(const Artifact& artifact, const std::filesystem::path& file);

/// Throws Error where the file is damaged, truncated, of another kind or has bytes too many.
Artifact load_artifact(const std::filesystem::path& file);
/// The same from bytes; `where` names them.
Artifact parse_artifact(std::string_view bytes, std::string_view where);
std::string serialise(const Artifact& artifact);

/// Throws Error naming both values where the artifact is not the one asked for.
void check_artifact(const Artifact& artifact, std::string_view lane, const Identity& asked,
                    std::string_view weights_sha256, std::string_view config_sha256);

}  // namespace logos
