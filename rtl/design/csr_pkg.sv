// The engine's registers as the host sees them: byte offsets in its window of 256 KiB. rtl/README.md
// says what each holds.
package csr_pkg;

  localparam int AddressBits = 18;
  localparam int IdBits = 16;    // of the AXI-Lite port; the platform's tags fit
  localparam int UserBits = 16;

  // DFH of a lone AFU: type 1, end of list.
  localparam logic [63:0] DfhValue = 64'h1000_0100_0000_0000;
  // 107d1b73-27f3-46b6-9f01-84590bed1323
  localparam logic [63:0] GuidLowValue = 64'h9F01_8459_0BED_1323;
  localparam logic [63:0] GuidHighValue = 64'h107D_1B73_27F3_46B6;
  localparam logic [63:0] VersionValue = 64'h3544_474C_0001_0000;  // "LGD5", 1.0

  // Registers of the host's clock, by index of 8 bytes.
  localparam logic [6:0] Dfh = 7'h00;               // 0x000
  localparam logic [6:0] GuidLow = 7'h01;           // 0x008
  localparam logic [6:0] GuidHigh = 7'h02;          // 0x010
  localparam logic [6:0] Version = 7'h05;           // 0x028
  localparam logic [6:0] Capabilities = 7'h06;      // 0x030
  localparam logic [6:0] Capacities = 7'h07;        // 0x038
  localparam logic [6:0] AttendCapacities = 7'h08;  // 0x040
  localparam logic [6:0] Scratch32 = 7'h0A;         // 0x050
  localparam logic [6:0] Scratch64 = 7'h0B;         // 0x058
  localparam logic [6:0] ClockHost = 7'h0C;         // 0x060
  localparam logic [6:0] ClockEngine = 7'h0D;       // 0x068
  localparam logic [6:0] ClockBank0 = 7'h0E;        // 0x070, banks 1 to 3 behind
  localparam logic [6:0] Control = 7'h12;           // 0x090
  localparam logic [6:0] Status = 7'h13;            // 0x098
  localparam logic [6:0] Errors = 7'h14;            // 0x0A0
  localparam logic [6:0] WatchdogLimit = 7'h16;     // 0x0B0
  localparam logic [6:0] RowsTotal = 7'h19;         // 0x0C8
  localparam logic [6:0] Program = 7'h1A;           // 0x0D0
  localparam logic [6:0] Identity0 = 7'h1C;         // 0x0E0, 1 to 3 behind
  localparam logic [6:0] DmaHost = 7'h20;           // 0x100
  localparam logic [6:0] DmaMemory = 7'h21;         // 0x108
  localparam logic [6:0] DmaBytes = 7'h22;          // 0x110
  localparam logic [6:0] DmaControl = 7'h23;        // 0x118

  // Registers of the engine's clock: 0x200 to 0x3FF.
  localparam logic [5:0] Cycles = 6'h00;            // 0x200
  localparam logic [5:0] WeightStream = 6'h01;      // 0x208
  localparam logic [5:0] KvStream = 6'h02;          // 0x210
  localparam logic [5:0] Compute = 6'h03;           // 0x218
  localparam logic [5:0] Movement = 6'h04;          // 0x220
  localparam logic [5:0] Synchronisation = 6'h05;   // 0x228
  localparam logic [5:0] IdleCycles = 6'h06;        // 0x230
  localparam logic [5:0] Passes = 6'h07;            // 0x238
  localparam logic [5:0] Bank0 = 6'h08;             // 0x240: beats, waiting, full, writes of each
  localparam logic [5:0] Unit0 = 6'h18;             // 0x2C0: busy, waiting, held of each
  localparam logic [5:0] Fault = 6'h27;             // 0x338
  localparam logic [5:0] WatchdogCause = 6'h28;     // 0x340
  localparam logic [5:0] States = 6'h29;            // 0x348
  localparam logic [5:0] DmaDone = 6'h2A;           // 0x350
  localparam logic [5:0] Loaded0 = 6'h2C;           // 0x360, 1 to 3 behind
  localparam logic [5:0] Runs = 6'h30;              // 0x380

  // Bits of Errors.
  localparam int ErrorBits = 20;
  localparam int ErrorBankRead = 0;    // a bit a bank
  localparam int ErrorBankWrite = 4;   // a bit a bank
  localparam int ErrorHostRead = 8;
  localparam int ErrorHostWrite = 9;
  localparam int ErrorIdentity = 10;
  localparam int ErrorProgram = 11;
  localparam int ErrorInstruction = 12;
  localparam int ErrorWatchdog = 13;
  localparam int ErrorRefused = 14;
  localparam int ErrorAddress = 15;
  localparam int ErrorSegment = 16;
  localparam int ErrorRows = 17;
  localparam int ErrorEngineSilent = 18;
  localparam int ErrorDma = 19;

  // Of them those that the engine itself raises, in this order from bit 0 on of its error levels.
  localparam int EngineErrorBits = 18;

  localparam logic [31:0] WatchdogDefault = 32'd4_000_000;  // cycles; 13 ms

endpackage
