// What the parts of the attend unit tell one another. A **pair** is one key head of one row; pairs
// are numbered row by row, and everything that belongs to a pair while it is worked on is kept
// twice, under the lowest bit of its number: its parity. A **slot** is four positions, one in each
// bank; a **set** is four query heads of the pair; a **word** is 32 columns of a head.
package attend_pkg;

  // The instruction's shape, the same for all its pairs.
  typedef struct packed {
    logic [1:0] stop;        // engine_pkg::attend_stop_e
    logic [7:0] heads;       // key heads
    logic [4:0] group;       // query heads of a key head, 1 to 16
    logic [4:0] spare;       // columns of the head's last word; 0: all 32
    logic [2:0] last_word;   // words of a head, less 1
    logic [5:0] last_quad;   // quads of columns of a head, less 1
    logic [1:0] last_count;  // columns of the head's last quad, less 1
  } shape_t;

  // A pair: its positions, counted from the start of the first block that is read, and its heads.
  typedef struct packed {
    logic [15:0] last_slot;  // the slot of the row's own position
    logic [1:0]  last_bank;  // and its bank
    logic [6:0]  first;      // the first position that takes part
    logic [3:0]  last_head;  // query heads that take part, less 1
    logic        row_last;   // the row's last pair
  } pair_t;

  // Goes with a beat of keys, one for each set.
  typedef struct packed {
    logic        first;       // the slot's first word: sums begin
    logic        last;        // the slot's last word: sums end
    logic        pair_last;   // the last sums of the pair
    logic        parity;
    logic [1:0]  head_set;
    logic        both;        // the set has more than two heads
    logic [15:0] address;     // slot * sets + set, the word of the group buffer
    logic [3:0]  takes_part;  // of each bank, its position
    logic [31:0] exponents;   // of each bank, its key's
  } key_label_t;

  // Goes with a beat of values, one for each set.
  typedef struct packed {
    logic       first;      // the pair's first slot: sums begin
    logic       pair_last;  // the last of the pair
    logic       parity;
    logic [1:0] head_set;
    logic [2:0] word;
  } value_label_t;

endpackage
