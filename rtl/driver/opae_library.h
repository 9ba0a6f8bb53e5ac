#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace logos::d5005 {

// The part of OPAE's C API that the transport uses, as <opae/enum.h>, <opae/access.h>,
// <opae/mmio.h>, <opae/buffer.h> and <opae/types_enum.h> of opae-sdk 2.x declare it. Written down
// here because the library is looked for when a program runs, not when it is built.
extern "C" {
using fpga_result = int;
using fpga_properties = void*;
using fpga_token = void*;
using fpga_handle = void*;
}

inline constexpr fpga_result kOpaeOk = 0;
inline constexpr fpga_result kOpaeInvalidParameter = 1;
inline constexpr fpga_result kOpaeBusy = 2;
inline constexpr fpga_result kOpaeException = 3;
inline constexpr fpga_result kOpaeNotFound = 4;
inline constexpr fpga_result kOpaeNoMemory = 5;
inline constexpr fpga_result kOpaeNotSupported = 6;
inline constexpr int kOpaeAccelerator = 1;  ///< fpga_objtype FPGA_ACCELERATOR
inline constexpr const char* kOpaeLibrary = "libopae-c.so.2";

/// libopae-c, opened: a pointer for each call by its own name.
class OpaeLibrary {
 public:
  /// `path`: "" for kOpaeLibrary wherever the loader finds it. Throws Error that says what is
  /// missing and where it comes from.
  explicit OpaeLibrary(const std::string& path);

  const char* (*err_str)(fpga_result);
  fpga_result (*get_properties)(fpga_token, fpga_properties*);
  fpga_result (*set_object_type)(fpga_properties, int);
  fpga_result (*set_guid)(fpga_properties, std::uint8_t*);
  fpga_result (*destroy_properties)(fpga_properties*);
  fpga_result (*enumerate)(const fpga_properties*, std::uint32_t, fpga_token*, std::uint32_t,
                           std::uint32_t*);
  fpga_result (*destroy_token)(fpga_token*);
  fpga_result (*open)(fpga_token, fpga_handle*, int);
  fpga_result (*close)(fpga_handle);
  fpga_result (*reset)(fpga_handle);
  fpga_result (*map_mmio)(fpga_handle, std::uint32_t, std::uint64_t**);
  fpga_result (*unmap_mmio)(fpga_handle, std::uint32_t);
  fpga_result (*read_mmio64)(fpga_handle, std::uint32_t, std::uint64_t, std::uint64_t*);
  fpga_result (*write_mmio64)(fpga_handle, std::uint32_t, std::uint64_t, std::uint64_t);
  fpga_result (*read_mmio32)(fpga_handle, std::uint32_t, std::uint64_t, std::uint32_t*);
  fpga_result (*write_mmio32)(fpga_handle, std::uint32_t, std::uint64_t, std::uint32_t);
  fpga_result (*prepare_buffer)(fpga_handle, std::uint64_t, void**, std::uint64_t*, int);
  fpga_result (*release_buffer)(fpga_handle, std::uint64_t);
  fpga_result (*get_io_address)(fpga_handle, std::uint64_t, std::uint64_t*);

 private:
  template <typename Call>
  void find(const char* name, Call& call);

  struct Unload {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Unload> library_;
  std::string path_;
};

}  // namespace logos::d5005
