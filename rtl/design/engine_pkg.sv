// The decode engine's parameters, its instruction and the numbers that several modules share.
// rtl/README.md says what each means; program/… never includes this: rtl/lowering/instruction.h
// is its C++ twin, and a test compares the two.
package engine_pkg;

  // One engine's size. All modules take it whole, as `parameter engine_pkg::config_t Config`.
  typedef struct packed {
    logic [31:0] rows;              // ROWS: rows that share one pass over the weights, 1 to 32
    logic [31:0] mac_rows;          // MAC_ROWS: rows of multipliers, a divisor of rows, 1 to 16
    logic [31:0] hold;              // rows / mac_rows: cycles that the array holds a beat
    logic [31:0] vector_words;      // vector memory, in words of 32 binary32
    logic [31:0] activation_words;  // activation memory, in words of 64 int16 for each row
    logic [31:0] query_words;       // query memory, in words of 32 int16
    logic [31:0] gain_words;        // gain memory, in words of 32 binary32
    logic [31:0] scores;            // scores that one group buffer holds (heads x positions)
    logic [31:0] positions;         // positions whose exponents one group buffer holds
    logic [31:0] fifo_beats;        // stream FIFO of a bank, in beats of 64 bytes
    logic [31:0] instructions;      // program memory
    logic [31:0] table_rows;        // row table: token and position of each row of a run
  } config_t;

  localparam config_t Default = {
    32'd8, 32'd8, 32'd1, 32'd8192, 32'd512, 32'd1024, 32'd1024, 32'd65536, 32'd16384, 32'd1024,
    32'd2048, 32'd8192
  };

  localparam int Banks = 4;
  localparam int BeatBits = 512;
  localparam int StreamBits = Banks * BeatBits;  // a super-beat: the same address of every bank
  localparam int Lanes = 32;                     // binary32 of a word of vector memory
  localparam int WordBits = Lanes * 32;
  localparam int Slices = 8;                     // write enables of such a word, 4 lanes each
  localparam int RowBits = 5;                    // a row within a pass
  localparam int AddressBits = 32;               // a super-beat's address; bytes / 256
  localparam int VectorBits = 16;                // a word's address in vector memory
  localparam int Zero = -128;                    // ZE, the exponent of an all-zero block

  // Units, each with a queue of its own; an instruction names how many instructions of each unit
  // must have ended (modulo 256, counted from the start of a pass) before it starts.
  localparam int Units = 5;
  localparam int UnitRows = 0;
  localparam int UnitProduct = 1;
  localparam int UnitHeads = 2;
  localparam int UnitAttend = 3;
  localparam int UnitStore = 4;

  typedef enum logic [7:0] {
    OpEnd = 8'h00,
    // rows unit
    OpLoad = 8'h10,        // given rows -> vector memory
    OpEmbed = 8'h11,       // embedding rows of the tokens -> vector memory
    OpGain = 8'h12,        // gains -> gain memory
    OpRotary = 8'h13,      // rotary rows of the positions -> rotary memory
    OpNorm = 8'h14,        // rms_norm -> vector memory, then quantized -> activation memory
    OpQuantize = 8'h15,    // quantized -> activation memory
    OpPeak = 8'h16,        // peaks of all chips -> peak registers
    // product unit
    OpProduct = 8'h20,     // sums, F, row scale, exponent, and what Post says
    OpScale = 8'h21,       // sums of all chips added, then as OpProduct
    // heads unit
    OpHeads = 8'h30,       // each head: norm, rotation, quantized -> query memory or cache
    // attend unit
    OpAttend = 8'h40,
    // store unit
    OpStore = 8'h50        // vector memory and others -> host memory
  } op_e;

  // What the product unit does with y.
  typedef enum logic [2:0] {
    PostPlain = 3'd0,      // y (after the bias, if any) -> vector memory
    PostResidual = 3'd1,   // x + y by the residual rule -> x in vector memory
    PostSilu = 3'd2,       // quads of gate and up alternate: silu(gate) * up -> vector memory
    PostSums = 3'd3        // int64 sums, unscaled -> vector memory, two lanes each
  } post_e;

  // Where the heads unit puts a quantized head.
  typedef enum logic [1:0] {
    HeadNowhere = 2'd0,
    HeadQuery = 2'd1,
    HeadKeys = 2'd2,
    HeadValues = 2'd3
  } head_target_e;

  // What the store unit reads.
  typedef enum logic [2:0] {
    StoreVector = 3'd0,       // vector memory, rows of binary32
    StoreActivation = 3'd1,   // activation memory: rows of int16, each followed by its exponent
    StoreQuery = 3'd2,        // query memory likewise, head by head
    StoreScores = 3'd3,       // the attend unit's buffer: binary32 scores or 24-bit weights
    StoreWeightSums = 3'd4,   // the attend unit's sums of l, int64
    StorePeaks = 3'd5         // one 32-bit pattern a row
  } store_source_e;

  // Which register set of row maxima an instruction reads.
  typedef enum logic [1:0] {
    PeaksOfRows = 2'd0,     // set by OpLoad, OpEmbed, OpPeak
    PeaksOfProduct = 2'd1,  // set by OpProduct and OpScale with Track
    PeaksOfAttend = 2'd2    // set by OpAttend
  } peaks_e;

  // The attend unit stops early for an observer.
  typedef enum logic [1:0] {
    AttendWhole = 2'd0,
    AttendToScores = 2'd1,
    AttendToWeights = 2'd2
  } attend_stop_e;

  // An instruction: 64 bytes, little-endian in memory (the last field here is byte 0).
  typedef struct packed {
    logic [3:0]  reserved;            // 0
    logic [7:0]  apart;               // OpNorm, OpHeads with a norm: lines from it to its quantization
    logic [7:0]  fence_need;          // heads instructions that must have ended before a fenced stream is read
    logic [7:0]  first_head;          // OpAttend: the first key head that takes part
    logic [5:0]  only_row;            // OpAttend, OpStore: row + 1 of the only row; 0: all rows
    logic [23:0] window;              // sliding window in positions; 0: none
    logic [27:0] cache_row_stride;    // super-beats from one row's cache to the next; 0: shared
    logic [27:0] values_offset;       // super-beats from a head's keys to its values
    logic [27:0] cache_head_stride;   // super-beats from one head's cache to the next
    logic [27:0] cache_base;          // super-beats: exponents and keys of head 0, row 0
    logic [31:0] epsilon;             // binary32, of a norm
    logic [31:0] host_offset;         // units of 64 bytes from the output buffer's start
    logic [27:0] stream_beats;        // super-beats: of the instruction, or of each row
    logic [27:0] stream_base;         // super-beats
    logic [15:0] gain;                // first word in gain memory
    logic [15:0] destination_stride;  // words from a row to the next
    logic [15:0] destination;         // first word in vector memory
    logic [15:0] source_stride;
    logic [15:0] source;
    logic [4:0]  first;               // OpQuantize, OpAttend: elements in front of the first column
    logic [19:0] columns;             // elements of a row; outputs of a product
    logic [11:0] words;               // words of 64 activations that a product reads
    logic [8:0]  head_columns;
    logic [7:0]  heads;               // OpHeads: heads; OpAttend: key heads; OpPeak, OpScale: chips
    logic [7:0]  group;               // query heads that read one key head
    logic [2:0]  variant;             // post_e, store_source_e
    logic [1:0]  target;              // head_target_e, attend_stop_e
    logic [1:0]  peaks;               // peaks_e
    logic        bias;                // a bias follows the row scales in the stream
    logic        track;               // keep the maxima of what is written
    logic        norm;                // OpHeads: rms_norm with `gain` and `epsilon`
    logic        rotate;              // OpHeads
    logic        write_back;          // OpHeads: the binary32 result to the source's place
    logic        greedy;              // OpStore: keep the first greatest of what passes
    logic        chain;               // start on the last needed instruction's progress
    logic        last_row;            // only the last row of the last pass takes part
    logic        fence;               // its stream is read after `fence_need`
    logic [15:0] line;                // of the program: its operation, of a norm and its quantization the norm
    logic [39:0] need;                // 8 bits for each unit, unit 0 lowest
    logic [7:0]  op;
  } instruction_t;

  // What the dispatcher hands to a unit beside the instruction.
  typedef struct packed {
    logic [4:0]  row;        // the pass's row that is row 0 here: 0, but with last_row
    logic [15:0] first_row;  // index in the row table (over the run) of row 0
    logic [5:0]  rows;       // rows that take part, 1 to ROWS
  } pass_t;

endpackage
