#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace logos::bench {

inline constexpr std::uint32_t kApplicationId = 0x4C4F4753;  ///< "LOGS"
inline constexpr std::uint32_t kSchema = 1;

/// The statements that make an empty file a history, as SQLite keeps them.
inline constexpr std::array<std::string_view, 6> kTables = {
    "CREATE TABLE owner (number INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, process "
    "INTEGER NOT NULL)",
    "CREATE TABLE run (number INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL REFERENCES "
    "owner, started TEXT NOT NULL, ended TEXT, command TEXT NOT NULL, kind TEXT NOT NULL, context "
    "TEXT NOT NULL)",
    "CREATE TABLE result (run INTEGER NOT NULL REFERENCES run, place INTEGER NOT NULL, cut_place "
    "INTEGER NOT NULL, cut TEXT NOT NULL, identity TEXT, program_sha256 TEXT, chips INTEGER, "
    "weights_sha256 TEXT NOT NULL, lane TEXT NOT NULL, config_sha256 TEXT, git_commit TEXT, "
    "seconds REAL, cycles INTEGER, object TEXT NOT NULL, PRIMARY KEY (run, place))",
    "CREATE INDEX result_by_key ON result (program_sha256, weights_sha256, lane, config_sha256, "
    "git_commit)",
    "CREATE TABLE sweep (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, "
    "description TEXT NOT NULL)",
    "CREATE TABLE point (sweep INTEGER NOT NULL REFERENCES sweep, number INTEGER NOT NULL, owner "
    "INTEGER REFERENCES owner, run INTEGER REFERENCES run, PRIMARY KEY (sweep, number))",
};

/// Throws Error where a file is there that is no history of this schema: a directory, another kind
/// of file, another program's or another version's database. Only reads.
void check_history_file(const std::filesystem::path& file, bool must_exist);

}  // namespace logos::bench
