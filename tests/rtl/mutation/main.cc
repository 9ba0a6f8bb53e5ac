// rtl_mutants: plants faults in copies of the design's files and lists them (scripts/mutate).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/rtl/mutation/mutants.h"

namespace logos::mutation {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kActive = "mutant_pkg::active";

std::string read_file(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A file that stays as it is keeps its time, so that nothing is built again.
void write_file(const fs::path& path, const std::string& text) {
  if (!fs::exists(path) || read_file(path) != text) std::ofstream(path) << text;
}

struct File {
  std::string name;
  std::string source;
  std::vector<Mutant> sites;
};

std::vector<File> files_of(const fs::path& folder, const std::set<std::string>& skipped) {
  std::vector<File> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".sv") continue;
    File file{entry.path().filename().string(), read_file(entry.path()), {}};
    for (Mutant& mutant : mutants_of(file.source)) {
      if (!skipped.contains(fmt::format("{}:{}", file.name, mutant.line))) {
        file.sites.push_back(std::move(mutant));
      }
    }
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  return files;
}

/// How many of `count` each file gets: one at least where it has any, else by its sites.
std::vector<std::size_t> shares_of(const std::vector<File>& files, std::size_t count) {
  std::vector<std::size_t> shares;
  std::size_t sites = 0;
  for (const File& file : files) sites += file.sites.size();
  for (const File& file : files) {
    const std::size_t share =
        (count * file.sites.size() + sites / 2) / std::max<std::size_t>(sites, 1);
    shares.push_back(std::min(file.sites.size(), std::max<std::size_t>(share, 1)));
  }
  return shares;
}

/// So many of a file's mutants, of as many operators as there are.
std::vector<Mutant> chosen(const File& file, std::size_t share, std::mt19937_64& random) {
  std::map<Operator, std::vector<Mutant>> by_operator;
  for (const Mutant& mutant : file.sites) by_operator[mutant.what].push_back(mutant);
  std::vector<Mutant> taken;
  while (taken.size() < share) {
    std::vector<Operator> order;
    for (const auto& [what, left] : by_operator) {
      if (!left.empty()) order.push_back(what);
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    for (const Operator what : order) {
      if (taken.size() == share) break;
      std::vector<Mutant>& left = by_operator[what];
      const auto at = left.begin() + static_cast<std::ptrdiff_t>(random() % left.size());
      taken.push_back(std::move(*at));
      left.erase(at);
    }
  }
  return taken;
}

void write_all(const fs::path& from, const fs::path& to, std::size_t count, std::uint64_t seed,
               const std::set<std::string>& skipped) {
  const std::vector<File> files = files_of(from, skipped);
  const std::vector<std::size_t> shares = shares_of(files, count);
  int number = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    // Each file's choice is its own: another one's code does not change it.
    std::seed_seq seeds(files[i].name.begin(), files[i].name.end());
    std::array<std::uint32_t, 2> own{};
    seeds.generate(own.begin(), own.end());
    std::mt19937_64 random(seed ^ (std::uint64_t{own[0]} << 32 | own[1]));
    std::vector<Numbered> numbered;
    for (Mutant& mutant : chosen(files[i], shares[i], random)) {
      numbered.push_back({++number, std::move(mutant)});
      const Mutant& is = numbered.back().mutant;
      std::cout << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", number, files[i].name, is.line,
                               name_of(is.what), is.before, is.after);
    }
    write_file(to / files[i].name, plant(files[i].source, numbered, kActive));
  }
}

}  // namespace
}  // namespace logos::mutation

int main(int argc, char** argv) {
  CLI::App app("Plants faults in copies of SystemVerilog files and lists them");
  std::string from;
  std::string to;
  std::size_t count = 1;
  std::uint64_t seed = 1;
  std::vector<std::string> skipped;
  app.add_option("--from", from, "folder of the files")->required()->check(CLI::ExistingDirectory);
  app.add_option("--to", to, "folder of the copies")->required()->check(CLI::ExistingDirectory);
  app.add_option("--count", count, "faults in all; one for each file at least");
  app.add_option("--seed", seed, "of the choice");
  app.add_option("--skip", skipped, "FILE:LINE without any");
  CLI11_PARSE(app, argc, argv);
  logos::mutation::write_all(from, to, count, seed, {skipped.begin(), skipped.end()});
  return 0;
}
