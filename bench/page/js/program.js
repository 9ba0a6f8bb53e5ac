// The program's text, and beside each line what it took on each lane.
const program_of = (cut) => (page.programs || []).find((program) => program.cut === cut.cut);

/// seconds by line and lane, and each lane's whole.
function line_uses(cut) {
  return cut.lanes.map((lane) => timeline_of(cut, lane.lane))
    .filter((timeline) => timeline && timeline.lines.length)
    .map((timeline) => ({lane: timeline.lane,
      time_class: cut.lanes.find((lane) => lane.lane === timeline.lane).time_class,
      whole: d3.sum(timeline.lines, (use) => use.seconds),
      by_line: new Map(timeline.lines.map((use) => [use.line, use]))}));
}

function line_bars(uses, line) {
  const bars = uses.map(({lane, time_class, whole, by_line}) => {
    const use = by_line.get(line);
    if (!use || !(use.seconds > 0) || !(whole > 0)) return h('span', {class: 'use', role: 'cell'});
    const share = use.seconds / whole;
    const words = `${lane}: ${seconds_text(use.seconds)} ${time_class}, ` +
      `${percent_text(share)} of its time\n` +
      `${bytes_text(use.bytes)}, ${amount_text(use.macs, 'MACs')}`;
    const bar = h('span', {class: 'use', role: 'cell', 'data-seconds': String(use.seconds)},
      h('span', {class: 'bar', style: `width:${(100 * share).toFixed(2)}%;` +
        `background:${lane_color(lane)}`}),
      h('span', {class: 'amount'}, h('span', {class: `who ${lane_class(lane)}`}, `${lane} `),
        seconds_text(use.seconds), h('span', {class: 'soft'}, ` ${Math.round(100 * share)} %`)));
    return tipped(bar, words);
  });
  return bars;
}

function program_row(uses, index, line, text) {
  const head = text.startsWith('#');
  return h('div', {class: `code-row${head ? ' code-head' : ''}`, role: 'row',
    id: `line-${index}-${line}`, tabindex: '-1'},
  h('span', {class: 'number', role: 'rowheader'}, line || ''),
  h('code', {role: 'cell'}, text), line_bars(uses, line));
}

/// How many lines stand before the first section with a line that took time: those that say what
/// the model is.
function lines_before_work(uses, lines) {
  let first = lines.length;
  for (const {by_line} of uses) {
    for (const line of by_line.keys()) if (line > 0) first = Math.min(first, line);
  }
  if (first === lines.length) return 0;
  for (let i = first - 1; i > 0; --i) if (lines[i].startsWith('## ')) return i;
  return 0;
}

const headings = (lines) => lines.filter((text) => text.startsWith('## '))
  .map((text) => text.slice(3).toLowerCase()).join(', ') || 'nothing that takes time';

function program_part(cut, index) {
  const program = program_of(cut);
  if (!program) return null;
  const uses = line_uses(cut);
  const lines = program.text.replace(/\n$/, '').split('\n');
  const rows = lines.map((text, i) => program_row(uses, index, i + 1, text));
  const before = lines_before_work(uses, lines);
  const rest = uses.some(({by_line}) => by_line.has(0) && by_line.get(0).seconds > 0);
  return h('div', {class: 'part'},
    heading(3, 'The program', uses.length ? 'Every lane runs this text. Beside each line: the ' +
      'time that it took, all its layers and rows together, and its share of the lane\'s time.'
      : 'Every lane runs this text.'),
    h('div', {class: 'code', role: 'table', 'aria-label': `Program of ${cut.cut}`, tabindex: '0',
              style: `--lanes:${uses.length}`},
    uses.length ? h('div', {class: 'code-row code-top', role: 'row'},
      h('span', {class: 'number', role: 'columnheader'}, 'line'),
      h('span', {role: 'columnheader'}, ''),
      uses.map(({lane, time_class}) => h('span', {role: 'columnheader'}, lane_name(lane), ' ',
        h('span', {class: 'class'}, time_class)))) : null,
    before ? folded(`Lines 1 to ${before}: ${headings(lines.slice(0, before))}`, rows.slice(0, before))
      : null,
    rows.slice(before), rest ? program_row(uses, index, 0, '(of no line)') : null));
}
