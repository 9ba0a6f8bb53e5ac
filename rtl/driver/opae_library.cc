#include "rtl/driver/opae_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "program/error.h"

namespace logos::d5005 {
namespace {

namespace fs = std::filesystem;

/// The bytes that the segments of an ELF file take (elf(5)); 0 where the loader will say what is
/// wrong with it.
std::uint64_t bytes_of_segments(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header{};
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!in || !std::equal(ELFMAG, ELFMAG + SELFMAG, header.e_ident)) return 0;
  std::uint64_t bytes = 0;
  in.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    in.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (!in) return 0;
    if (segment.p_type == PT_LOAD) bytes = std::max(bytes, segment.p_offset + segment.p_filesz);
  }
  return bytes;
}

/// The file of that path, looked at before the loader, which waits for a pipe's other end and ends
/// the program where a file is cut off. What is no file is a name for the loader to look up.
std::string place_of(const std::string& path) {
  if (path.empty()) return kOpaeLibrary;
  std::error_code unreadable;
  const fs::file_status status = fs::status(path, unreadable);
  if (!fs::exists(status)) return path;
  if (!fs::is_regular_file(status)) throw Error(path, "is not a regular file, no library");
  const std::uint64_t got = fs::file_size(path, unreadable);
  if (const std::uint64_t want = bytes_of_segments(path); got < want) {
    throw Error(path, "the library is cut off", fmt::format("{} bytes", got),
                fmt::format("{} bytes", want));
  }
  return fs::absolute(path).string();
}

}  // namespace

void OpaeLibrary::Unload::operator()(void* library) const { dlclose(library); }

template <typename Call>
void OpaeLibrary::find(const char* name, Call& call) {
  void* symbol = dlsym(library_.get(), name);
  if (symbol == nullptr) {
    throw Error(path_, fmt::format("the OPAE library has no {}", name), "another library",
                "opae-sdk 2.x");
  }
  call = reinterpret_cast<Call>(symbol);
}

OpaeLibrary::OpaeLibrary(const std::string& path) : path_(place_of(path)) {
  library_.reset(dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library_ == nullptr) {
    const char* why = dlerror();
    throw Error("--board opae",
                fmt::format("the OPAE library cannot be loaded: {}", why == nullptr ? path_ : why),
                "none",
                fmt::format("{} of opae-sdk 2.x (package opae, or built from "
                            "github.com/OFS/opae-sdk), in the loader's path",
                            kOpaeLibrary));
  }
  find("fpgaErrStr", err_str);
  find("fpgaGetProperties", get_properties);
  find("fpgaPropertiesSetObjectType", set_object_type);
  find("fpgaPropertiesSetGUID", set_guid);
  find("fpgaDestroyProperties", destroy_properties);
  find("fpgaEnumerate", enumerate);
  find("fpgaDestroyToken", destroy_token);
  find("fpgaOpen", open);
  find("fpgaClose", close);
  find("fpgaReset", reset);
  find("fpgaMapMMIO", map_mmio);
  find("fpgaUnmapMMIO", unmap_mmio);
  find("fpgaReadMMIO64", read_mmio64);
  find("fpgaWriteMMIO64", write_mmio64);
  find("fpgaReadMMIO32", read_mmio32);
  find("fpgaWriteMMIO32", write_mmio32);
  find("fpgaPrepareBuffer", prepare_buffer);
  find("fpgaReleaseBuffer", release_buffer);
  find("fpgaGetIOAddress", get_io_address);
}

}  // namespace logos::d5005
