#include "rtl/driver/opae_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "program/error.h"

namespace logos::d5005 {
namespace {

/// The file of that path; what is none is a name for the loader to look up.
std::string place_of(const std::string& path) {
  if (path.empty()) return kOpaeLibrary;
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable) ? std::filesystem::absolute(path).string()
                                                   : path;
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
