// The first look: who wins, by how much, and do they agree.
const ended = (lane) => lane.refused !== undefined ? 'refused'
  : lane.failed !== undefined ? 'failed' : 'ran';
const lanes_that_ran = (cut) => cut.lanes.filter((lane) => ended(lane) === 'ran');

/// A time with its class, without which none is shown.
const timed = (lane) => `${seconds_text(lane.seconds)} ${lane.time_class}`;

/// The lanes that race, the fastest first: those whose bits are right. The reference only defines the
/// bits, so it does not where others ran.
function racers(cut) {
  const ran = lanes_that_ran(cut)
    .filter((lane) => lane.agrees && is_number(lane.seconds) && lane.seconds > 0);
  const machines = ran.filter((lane) => lane.lane !== 'reference');
  return (machines.length ? machines : ran).sort((a, b) => a.seconds - b.seconds);
}

function verdict_text(cut) {
  const [first, ...others] = racers(cut);
  const [second] = others;
  if (!first) return 'No lane has a time and the right bits.';
  const name = h('strong', {class: lane_class(first.lane)}, first.lane);
  if (!second) return [name, ` took ${timed(first)}.`];
  const ratio = second.seconds / first.seconds;
  const unsure = others.some((other) => first.seconds * (1 + error_of(first.lane)) >=
    other.seconds * (1 - error_of(other.lane)));
  return [name, ' wins: ', h('strong', {}, times_text(ratio)), ' as fast as ',
    lane_name(second.lane), unsure ? h('span', {class: 'unsure'},
      ', which their errors do not settle') : '.'];
}

/// What a lane spends most of its cycles on, and how near it is to what it could do.
function why_text(lane) {
  const words = [];
  const cycles = lane.cycles_by_category;
  const sum = cycles ? d3.sum(CATEGORIES, ([key]) => cycles[key]) : 0;
  if (sum > 0) {
    const [key, name] = CATEGORIES.reduce((a, b) => cycles[b[0]] > cycles[a[0]] ? b : a);
    words.push(`${percent_text(cycles[key] / sum)} of its cycles are ${name}`);
  }
  if (lane.bound && is_number(lane.bound.fraction)) {
    words.push(`reaches ${percent_text(lane.bound.fraction)} of its ${lane.bound.name} bound`);
  }
  return words.join('; ');
}

function why_list(cut) {
  const items = racers(cut).filter((lane) => why_text(lane)).map((lane) =>
    h('li', {}, lane_name(lane.lane), ': ', why_text(lane)));
  return items.length ? h('ul', {class: 'why'}, items) : null;
}

function agreement(cut) {
  const ran = lanes_that_ran(cut);
  const wrong = ran.filter((lane) => !lane.agrees);
  const out = cut.lanes.filter((lane) => ended(lane) !== 'ran');
  const words = [];
  if (wrong.length) {
    words.push(h('p', {class: 'badge bad'},
      `✗ ${wrong.map((lane) => lane.lane).join(', ')} ${wrong.length > 1 ? 'differ' : 'differs'}`));
  } else if (ran.length > 1) {
    words.push(h('p', {class: 'badge good'}, `✓ ${ran.length} lanes agree bit for bit`));
  } else if (ran.length === 1) {
    words.push(h('p', {class: 'badge'}, 'one lane: compared with no other'));
  }
  for (const lane of out) {
    words.push(h('p', {class: 'badge bad'}, `${lane.lane} ${ended(lane)}`));
  }
  return words;
}

/// Puts a text to the right of a mark, or to its left where it fits only there, or at the right edge.
function place_beside(text, mark, gap, width) {
  const length = text.node().getComputedTextLength();
  if (mark + gap + length <= width) text.attr({x: mark + gap, 'text-anchor': 'start'});
  else if (mark - gap - length >= 0) text.attr({x: mark - gap, 'text-anchor': 'end'});
  else text.attr({x: width, 'text-anchor': 'end'});
}

/// Times of the lanes on one logarithmic axis, with what they may be off by.
function race_chart(cut) {
  const ran = lanes_that_ran(cut).filter((lane) => is_number(lane.seconds) && lane.seconds > 0);
  if (!ran.length) return null;
  const row = 34;
  const label = `Times of ${cut.cut}: ` +
    ran.map((lane) => `${lane.lane} ${timed(lane)}`).join(', ');
  return chart(label, ran.length * row + 44, (svg, width, height) => {
    const area = {left: 86, right: width - 14, top: 6, bottom: height - 26};
    const ends = ran.flatMap((lane) => [lane.seconds * (1 - error_of(lane.lane)),
                                        lane.seconds * (1 + error_of(lane.lane))]);
    const x = d3.scale.log().domain(log_domain(ends, 2.2)).range([area.left, area.right]);
    axis(svg, x, 'bottom', log_ticks(x.domain(), width < 480 ? 4 : 8), seconds_text, area);
    ran.forEach((lane, i) => {
      const y = area.top + row * (i + 0.5);
      const error = error_of(lane.lane);
      const color = lane_color(lane.lane);
      const g = svg.append('g').style('color', color);
      g.append('text').attr({x: 0, y: y + 5, class: 'row-name'}).text(lane.lane);
      g.append('line').attr({x1: area.left, x2: x(lane.seconds), y1: y, y2: y, class: 'stem'});
      if (error > 0) {
        g.append('line').attr({class: 'whisker', y1: y, y2: y,
          x1: x(lane.seconds * Math.max(1e-3, 1 - error)), x2: x(lane.seconds * (1 + error))});
      }
      g.append('circle').attr({cx: x(lane.seconds), cy: y, r: 6});
      const gap = error > 0 ? 22 : 12;
      const text = g.append('text').attr({class: 'row-value', y: y - 7}).text(timed(lane));
      place_beside(text, x(lane.seconds), gap, width);
    });
  });
}

function summary_section() {
  if (!cuts.length) return null;
  return h('section', {class: 'summary', 'aria-label': 'Summary'},
    h('h2', {}, 'Which machine wins'),
    h('div', {class: 'cards'}, cuts.map((cut, index) => h('article', {class: 'card'},
      h('h3', {}, h('a', {href: `#cut-${index}`}, cut.cut),
        cut.identity.chips > 1 ? ` over ${cut.identity.chips} chips` : ''),
      h('p', {class: 'verdict'}, verdict_text(cut)),
      agreement(cut), race_chart(cut), why_list(cut)))));
}
