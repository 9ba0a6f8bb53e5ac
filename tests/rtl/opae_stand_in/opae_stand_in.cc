// OPAE's C API over a simulated board, as far as rtl/driver/opae_library.h uses it. It refuses what
// the card's library or driver would refuse, and keeps a record of it.
//
// Environment: OPAE_STAND_IN_BOARD the board's file (configs/boards/d5005.json),
// OPAE_STAND_IN_FAULT a fault as for --fault, OPAE_STAND_IN_CARDS how many accelerators there are
// (1), OPAE_STAND_IN_FAIL the name of a call that fails with FPGA_EXCEPTION.
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "rtl/board/board_config.h"
#include "rtl/board/fault.h"
#include "rtl/driver/opae_library.h"
#include "rtl/driver/registers.h"
#include "rtl/driver/transport.h"

namespace logos::d5005 {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 18;
// A read's way over PCIe and back, about a microsecond; a write is posted. In cycles of the engine.
constexpr std::uint64_t kReadCycles = 300;
constexpr std::uint64_t kWriteCycles = 30;

constexpr std::array<std::uint8_t, 16> kGuid = {0x10, 0x7d, 0x1b, 0x73, 0x27, 0xf3, 0x46, 0xb6,
                                                0x9f, 0x01, 0x84, 0x59, 0x0b, 0xed, 0x13, 0x23};

struct Properties {
  bool accelerators = true;
  bool ours = true;
};
struct Token {};
struct Card {
  std::unique_ptr<Board> board;
  bool mapped = false;
  struct Workspace {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  std::map<std::uint64_t, Workspace> workspaces;
  std::uint64_t next_workspace = 3;  // no one's index
};

/// All that a process has open.
struct Library {
  std::map<void*, std::unique_ptr<Properties>> properties;
  std::map<void*, std::unique_ptr<Token>> tokens;
  std::map<void*, std::unique_ptr<Card>> cards;
  std::string misuse;
};
Library& library() {
  static Library all;
  return all;
}

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

bool told_to_fail(const char* call) { return setting("OPAE_STAND_IN_FAIL", "") == call; }

fpga_result refuse(const char* call, const char* why, fpga_result result = kOpaeInvalidParameter) {
  library().misuse += std::string(call) + ": " + why + "\n";
  return result;
}

Card* card_of(fpga_handle handle) {
  const auto found = library().cards.find(handle);
  return found == library().cards.end() ? nullptr : found->second.get();
}

std::unique_ptr<Board> make_stand_in_board() {
  const std::string fallback = std::string(LOGOS_SOURCE_DIR) + "/configs/boards/d5005.json";
  const BoardParameters parameters =
      load_board(setting("OPAE_STAND_IN_BOARD", fallback.c_str()), {});
  BoardOptions options;
  options.fill.noise = true;  // as a card's memory at power-up
  const std::string fault = setting("OPAE_STAND_IN_FAULT", "");
  if (!fault.empty()) plant_fault(fault, options);
  return make_board(8, 8, parameters, options);
}

/// What every access asks for; null: refused.
Card* card_for_access(const char* call, fpga_handle handle, std::uint32_t region,
                      std::uint64_t offset, std::uint64_t bytes) {
  Card* card = card_of(handle);
  const char* why = card == nullptr                 ? "no open handle"
                    : region != 0                   ? "no such region"
                    : !card->mapped                 ? "not mapped"
                    : offset % bytes != 0           ? "not aligned"
                    : offset + bytes > kWindowBytes ? "outside the window"
                                                    : nullptr;
  if (why == nullptr) return card;
  refuse(call, why);
  return nullptr;
}

std::uint64_t read_register(Card& card, std::uint64_t offset) {
  const std::uint64_t value =
      card.board->read(static_cast<std::uint32_t>(offset & ~std::uint64_t{7}));
  card.board->advance(kReadCycles);
  return value;
}

void write_register(Card& card, std::uint64_t offset, std::uint64_t value, std::uint8_t strobe) {
  card.board->write(static_cast<std::uint32_t>(offset & ~std::uint64_t{7}), value, strobe);
  card.board->advance(kWriteCycles);
}

}  // namespace
}  // namespace logos::d5005

using namespace logos::d5005;  // NOLINT: the names below are C's

