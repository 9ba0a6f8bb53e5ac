#include "rtl/driver/opae_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "program/check.h"
#include "program/error.h"
#include "rtl/driver/registers.h"

namespace logos::d5005 {
namespace {

using Guid = std::array<std::uint8_t, 16>;

constexpr std::uint32_t kRegion = 0;  ///< the accelerator's own window
constexpr std::uint32_t kMostTokens = 16;
constexpr auto kWait = std::chrono::microseconds(20);  ///< between two looks at the status

/// The bytes of a printed GUID, in its order.
Guid parse_guid(std::string_view text) {
  Guid guid{};
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const int value = c <= '9' ? c - '0' : c - 'a' + 10;
    std::uint8_t& byte = guid.at(digits++ / 2);
    byte = static_cast<std::uint8_t>(byte << 4 | value);
  }
  CHECK(digits == 2 * guid.size());
  return guid;
}

}  // namespace

void OpaeTransport::check(fpga_result result, const char* call, std::string_view about) const {
  if (result == kOpaeOk) return;
  const char* text = opae_.err_str(result);
  throw Error("board opae", fmt::format("{} failed{}{}", call, about.empty() ? "" : ": ", about),
              fmt::format("{} ({})", result, text == nullptr ? "" : text), "FPGA_OK");
}

OpaeTransport::OpaeTransport(const std::string& library) : opae_(library) {
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

void OpaeTransport::open() {
  fpga_token token = find_accelerator();
  const fpga_result opened = opae_.open(token, &handle_, 0);
  opae_.destroy_token(&token);
  if (opened != kOpaeOk) handle_ = nullptr;
  check(opened, "fpgaOpen", "is it open in another process, or not yours to open?");
  // All accesses are calls, so no pointer is asked for; the AFU simulator (ASE) has none.
  const fpga_result mapped = opae_.map_mmio(handle_, kRegion, nullptr);
  mapped_ = mapped == kOpaeOk;
  if (mapped != kOpaeNotSupported) check(mapped, "fpgaMapMMIO", "");
  const fpga_result reset = opae_.reset(handle_);
  if (reset != kOpaeNotSupported) check(reset, "fpgaReset", "");
}

/// The one accelerator that has the engine's GUID.
fpga_token OpaeTransport::find_accelerator() {
  fpga_properties filter = nullptr;
  check(opae_.get_properties(nullptr, &filter), "fpgaGetProperties", "");
  Guid guid = parse_guid(registers::kGuid);
  std::array<fpga_token, kMostTokens> tokens{};
  std::uint32_t matches = 0;
  const char* call = "fpgaPropertiesSetObjectType";
  fpga_result result = opae_.set_object_type(filter, kOpaeAccelerator);
  if (result == kOpaeOk) {
    call = "fpgaPropertiesSetGUID";
    result = opae_.set_guid(filter, guid.data());
  }
  if (result == kOpaeOk) {
    call = "fpgaEnumerate";
    result = opae_.enumerate(&filter, 1, tokens.data(), kMostTokens, &matches);
  }
  opae_.destroy_properties(&filter);
  check(result, call, "");
  const std::uint32_t filled = std::min(matches, kMostTokens);
  for (std::uint32_t i = matches == 1 ? 1 : 0; i < filled; ++i) opae_.destroy_token(&tokens[i]);
  if (matches != 1) {
    throw Error("board opae", fmt::format("accelerators with GUID {}", registers::kGuid),
                fmt::to_string(matches),
                matches == 0
                    ? "1: is the engine's image loaded, and its function bound to vfio-pci "
                      "(opae.io init) and yours?"
                    : "1");
  }
  return tokens[0];
}

/// Gives back whatever is held; a destructor has nobody to tell what fails here.
void OpaeTransport::close() {
  if (handle_ == nullptr) return;
  for (const auto& [address, workspace] : workspaces_) opae_.release_buffer(handle_, workspace);
  workspaces_.clear();
  if (mapped_) opae_.unmap_mmio(handle_, kRegion);
  opae_.close(handle_);
  handle_ = nullptr;
}

OpaeTransport::~OpaeTransport() { close(); }

std::uint64_t OpaeTransport::read64(std::uint32_t offset) {
  std::uint64_t value = 0;
  check(opae_.read_mmio64(handle_, kRegion, offset, &value), "fpgaReadMMIO64",
        fmt::format("offset {:#x}", offset));
  return value;
}

void OpaeTransport::write64(std::uint32_t offset, std::uint64_t value) {
  check(opae_.write_mmio64(handle_, kRegion, offset, value), "fpgaWriteMMIO64",
        fmt::format("offset {:#x}", offset));
}

std::uint32_t OpaeTransport::read32(std::uint32_t offset) {
  std::uint32_t value = 0;
  check(opae_.read_mmio32(handle_, kRegion, offset, &value), "fpgaReadMMIO32",
        fmt::format("offset {:#x}", offset));
  return value;
}

void OpaeTransport::write32(std::uint32_t offset, std::uint32_t value) {
  check(opae_.write_mmio32(handle_, kRegion, offset, value), "fpgaWriteMMIO32",
        fmt::format("offset {:#x}", offset));
}

HostBuffer OpaeTransport::allocate(std::size_t bytes) {
  CHECK(bytes <= kMostBufferBytes);
  void* memory = nullptr;
  std::uint64_t workspace = 0;
  check(opae_.prepare_buffer(handle_, bytes, &memory, &workspace, 0), "fpgaPrepareBuffer",
        fmt::format("{} bytes: are pages of 2 MiB set aside (/proc/sys/vm/nr_hugepages)?", bytes));
  HostBuffer buffer;
  buffer.bytes = std::span(static_cast<std::byte*>(memory), bytes);
  const fpga_result result = opae_.get_io_address(handle_, workspace, &buffer.address);
  if (result != kOpaeOk) {
    opae_.release_buffer(handle_, workspace);
    check(result, "fpgaGetIOAddress", "");
  }
  if (workspaces_.contains(buffer.address)) {
    opae_.release_buffer(handle_, workspace);
    throw Error("board opae", "fpgaGetIOAddress gives two buffers one address",
                fmt::format("{:#x}", buffer.address), "one of its own");
  }
  std::fill(buffer.bytes.begin(), buffer.bytes.end(), std::byte{0});
  workspaces_[buffer.address] = workspace;
  return buffer;
}

void OpaeTransport::release(const HostBuffer& buffer) {
  const auto found = workspaces_.find(buffer.address);
  CHECK(found != workspaces_.end());
  const std::uint64_t workspace = found->second;
  workspaces_.erase(found);
  check(opae_.release_buffer(handle_, workspace), "fpgaReleaseBuffer", "");
}

void OpaeTransport::wait() { std::this_thread::sleep_for(kWait); }

}  // namespace logos::d5005
