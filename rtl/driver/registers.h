#pragma once

#include <cstdint>

/// The engine's registers, twin of rtl/design/csr_pkg.sv: byte offsets in its MMIO window. What
/// each holds: rtl/README.md.
namespace logos::d5005::registers {

inline constexpr std::uint64_t kDfhValue = 0x1000010000000000;
inline constexpr std::uint64_t kGuidLowValue = 0x9F0184590BED1323;
inline constexpr std::uint64_t kGuidHighValue = 0x107D1B7327F346B6;
inline constexpr const char* kGuid = "107d1b73-27f3-46b6-9f01-84590bed1323";
inline constexpr std::uint64_t kVersionValue = 0x3544474C00010000;

inline constexpr std::uint32_t kDfh = 0x000;
inline constexpr std::uint32_t kGuidLow = 0x008;
inline constexpr std::uint32_t kGuidHigh = 0x010;
inline constexpr std::uint32_t kVersion = 0x028;
inline constexpr std::uint32_t kCapabilities = 0x030;
inline constexpr std::uint32_t kCapacities = 0x038;
inline constexpr std::uint32_t kAttendCapacities = 0x040;
inline constexpr std::uint32_t kScratch32 = 0x050;
inline constexpr std::uint32_t kScratch64 = 0x058;
inline constexpr std::uint32_t kClockHost = 0x060;
inline constexpr std::uint32_t kClockEngine = 0x068;
inline constexpr std::uint32_t kClockBank = 0x070;  ///< of bank 0, the others behind
inline constexpr std::uint32_t kControl = 0x090;
inline constexpr std::uint32_t kStatus = 0x098;
inline constexpr std::uint32_t kErrors = 0x0A0;
inline constexpr std::uint32_t kWatchdogLimit = 0x0B0;
inline constexpr std::uint32_t kRowsTotal = 0x0C8;
inline constexpr std::uint32_t kProgram = 0x0D0;
inline constexpr std::uint32_t kIdentity = 0x0E0;  ///< four of them
inline constexpr std::uint32_t kDmaHost = 0x100;
inline constexpr std::uint32_t kDmaMemory = 0x108;
inline constexpr std::uint32_t kDmaBytes = 0x110;
inline constexpr std::uint32_t kDmaControl = 0x118;

inline constexpr std::uint32_t kCycles = 0x200;
inline constexpr std::uint32_t kCategories = 0x208;  ///< six, in the order of logos::Category
inline constexpr std::uint32_t kPasses = 0x238;
inline constexpr std::uint32_t kBank = 0x240;  ///< beats, waiting, full, writes of bank 0, then 1 …
inline constexpr std::uint32_t kUnit = 0x2C0;  ///< busy, waiting, held of unit 0, then 1 …
inline constexpr std::uint32_t kFault = 0x338;
inline constexpr std::uint32_t kWatchdogCause = 0x340;
inline constexpr std::uint32_t kStates = 0x348;
inline constexpr std::uint32_t kDmaDone = 0x350;
inline constexpr std::uint32_t kLoaded = 0x360;
inline constexpr std::uint32_t kRuns = 0x380;

inline constexpr std::uint32_t kSegments = 0x08000;  ///< 512 entries: where 2 MiB of output lie
inline constexpr std::uint32_t kGreedy = 0x10000;
inline constexpr std::uint32_t kRowTable = 0x20000;

inline constexpr std::uint64_t kControlReset = 1U << 0;
inline constexpr std::uint64_t kControlStart = 1U << 1;
inline constexpr std::uint64_t kStatusRunning = 1U << 0;
inline constexpr std::uint64_t kStatusDone = 1U << 1;
inline constexpr std::uint64_t kStatusFailed = 1U << 2;
inline constexpr std::uint64_t kStatusResetting = 1U << 3;
inline constexpr std::uint64_t kStatusCopying = 1U << 4;
inline constexpr std::uint64_t kStatusCopied = 1U << 5;
inline constexpr int kStatusEpoch = 8;  ///< its lowest bit in the status; 8 of them
inline constexpr std::uint64_t kDmaStart = 1U << 0;
inline constexpr std::uint64_t kDmaToHost = 1U << 1;

}  // namespace logos::d5005::registers
