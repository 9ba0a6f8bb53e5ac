#include "program/text_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>

#include "program/error.h"
#include "program/input_file.h"

namespace logos {

std::string read_text_file(const std::filesystem::path& file, std::uint64_t most_bytes) {
  const InputFile input(file);
  if (input.size() > most_bytes) {
    throw Error(file.string(), "too large", fmt::format("{} bytes", input.size()),
                fmt::format("at most {} bytes", most_bytes));
  }
  std::string text(static_cast<std::size_t>(input.size()), '\0');
  input.read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace logos
