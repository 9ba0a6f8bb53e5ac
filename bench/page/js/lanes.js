// One cut: its lanes side by side, then what they did.
function bytes_cell(lane, at) {
  if (!lane.bytes) return '–';
  return Object.entries(lane.bytes).map(([memory, bytes]) => h('span', {class: 'pair'},
    h('span', {class: 'soft'}, memory), ' ', value(`${at}/bytes/${memory}`, bytes,
                                                   bytes_text(bytes))));
}

function bound_cell(lane, at) {
  if (!lane.bound) return '–';
  const fraction = lane.bound.fraction;
  const share = is_number(fraction) ? Math.min(1, Math.max(0, fraction)) : 0;
  return [h('span', {class: 'bound'}, lane.bound.name, ' ',
    value(`${at}/bound/fraction`, fraction, percent_text(fraction))),
  h('span', {class: 'meter', 'aria-hidden': 'true'},
    h('span', {style: `width:${(100 * share).toFixed(1)}%;background:${lane_color(lane.lane)}`}))];
}

function agrees_cell(lane, at) {
  return value(`${at}/agrees`, lane.agrees, h('span', {class: lane.agrees ? 'good' : 'bad'},
    lane.agrees ? '✓ agrees' : '✗ differs'));
}

function time_cell(lane, at, cut) {
  const notes = context.time_notes || {};
  const note = notes[lane.lane] || notes[`${lane.lane} ${cut.cut}`];
  return [h('span', {class: 'time'}, value(`${at}/seconds`, lane.seconds,
                                           seconds_text(lane.seconds))), ' ',
  h('span', {class: 'class', title: note || null}, lane.time_class),
  note ? h('span', {class: 'note'}, note.replace(/^[^:]*: */, '')) : null];
}

function cycles_cell(lane, at) {
  if (!is_number(lane.cycles)) return '–';
  return [value(`${at}/cycles`, lane.cycles, whole_text(lane.cycles)),
    is_number(lane.clock_hz) ? h('span', {class: 'soft'}, ' at ',
      value(`${at}/clock_hz`, lane.clock_hz, hertz_text(lane.clock_hz))) : null];
}

function lane_row(lane, at, cut, fastest) {
  const name = h('span', {class: 'head-cell'}, lane_name(lane.lane));
  if (ended(lane) !== 'ran') {
    const reason = h('span', {class: 'bad'}, `${ended(lane)}: ${lane.refused || lane.failed}`);
    return [name, reason];
  }
  const slower = fastest && is_number(lane.seconds) ? lane.seconds / fastest.seconds : NaN;
  return [name, time_cell(lane, at, cut),
    value(`${at}/tokens_per_second`, lane.tokens_per_second, count_text(lane.tokens_per_second)),
    !lane.agrees ? '–' : slower === 1 ? h('span', {class: 'good'}, 'fastest') : times_text(slower),
    bound_cell(lane, at), cycles_cell(lane, at), bytes_cell(lane, at),
    value(`${at}/macs`, lane.macs, amount_text(lane.macs, '')), agrees_cell(lane, at)];
}

function lanes_table(cut, index) {
  const columns = [{name: 'lane'}, {name: 'time'}, {name: 'tokens/s', right: true},
    {name: 'time against the fastest', right: true}, {name: 'of its own bound'},
    {name: 'cycles', right: true}, {name: 'useful bytes'}, {name: 'MACs', right: true},
    {name: 'bits'}];
  const fastest = racers(cut)[0];
  return h('div', {class: 'wide'}, table(`Lanes of ${cut.cut}`, columns,
    cut.lanes.map((lane, i) => lane_row(lane, `/cuts/${index}/lanes/${i}`, cut, fastest)),
    {class: 'lanes cards-when-narrow'}));
}

/// Faults, divergences, the error against binary64, what was generated: a paragraph each.
function remarks(cut, index) {
  const words = [];
  const say = (lane, kind, ...text) => words.push(h('p', {class: `remark ${kind}`},
    lane_name(lane.lane), ' ', ...text));
  cut.lanes.forEach((lane, i) => {
    const at = `/cuts/${index}/lanes/${i}`;
    const d = lane.first_divergence;
    if (d) {
      say(lane, 'bad', 'parts from the others', d.layer ? ` in layer ${d.layer}` : '', ' at ',
        h('a', {href: `#line-${index}-${d.line}`}, `line ${d.line}`), ': ', h('code', {}, d.text),
        ` element [${d.element.join(', ')}]: expected ${d.expected}, got ${d.got}`);
    }
    if (is_number(lane.fault)) {
      say(lane, 'bad', 'raised a fault first at ',
        h('a', {href: `#line-${index}-${lane.fault}`}, `line ${lane.fault}`),
        ': a value too large for its block');
    }
    if (lane.error) {
      say(lane, '', 'against binary64: ', ['kl', 'max_logit_error', 'top1'].map((key) =>
        is_number(lane.error[key]) ? h('span', {class: 'pair'}, `${key} `,
          value(`${at}/error/${key}`, lane.error[key], digits(lane.error[key]))) : null));
    }
    if (lane.generated) {
      say(lane, '', 'generated: ', h('q', {}, lane.generated.text === null
        ? lane.generated.tokens.join(' ') : lane.generated.text));
    }
  });
  return words;
}

const timeline_of = (cut, lane) =>
  (page.timelines || []).find((t) => t.cut === cut.cut && t.lane === lane);

function cut_section(cut, index) {
  const chips = cut.identity.chips;
  return h('section', {class: 'cut', 'aria-label': cut.cut},
    h('h2', {}, cut.cut, chips > 1 ? h('span', {class: 'soft'}, ` over ${chips} chips`) : null),
    h('p', {class: 'word'}, 'identity ', h('code', {class: 'digest'}, cut.identity.sha256)),
    lanes_table(cut, index), remarks(cut, index),
    cut_parts(cut, index));
}