extern "C" {

/// What was done wrong so far, a line each.
const char* opae_stand_in_misuse() { return library().misuse.c_str(); }

const char* fpgaErrStr(fpga_result result) {
  switch (result) {
    case kOpaeOk:
      return "success";
    case kOpaeInvalidParameter:
      return "invalid parameter";
    case kOpaeBusy:
      return "resource busy";
    case kOpaeException:
      return "exception";
    case kOpaeNotFound:
      return "not found";
    case kOpaeNoMemory:
      return "no memory";
    case kOpaeNotSupported:
      return "not supported";
    default:
      return "unknown error";
  }
}

fpga_result fpgaGetProperties(fpga_token token, fpga_properties* properties) {
  if (told_to_fail("fpgaGetProperties")) return kOpaeException;
  if (properties == nullptr) return refuse("fpgaGetProperties", "null");
  if (token != nullptr) return refuse("fpgaGetProperties", "of a token", kOpaeNotSupported);
  auto made = std::make_unique<Properties>();
  *properties = made.get();
  library().properties[made.get()] = std::move(made);
  return kOpaeOk;
}

fpga_result fpgaPropertiesSetObjectType(fpga_properties properties, int type) {
  if (told_to_fail("fpgaPropertiesSetObjectType")) return kOpaeException;
  const auto found = library().properties.find(properties);
  if (found == library().properties.end()) {
    return refuse("fpgaPropertiesSetObjectType", "no properties");
  }
  found->second->accelerators = type == kOpaeAccelerator;
  return kOpaeOk;
}

fpga_result fpgaPropertiesSetGUID(fpga_properties properties, std::uint8_t* guid) {
  if (told_to_fail("fpgaPropertiesSetGUID")) return kOpaeException;
  const auto found = library().properties.find(properties);
  if (found == library().properties.end()) return refuse("fpgaPropertiesSetGUID", "no properties");
  found->second->ours = std::memcmp(guid, kGuid.data(), kGuid.size()) == 0;
  return kOpaeOk;
}

fpga_result fpgaDestroyProperties(fpga_properties* properties) {
  if (properties == nullptr || library().properties.erase(*properties) == 0) {
    return refuse("fpgaDestroyProperties", "no properties");
  }
  *properties = nullptr;
  return kOpaeOk;
}

fpga_result fpgaEnumerate(const fpga_properties* filters, std::uint32_t count, fpga_token* tokens,
                          std::uint32_t most, std::uint32_t* matches) {
  if (told_to_fail("fpgaEnumerate")) return kOpaeException;
  if (filters == nullptr || count != 1 || matches == nullptr || (tokens == nullptr && most != 0)) {
    return refuse("fpgaEnumerate", "one filter is understood");
  }
  const auto filter = library().properties.find(filters[0]);
  if (filter == library().properties.end()) return refuse("fpgaEnumerate", "no properties");
  const bool ours = filter->second->accelerators && filter->second->ours;
  const auto cards = static_cast<std::uint32_t>(std::stoul(setting("OPAE_STAND_IN_CARDS", "1")));
  *matches = ours ? cards : 0;
  for (std::uint32_t i = 0; i < *matches && i < most; ++i) {
    auto token = std::make_unique<Token>();
    tokens[i] = token.get();
    library().tokens[token.get()] = std::move(token);
  }
  return kOpaeOk;
}

fpga_result fpgaDestroyToken(fpga_token* token) {
  if (token == nullptr || library().tokens.erase(*token) == 0) {
    return refuse("fpgaDestroyToken", "no token");
  }
  *token = nullptr;
  return kOpaeOk;
}

fpga_result fpgaOpen(fpga_token token, fpga_handle* handle, int flags) {
  if (told_to_fail("fpgaOpen")) return kOpaeException;
  if (library().tokens.count(token) == 0) return refuse("fpgaOpen", "no token");
  if (handle == nullptr || flags != 0) return refuse("fpgaOpen", "handle or flags");
  if (!library().cards.empty()) return kOpaeBusy;
  auto card = std::make_unique<Card>();
  card->board = make_stand_in_board();
  *handle = card.get();
  library().cards[card.get()] = std::move(card);
  return kOpaeOk;
}

fpga_result fpgaClose(fpga_handle handle) {
  Card* card = card_of(handle);
  if (card == nullptr) return refuse("fpgaClose", "no open handle");
  if (!card->workspaces.empty()) refuse("fpgaClose", "buffers are still pinned");
  if (card->mapped) refuse("fpgaClose", "still mapped");
  library().cards.erase(handle);
  return kOpaeOk;
}

/// As under vfio: nothing, and FPGA_OK.
fpga_result fpgaReset(fpga_handle handle) {
  if (told_to_fail("fpgaReset")) return kOpaeException;
  return card_of(handle) == nullptr ? refuse("fpgaReset", "no open handle") : kOpaeOk;
}

fpga_result fpgaMapMMIO(fpga_handle handle, std::uint32_t region, std::uint64_t** pointer) {
  if (told_to_fail("fpgaMapMMIO")) return kOpaeException;
  Card* card = card_of(handle);
  if (card == nullptr || region != 0) return refuse("fpgaMapMMIO", "handle or region");
  if (pointer != nullptr) return kOpaeNotSupported;
  card->mapped = true;
  return kOpaeOk;
}

fpga_result fpgaUnmapMMIO(fpga_handle handle, std::uint32_t region) {
  Card* card = card_of(handle);
  if (card == nullptr || region != 0 || !card->mapped) return refuse("fpgaUnmapMMIO", "not mapped");
  card->mapped = false;
  return kOpaeOk;
}

fpga_result fpgaReadMMIO64(fpga_handle handle, std::uint32_t region, std::uint64_t offset,
                           std::uint64_t* value) {
  if (told_to_fail("fpgaReadMMIO64")) return kOpaeException;
  Card* card = card_for_access("fpgaReadMMIO64", handle, region, offset, 8);
  if (card == nullptr) return kOpaeInvalidParameter;
  *value = read_register(*card, offset);
  return kOpaeOk;
}

fpga_result fpgaWriteMMIO64(fpga_handle handle, std::uint32_t region, std::uint64_t offset,
                            std::uint64_t value) {
  if (told_to_fail("fpgaWriteMMIO64")) return kOpaeException;
  Card* card = card_for_access("fpgaWriteMMIO64", handle, region, offset, 8);
  if (card == nullptr) return kOpaeInvalidParameter;
  write_register(*card, offset, value, 0xFF);
  return kOpaeOk;
}

fpga_result fpgaReadMMIO32(fpga_handle handle, std::uint32_t region, std::uint64_t offset,
                           std::uint32_t* value) {
  if (told_to_fail("fpgaReadMMIO32")) return kOpaeException;
  Card* card = card_for_access("fpgaReadMMIO32", handle, region, offset, 4);
  if (card == nullptr) return kOpaeInvalidParameter;
  *value = static_cast<std::uint32_t>(read_register(*card, offset) >> (8 * (offset & 4)));
  return kOpaeOk;
}

fpga_result fpgaWriteMMIO32(fpga_handle handle, std::uint32_t region, std::uint64_t offset,
                            std::uint32_t value) {
  if (told_to_fail("fpgaWriteMMIO32")) return kOpaeException;
  Card* card = card_for_access("fpgaWriteMMIO32", handle, region, offset, 4);
  if (card == nullptr) return kOpaeInvalidParameter;
  const bool high = (offset & 4) != 0;
  write_register(*card, offset, std::uint64_t{value} << (high ? 32 : 0), high ? 0xF0 : 0x0F);
  return kOpaeOk;
}

fpga_result fpgaPrepareBuffer(fpga_handle handle, std::uint64_t bytes, void** memory,
                              std::uint64_t* workspace, int flags) {
  if (told_to_fail("fpgaPrepareBuffer")) return kOpaeException;
  Card* card = card_of(handle);
  if (card == nullptr) return refuse("fpgaPrepareBuffer", "no open handle");
  if (memory == nullptr || workspace == nullptr || flags != 0 || bytes == 0) {
    return refuse("fpgaPrepareBuffer", "pointers, flags or size");
  }
  // Above 2 MiB the driver asks for pages of 1 GiB, which nobody has set aside.
  if (bytes > kMostBufferBytes) {
    return refuse("fpgaPrepareBuffer", "more than 2 MiB", kOpaeException);
  }
  std::span<std::byte> span;
  const std::uint64_t address = card->board->host().allocate(bytes, &span);
  std::memset(span.data(), 0xC3, span.size());  // nobody promises zeros
  *memory = span.data();
  *workspace = card->next_workspace++;
  card->workspaces[*workspace] = {address, bytes};
  return kOpaeOk;
}

fpga_result fpgaReleaseBuffer(fpga_handle handle, std::uint64_t workspace) {
  if (told_to_fail("fpgaReleaseBuffer")) return kOpaeException;
  Card* card = card_of(handle);
  if (card == nullptr) return refuse("fpgaReleaseBuffer", "no open handle");
  const auto found = card->workspaces.find(workspace);
  if (found == card->workspaces.end()) return refuse("fpgaReleaseBuffer", "no such buffer");
  card->board->host().release(found->second.address);
  card->workspaces.erase(found);
  return kOpaeOk;
}

fpga_result fpgaGetIOAddress(fpga_handle handle, std::uint64_t workspace, std::uint64_t* address) {
  if (told_to_fail("fpgaGetIOAddress")) return kOpaeException;
  Card* card = card_of(handle);
  if (card == nullptr) return refuse("fpgaGetIOAddress", "no open handle");
  const auto found = card->workspaces.find(workspace);
  if (found == card->workspaces.end()) {
    return refuse("fpgaGetIOAddress", "no such buffer", kOpaeNotFound);
  }
  *address = found->second.address;
  return kOpaeOk;
}

}  // extern "C"
