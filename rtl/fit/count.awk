# awk -v Title=… -v Top=… -v Rows=… -v Dsp=… -v M20k=… -v Alm=… -f count.awk words.dump words.stat
#     mapped.stat levels.ltp
# What yosys found in a module, counted as blocks of a Stratix 10 by the rules of README.md: of an
# engine of so many rows unit by unit, of another module (Rows = '') as a whole.

function ceil(x) { return x == int(x) ? x : int(x) + 1 }
# Names as `stat` writes them; a derived module's name without its parameters, which stand behind it
# or, where they are long, as a hash in front.
function plain(name) { sub(/^\\/, "", name); return name }
function base(name) {
  if (name ~ /^\$paramod\\/) {
    sub(/^\$paramod\\/, "", name)
    sub(/\\.*/, "", name)
  }
  sub(/.*\\/, "", name)
  return name
}

# Bits of a multiplier's operand as `dump` writes it: a signed one's, without copies of its sign.
function operand_bits(line, width, is_signed,    bits, count, copies) {
  sub(/^ *connect .[AB] */, "", line)
  copies = 1
  if (line ~ /^\{/) {
    gsub(/[{}]/, "", line)
    gsub(/ \[/, "[", line)
    count = split(line, bits, " ")
    while (copies < count && bits[copies + 1] == bits[1] && bits[1] !~ /[:\047]/) copies++
  }
  if (copies > 1) return width - copies + 1
  return is_signed ? width : width + 1
}

# Two of 18x19 share a DSP block, one of 27x27 fills it, larger ones are cut into pieces of 26.
function blocks_of_multiplier(a, b,    other) {
  if (a > b) { other = a; a = b; b = other }
  if (a <= 18 && b <= 19) return 0.5
  if (b <= 27) return 1
  return ceil(a / 26) * ceil(b / 26)
}

# M20K of a memory with a write and a read port: the best of 512x40, 1024x20, 2048x10.
function blocks_of_memory(width, depth,    shape, blocks, least) {
  for (shape = 512; shape <= 2048; shape *= 2) {
    blocks = ceil(width * shape / 20480) * ceil(depth / shape)
    if (shape == 512 || blocks < least) least = blocks
  }
  return least
}

# A memory of one word is registers, a shallow one MLABs, a deep one M20K; each read port a copy.
function add_memory(width, depth, copies, is_clocked) {
  if (depth == 1) own[module, "registers"] += width
  else if (depth <= 32 || !is_clocked) {
    own[module, "mlab"] += ceil(width / 20) * ceil(depth / 32) * copies
  } else {
    own[module, "m20k"] += copies * blocks_of_memory(width, depth)
    memories[module] = memories[module] copies " " width " " depth ";"
  }
}

FNR == 1 { file++ }

# Multipliers and memories.
file == 1 && /^module/ { module = plain($2) }
file == 1 && /^  cell/ { type = $2 }
file == 1 && $1 == "parameter" { value[$2] = $3 }
file == 1 && $1 == "connect" && ($2 == "\\A" || $2 == "\\B") { operand[$2] = $0 }
file == 1 && /^  end/ && type == "$mul" {
  a = operand_bits(operand["\\A"], value["\\A_WIDTH"], value["\\A_SIGNED"])
  b = operand_bits(operand["\\B"], value["\\B_WIDTH"], value["\\B_SIGNED"])
  own[module, "dsp"] += blocks_of_multiplier(a, b)
}
file == 1 && /^  end/ && type == "$mem_v2" {
  clocked = value["\\RD_CLK_ENABLE"]
  sub(/.*\047/, "", clocked)
  add_memory(value["\\WIDTH"], value["\\SIZE"], value["\\RD_PORTS"] * value["\\WR_PORTS"],
             clocked ~ /1/)
}

# Bits of carry chains; then LUTs, registers and instances.
(file == 2 || file == 3) && /^=== / { module = $2; known[module] = 1 }
file == 2 && $1 ~ /^\$alu_/ { own[module, "carry"] += substr($1, 6) * $2 }
file == 3 && NF == 2 && $2 ~ /^[0-9]+$/ {
  if ($1 ~ /^\$lut_[56]$/) own[module, "large"] += $2
  else if ($1 ~ /^\$lut_/) own[module, "small"] += $2
  else if ($1 ~ /^\$_.*(FF|LATCH)/) own[module, "registers"] += $2
  else if ($1 !~ /^\$/ || $1 ~ /^\$paramod/) inside[module] = inside[module] $1 " " $2 ";"
}

file == 4 && /^Longest topological path in/ {
  module = base(plain($5))
  sub(/.*length=/, "")
  sub(/\).*/, "")
  if ($0 + 0 > levels[module]) levels[module] = $0 + 0
}

# sum[top, kind]: of a module with all that it holds. count_of[top, module]: instances in it.
function add_up(top,    list, i, part, kind, key) {
  if (top in added) return
  added[top] = 1
  for (i = 1; i <= kind_count; i++) sum[top, kinds[i]] = own[top, kinds[i]]
  split("", list)
  i = split(inside[top], list, ";")
  for (; i > 0; i--) {
    if (split(list[i], part, " ") < 2 || !(part[1] in known)) continue
    add_up(part[1])
    for (kind = 1; kind <= kind_count; kind++) {
      sum[top, kinds[kind]] += part[2] * sum[part[1], kinds[kind]]
    }
  }
}
function count_in(top, module,    list, i, part, total) {
  if (top == module) return 1
  if ((top, module) in count_of) return count_of[top, module]
  for (i = split(inside[top], list, ";"); i > 0; i--) {
    if (split(list[i], part, " ") == 2 && part[1] in known) {
      total += part[2] * count_in(part[1], module)
    }
  }
  return count_of[top, module] = total + 0
}

function alms(large, small, carry, registers, mlab,    logic) {
  logic = large + (small + carry) / 2
  return (logic > registers / 2 ? logic : registers / 2) + 10 * mlab
}
function print_row(label, dsp, m20k, alm, registers) {
  printf "%-18s %7d %7d %9d %10d\n", label, ceil(dsp), m20k, ceil(alm), registers
}

# M20K that the modules named take in an engine, all their memories `times` as deep.
function blocks_of_modules(names, times,    module, list, i, part, total) {
  for (module in memories) {
    if (base(module) !~ names || !count_in(Top, module)) continue
    for (i = split(memories[module], list, ";"); i > 0; i--) {
      if (split(list[i], part, " ") < 3) continue
      total += count_in(Top, module) * part[1] * blocks_of_memory(part[2], part[3] * times)
    }
  }
  return total
}
# How many times as deep these memories may be before the region's M20K are full; all that is read
# side by side grows alike, so by powers of two.
function most_times(names,    left, times) {
  left = M20k - sum[Top, "m20k"] + blocks_of_modules(names, 1)
  for (times = 1; times < 1024 && blocks_of_modules(names, 2 * times) <= left; times *= 2) {}
  return times
}
# A row's words of vector memory hold it, its norm and its hidden columns: 1 + 1 + 4 times as many.
function print_bounds(    elements, times, names) {
  names = "^attend_(buffer|exponents)$"
  times = most_times(names)
  printf "context: %d positions in %d M20K; with what is left of the region %d\n", Positions,
         blocks_of_modules(names, 1), times * Positions
  names = "^(vector|activation|query|gain)_memory$"
  times = most_times(names)
  elements = 32 * (Rows < 8 ? 8192 : 1024 * Rows) / Rows
  if (elements / 6 > Columns) elements = 6 * Columns
  printf "dimension: %d columns with 4 times as many hidden ones in %d M20K; " \
         "with what is left of the region %d\n", elements / 6, blocks_of_modules(names, 1),
         times * elements / 6
}

# Units are those that engine_units holds; the shell is the rest.
function print_engine(    i, k, module, times, part, rest, total) {
  for (k = 1; k <= kind_count; k++) rest[kinds[k]] = sum[Top, kinds[k]]
  for (i = 1; i <= unit_count; i++) {
    for (module in known) {
      if (base(module) != units[i] || !(times = count_in(Top, module))) continue
      for (k = 1; k <= kind_count; k++) {
        part[kinds[k]] = times * sum[module, kinds[k]]
        rest[kinds[k]] -= part[kinds[k]]
      }
      total += print_part(units[i], part)
    }
  }
  total += print_part("shell", rest)
  print_row("all", sum[Top, "dsp"], sum[Top, "m20k"], total, sum[Top, "registers"])
  print_row("region", Dsp, M20k, Alm, 4 * Alm)
  printf "%-18s %5.1f %% %5.1f %% %7.1f %% %8.1f %%\n", "taken", 100 * sum[Top, "dsp"] / Dsp,
         100 * sum[Top, "m20k"] / M20k, 100 * total / Alm, 100 * sum[Top, "registers"] / (4 * Alm)
  print_bounds()
}
function print_part(label, part,    alm) {
  alm = alms(part["large"], part["small"], part["carry"], part["registers"], part["mlab"])
  print_row(label, part["dsp"], part["m20k"], alm, part["registers"])
  return alm
}

END {
  Positions = 16384  # of a head group's exponents, and scores for 4 heads each: engine_size
  Columns = 32768    # that the lowering takes at most, and 512 words of activation memory hold
  Deepest = 12       # modules whose levels are shown
  kind_count = split("dsp m20k mlab large small carry registers", kinds, " ")
  unit_count = split("product_unit rows_unit heads_unit attend_unit store_unit vector_memory " \
                     "vector_ports activation_memory query_memory gain_memory rotary_memory",
                     units, " ")
  add_up(Top)
  printf "%-18s %7s %7s %9s %10s\n", Title, "DSP", "M20K", "ALM", "registers"
  if (Rows != "") print_engine()
  else {
    for (k = 1; k <= kind_count; k++) part[kinds[k]] = sum[Top, kinds[k]]
    print_part(Top, part)
  }
  print "levels of logic:"
  sorted = "sort -k 1,1nr -k 2,2 | head -n " Deepest
  for (name in levels) if (levels[name] > 0) printf "%3d  %s\n", levels[name], name | sorted
  close(sorted)
  print ""
}
