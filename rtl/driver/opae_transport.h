#pragma once

#include <map>
#include <string>

#include "rtl/driver/opae_library.h"
#include "rtl/driver/transport.h"

namespace logos::d5005 {

/// A card behind OPAE: the accelerator with the engine's GUID, opened for this process alone. Every
/// call that fails becomes an Error with the call's name and fpgaErrStr.
///
/// Resets: fpgaReset is called once, when the card has been opened. It clears the port where the
/// DFL driver stands behind it; under vfio it does nothing and says FPGA_OK, so nothing here or
/// above counts on it: the engine is reset by its own register (Driver::reset).
class OpaeTransport : public Transport {
 public:
  /// `library`: the path of libopae-c; "" for the one that the loader finds. Throws Error where
  /// there is no library, no such accelerator, or more than one.
  explicit OpaeTransport(const std::string& library = "");
  ~OpaeTransport() override;
  OpaeTransport(const OpaeTransport&) = delete;
  OpaeTransport& operator=(const OpaeTransport&) = delete;

  std::string_view name() const override { return "opae"; }
  std::uint64_t read64(std::uint32_t offset) override;
  void write64(std::uint32_t offset, std::uint64_t value) override;
  std::uint32_t read32(std::uint32_t offset) override;
  void write32(std::uint32_t offset, std::uint32_t value) override;
  HostBuffer allocate(std::size_t bytes) override;
  void release(const HostBuffer& buffer) override;
  void wait() override;

 private:
  void open();
  void close();
  void check(fpga_result result, const char* call, std::string_view about) const;
  fpga_token find_accelerator();

  OpaeLibrary opae_;
  fpga_handle handle_ = nullptr;
  bool mapped_ = false;
  std::map<std::uint64_t, std::uint64_t> workspaces_;  ///< of the buffers, by their I/O address
};

}  // namespace logos::d5005
