#include "sim/artifact.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "program/error.h"
#include "sim/whole_file.h"

namespace logos {
namespace {

// A file is the magic line, one line of JSON (the header) and the payload, nothing after it.
constexpr std::string_view kMagic = "LOGOS artifact 1\n";
constexpr std::string_view kKind = "LOGOS artifact ";
constexpr std::size_t kLongestHeader = 64 * 1024;

/// The header's fields but for its own digest.
nlohmann::ordered_json fields_of(const Artifact& artifact) {
  return {{"lane", artifact.lane},
          {"cut", artifact.identity.cut},
          {"chips", artifact.identity.chips},
          {"identity_sha256", artifact.identity.sha256},
          {"weights_sha256", artifact.weights_sha256},
          {"config_sha256", artifact.config_sha256},
          {"payload_bytes", artifact.payload.size()},
          {"payload_sha256", sha256_hex(artifact.payload)}};
}

nlohmann::json parse_header(std::string_view line, std::string_view where) {
  auto header = nlohmann::json::parse(line, nullptr, false);
  if (!header.is_object()) throw Error(where, "damaged artifact: its header is no JSON object");
  return header;
}

std::string text_field(const nlohmann::json& header, const char* key, std::string_view where) {
  const auto found = header.find(key);
  if (found == header.end() || !found->is_string()) {
    throw Error(where, fmt::format("damaged artifact: header without the text \"{}\"", key));
  }
  return found->get<std::string>();
}

std::int64_t count_field(const nlohmann::json& header, const char* key, std::string_view where) {
  const auto found = header.find(key);
  if (found == header.end() || !found->is_number_unsigned() ||
      found->get<std::uint64_t>() > INT64_MAX) {
    throw Error(where, fmt::format("damaged artifact: header without the count \"{}\"", key));
  }
  return found->get<std::int64_t>();
}

void same(std::string_view lane, std::string_view what, std::string_view got,
          std::string_view want) {
  if (got != want) {
    throw Error(fmt::format("artifact of lane {}", lane), fmt::format("made for another {}", what),
                got, want);
  }
}

}  // namespace

std::string serialise(const Artifact& artifact) {
  auto header = fields_of(artifact);
  header["header_sha256"] = sha256_hex(header.dump());
  std::string bytes(kMagic);
  bytes += header.dump();
  bytes += '\n';
  bytes += artifact.payload;
  return bytes;
}

Artifact parse_artifact(std::string_view bytes, std::string_view where) {
  if (!bytes.starts_with(kMagic)) {
    if (kMagic.starts_with(bytes)) throw Error(where, "truncated artifact: no header");
    throw Error(where, bytes.starts_with(kKind)
                           ? "artifact of another version"
                           : "no artifact: it does not begin with \"LOGOS artifact 1\"");
  }
  bytes.remove_prefix(kMagic.size());
  const std::size_t end = bytes.substr(0, kLongestHeader).find('\n');
  if (end == std::string_view::npos) {
    throw Error(where, bytes.size() < kLongestHeader ? "truncated artifact: its header does not end"
                                                     : "damaged artifact: its header is too long");
  }
  const std::string_view line = bytes.substr(0, end);
  const std::string_view payload = bytes.substr(end + 1);
  const auto header = parse_header(line, where);

  Artifact artifact;
  artifact.lane = text_field(header, "lane", where);
  artifact.identity.cut = text_field(header, "cut", where);
  artifact.identity.chips = count_field(header, "chips", where);
  artifact.identity.sha256 = text_field(header, "identity_sha256", where);
  artifact.weights_sha256 = text_field(header, "weights_sha256", where);
  artifact.config_sha256 = text_field(header, "config_sha256", where);
  const std::int64_t stated = count_field(header, "payload_bytes", where);
  if (std::cmp_not_equal(payload.size(), stated)) {
    throw Error(where,
                std::cmp_less(payload.size(), stated) ? "truncated artifact: payload bytes"
                                                      : "artifact with bytes too many",
                fmt::to_string(payload.size()), fmt::to_string(stated));
  }
  const std::string digest = sha256_hex(payload);
  const std::string stated_digest = text_field(header, "payload_sha256", where);
  if (digest != stated_digest) {
    throw Error(where, "damaged artifact: digest of the payload", digest, stated_digest);
  }
  artifact.payload = payload;

  // Written again, the header must be what was read: its own digest, key order, spacing, surplus.
  auto again = fields_of(artifact);
  const std::string header_digest = sha256_hex(again.dump());
  const std::string stated_header = text_field(header, "header_sha256", where);
  if (header_digest != stated_header) {
    throw Error(where, "damaged artifact: digest of the header", header_digest, stated_header);
  }
  again["header_sha256"] = header_digest;
  if (again.dump() != line) throw Error(where, "damaged artifact: its header holds surplus text");
  return artifact;
}

void save(const Artifact& artifact, const std::filesystem::path& file) {
  write_whole_file(file, serialise(artifact));
}

Artifact load_artifact(const std::filesystem::path& file) {
  return parse_artifact(read_whole_file(file), file.string());
}

void check_artifact(const Artifact& artifact, std::string_view lane, const Identity& asked,
                    std::string_view weights_sha256, std::string_view config_sha256) {
  same(lane, "lane", artifact.lane, lane);
  if (artifact.identity != asked) same(lane, "program", artifact.identity.text(), asked.text());
  same(lane, "set of weights", artifact.weights_sha256, weights_sha256);
  same(lane, "lane configuration", artifact.config_sha256, config_sha256);
}

}  // namespace logos
