// A sweep: times of the lanes along one axis, the other axes held; every point in a table; what
// went wrong.

/// The axes that have a curve: several values with numbers.
const curve_axes = (sweep) => sweep.axes.flatMap((axis) => (axis.series || series_of(axis))
  .filter((series) => series.numbers.length > 1)
  .map((series) => Object.assign({axis: axis.name}, series)));

/// "decode:128" is number 128 of the pattern "decode:{}"; where the sweep does not say it itself.
function series_of(axis) {
  const patterns = new Map();
  for (const text of axis.values) {
    const match = /^(.*?)([0-9]+(?:\.[0-9]+)?)([^0-9]*)$/.exec(String(text));
    if (!match) continue;
    const pattern = `${match[1]}{}${match[3]}`;
    if (!patterns.has(pattern)) patterns.set(pattern, {pattern, values: [], numbers: []});
    patterns.get(pattern).values.push(text);
    patterns.get(pattern).numbers.push(Number(match[2]));
  }
  return Array.from(patterns.values());
}

/// What a series is called: "decode:N", "chips".
const series_name = (series) => series.pattern === '{}' ? series.axis
  : series.pattern.replace('{}', 'N');
const at_number = (series, number) => series.pattern === '{}'
  ? `${series.axis} ${count_text(number)}` : series.pattern.replace('{}', count_text(number));

const sorted_numbers = (series) => series.numbers.slice().sort((a, b) => a - b);

function sweep_error(sweep, point, lane) {
  if (sweep.errors && is_number(sweep.errors[lane])) return sweep.errors[lane];
  return error_of(lane, ((point.result || {}).context || {}).time_notes);
}

const lanes_at = (point) => (((point.result || {}).cuts || [])[0] || {lanes: []}).lanes;

/// How a lane ended at a point: "refused", "failed", "differs", or "ran".
const ended_at = (lane) =>
  ended(lane) !== 'ran' ? ended(lane) : lane.agrees === true ? 'ran' : 'differs';

/// Only a lane whose bits are right has a time.
const has_time = (lane) => ended_at(lane) === 'ran' && is_number(lane.seconds) && lane.seconds > 0;

/// The curves along a series with the others held at `fixed`: [{lane, points: [[x, seconds,
/// error, class]]}].
function curves_of(sweep, series, fixed) {
  const lanes = new Map();
  for (const point of sweep.points) {
    const at = series.values.indexOf(point.values[series.axis]);
    const held = Object.entries(fixed).every(([name, text]) => point.values[name] === text);
    if (at < 0 || !held) continue;
    for (const lane of lanes_at(point).filter(has_time)) {
      if (!lanes.has(lane.lane)) lanes.set(lane.lane, []);
      lanes.get(lane.lane).push([series.numbers[at], lane.seconds,
        sweep_error(sweep, point, lane.lane), lane.time_class]);
    }
  }
  return Array.from(lanes, ([lane, points]) =>
    ({lane, points: points.sort((a, b) => a[0] - b[0])}));
}

const same_fixed = (a, b) =>
  Object.keys(Object.assign({}, a, b)).every((key) => (a || {})[key] === (b || {})[key]);

function crossovers_of(sweep, series, fixed) {
  return (sweep.crossovers || []).filter((c) => c.axis === series.axis &&
    (c.pattern === undefined || c.pattern === series.pattern) && same_fixed(c.fixed, fixed));
}

function draw_curves(svg, width, height, series, curves, crossovers) {
  const area = {left: 60, right: width - 74, top: 24, bottom: height - 40};
  const all = curves.flatMap((curve) => curve.points);
  const numbers = all.map((point) => point[0]);
  const log = d3.min(numbers) > 0 && d3.max(numbers) / d3.min(numbers) >= 8;
  const x = log ? d3.scale.log().domain(d3.extent(numbers)) : d3.scale.linear()
    .domain(d3.extent(numbers));
  x.range([area.left, area.right]);
  const y = d3.scale.log().range([area.bottom, area.top]).domain(log_domain(
    all.flatMap(([, s, e]) => [s * (1 - Math.min(e, 0.9)), s * (1 + e)]), 1.5));
  const values = Array.from(new Set(numbers)).sort((a, b) => a - b);
  const each = Math.ceil(values.length / (width < 480 ? 4 : 9));
  axis(svg, x, 'bottom', values.filter((_, i) => i % each === 0), count_text, area,
    series_name(series));
  axis(svg, y, 'left', log_ticks(y.domain(), 6), seconds_text, area, 'time');
  for (const c of crossovers) draw_crossover(svg, c, x, area);
  const labels = [];
  for (const {lane, points} of curves) {
    const g = svg.append('g').style('color', lane_color(lane));
    // No line goes over a point at which the lane has no time.
    const steps = sorted_numbers(series).map((number) =>
      points.find((point) => point[0] === number) || [number]);
    const has = (step) => step.length > 1;
    if (points.some((point) => point[2] > 0)) {
      g.append('path').attr({class: 'band', d: d3.svg.area().defined(has).x((d) => x(d[0]))
        .y0((d) => y(d[1] * (1 - Math.min(d[2], 0.9)))).y1((d) => y(d[1] * (1 + d[2])))(steps)});
    }
    g.append('path').attr({class: 'curve',
      d: d3.svg.line().defined(has).x((d) => x(d[0])).y((d) => y(d[1]))(steps)});
    for (const point of points) {
      const words = `${lane} at ${at_number(series, point[0])}: ` +
        `${seconds_text(point[1])} ${point[3]}` +
        (point[2] > 0 ? `, ± ${Math.round(100 * point[2])} %` : '');
      const dot = g.append('circle').attr({class: 'point', cx: x(point[0]), cy: y(point[1]), r: 4,
        tabindex: 0, role: 'img', 'aria-label': words});
      tipped(dot.node(), words);
    }
    labels.push({lane, at: y(points[points.length - 1][1])});
  }
  labels.sort((a, b) => a.at - b.at).forEach((label, i) => {  // names do not lie on one another
    if (i > 0) label.at = Math.max(label.at, labels[i - 1].at + 14);
    svg.append('text').attr({x: area.right + 9, y: label.at + 4, class: 'row-name'})
      .style('color', lane_color(label.lane)).text(label.lane);
  });
}

function draw_crossover(svg, crossover, x, area) {
  const clip = (at) => Math.max(area.left, Math.min(area.right, at));
  const left = is_number(crossover.at_least) ? clip(x(crossover.at_least)) : area.left;
  const right = is_number(crossover.at_most) ? clip(x(crossover.at_most)) : area.right;
  if (right > left) {
    svg.append('rect').attr({class: 'between', x: left, width: right - left, y: area.top,
      height: area.bottom - area.top});
  }
  const at = clip(x(crossover.at));
  svg.append('line').attr({class: 'peak', x1: at, x2: at, y1: area.top, y2: area.bottom});
}

/// Between which points of the sweep a crossover lies, as the errors of the times leave no doubt.
function between_text(c) {
  const [low, high] = [c.at_least, c.at_most];
  if (!is_number(low) && !is_number(high)) return ' (anywhere on this axis, by the times\' errors)';
  if (!is_number(low)) return ` (surely at most ${count_text(high)})`;
  if (!is_number(high)) return ` (surely at least ${count_text(low)})`;
  return ` (surely between ${count_text(low)} and ${count_text(high)})`;
}

function crossover_words(sweep, series, fixed, crossovers) {
  const items = crossovers.map((c) => h('li', {}, lane_name(c.to_lane), ' overtakes ',
    lane_name(c.from_lane), ' at about ', h('strong', {}, at_number(series, c.at)), between_text(c),
    c.leader ? h('span', {class: 'badge'}, `the lead ${c.leader_open ? 'may change' : 'changes'}`)
      : null));
  for (const u of sweep.undecided || []) {
    if (u.axis !== series.axis || !same_fixed(u.fixed, fixed)) continue;
    if (u.pattern !== undefined && u.pattern !== series.pattern) continue;
    items.push(h('li', {}, lane_name(u.lanes[0]), ' and ', lane_name(u.lanes[1]),
      ' are within their errors ' + (u.from === u.to ? `at ${count_text(u.from)}`
        : `from ${count_text(u.from)} to ${count_text(u.to)}`)));
  }
  return items.length ? h('ul', {class: 'crossovers'}, items)
    : h('p', {class: 'small'}, 'No lane overtakes another here.');
}

function curves_table(series, curves) {
  const columns = [{name: series_name(series)}].concat(curves.map((curve) =>
    ({name: `${curve.lane}, ${curve.points[0][3]}`, right: true})));
  const rows = series.numbers.map((number) => [count_text(number)].concat(curves.map((curve) => {
    const point = curve.points.find((p) => p[0] === number);
    return point ? h('data', {value: String(point[1])}, seconds_text(point[1])) : '–';
  })));
  return folded('Times as numbers', h('div', {class: 'wide'},
    table(`Times along ${series_name(series)}`, columns, rows, {class: 'cards-when-narrow'})));
}

/// The combinations of the other axes' values that have points.
function settings_of(sweep, series) {
  const seen = new Map();
  for (const point of sweep.points) {
    if (!series.values.includes(point.values[series.axis])) continue;
    const fixed = Object.assign({}, point.values);
    delete fixed[series.axis];
    seen.set(JSON.stringify(fixed), fixed);
  }
  return Array.from(seen.values());
}

function series_panel(sweep, series) {
  const settings = settings_of(sweep, series);
  const holder = h('div', {});
  const name = (fixed) => Object.entries(fixed).map(([key, text]) => `${key} ${text}`).join(', ');
  const show = (fixed) => {
    const curves = curves_of(sweep, series, fixed);
    const crossovers = crossovers_of(sweep, series, fixed);
    holder.replaceChildren(...(curves.length ? [
      chart(`Times along ${series_name(series)}, ${name(fixed)}`,
        (width) => width < 480 ? 300 : 400, (svg, width, height) =>
          draw_curves(svg, width, height, series, curves, crossovers)),
      crossover_words(sweep, series, fixed, crossovers), curves_table(series, curves)]
      : [h('p', {class: 'small'}, 'No lane has a time here.')]));
  };
  const choice = h('select', {onchange: () => show(settings[choice.selectedIndex])},
    settings.map((fixed) => h('option', {}, name(fixed))));
  if (settings.length) show(settings[0]);
  const varied = settings.length > 1;
  return h('div', {class: 'part'},
    h('h3', {}, `Along ${series_name(series)}`),
    varied ? h('label', {class: 'choice'}, 'at ', choice)
      : h('p', {class: 'word'}, settings.length ? name(settings[0]) : ''), holder);
}

/// The machine (the reference is none) with the least time at a point, and whether the errors of
/// the times leave that open: {lane, open}; null where none has a time.
function fastest_at(sweep, point) {
  const [first, ...others] = lanes_at(point)
    .filter((lane) => has_time(lane) && lane.lane !== 'reference')
    .sort((a, b) => a.seconds - b.seconds);
  if (!first) return null;
  const error = (lane) => sweep_error(sweep, point, lane.lane);
  return {lane: first.lane, open: others.some((other) =>
    first.seconds * (1 + error(first)) >= other.seconds * (1 - error(other)))};
}

function point_cell(lane) {
  if (!lane) return '–';
  if (ended_at(lane) !== 'ran') return h('span', {class: 'bad'}, ended_at(lane));
  if (!has_time(lane)) return '–';
  return h('span', {}, h('data', {value: String(lane.seconds)},
    seconds_text(lane.seconds)), ' ', h('span', {class: 'class'}, lane.time_class));
}

/// Every point with the time and class of every lane, or why it has none.
function points_table(sweep) {
  const lanes = Array.from(new Set(sweep.points.flatMap((point) =>
    lanes_at(point).map((lane) => lane.lane))));
  const columns = sweep.axes.map((axis) => ({name: axis.name}))
    .concat(lanes.map((lane) => ({name: lane, right: true})), [{name: 'fastest'}]);
  let open = false;
  const rows = sweep.points.map((point) => {
    const fastest = fastest_at(sweep, point);
    open = open || (fastest !== null && fastest.open);
    return sweep.axes.map((axis) => String(point.values[axis.name])).concat(
      lanes.map((name) => point_cell(lanes_at(point).find((lane) => lane.lane === name))),
      [fastest ? h('span', {class: 'pair'}, lane_name(fastest.lane), fastest.open ? '?' : '')
        : '–']);
  });
  const errors = lanes.map((lane) => [lane,
    d3.max(sweep.points, (point) => sweep_error(sweep, point, lane))]).filter(([, e]) => e > 0);
  return [h('div', {class: 'wide'}, table('Times of all points', columns, rows,
    {class: 'lanes points cards-when-narrow'})),
  open ? h('p', {class: 'small'}, '?: the errors of the times leave the fastest open') : null,
  errors.map(([lane, error]) => h('p', {class: 'small'}, 'times of ', lane_name(lane),
    ` are within ${Number((100 * error).toPrecision(3))} %`))];
}

/// Why a lane has no time at a point: where it differs, the line that parts first.
function reason_text(lane) {
  if (ended(lane) !== 'ran') return lane.refused || lane.failed;
  const d = lane.first_divergence;
  return d ? `first${d.layer ? ` in layer ${d.layer}` : ''} at line ${d.line}: ${d.text}` : '';
}

/// Which lanes refused, failed or differ, each reason once, and at which points.
function troubles(sweep) {
  const varied = sweep.axes.filter((axis) => axis.values.length > 1);
  const name = (point) => varied.map(({name: axis}) => axis === 'cut' ? point.values.cut
    : `${axis} ${point.values[axis]}`).join(', ');
  const found = new Map();
  for (const point of sweep.points) {
    for (const lane of lanes_at(point).filter((one) => ended_at(one) !== 'ran')) {
      const [how, why] = [ended_at(lane), reason_text(lane)];
      const key = JSON.stringify([lane.lane, how, why]);
      if (!found.has(key)) found.set(key, {lane: lane.lane, how, why, points: []});
      found.get(key).points.push(name(point));
    }
  }
  const gravest = ['differs', 'failed', 'refused'];
  const sorted = Array.from(found.values())
    .sort((a, b) => gravest.indexOf(a.how) - gravest.indexOf(b.how));
  const said = sorted.map(({lane, how, why, points}) => {
    const where = points.length < sweep.points.length ? ` at ${points.join('; ')}`
      : points.length > 1 ? ' at every point' : '';
    return h('p', {class: 'remark bad'}, lane_name(lane), ` ${how}${where}`, why ? `: ${why}` : '');
  });
  const shown = 6;
  return [said.slice(0, shown), said.length > shown
    ? folded(`${said.length - shown} more reasons`, said.slice(shown)) : null];
}

function sweep_section(sweep) {
  const series = curve_axes(sweep);
  const points = points_table(sweep);
  return h('section', {class: 'sweep', 'aria-label': 'Curves'}, h('h2', {}, 'Curves'),
    h('p', {class: 'word'}, `${sweep.points.length} points over ` +
      sweep.axes.map((axis) => `${axis.name} (${axis.values.length})`).join(' × ') +
      (series.length ? '. A pale band is what a lane\'s times may be off by; a dashed line, ' +
        'where one lane overtakes another, with what the errors leave open around it.'
        : '. No axis has several numbers: there is no curve, but a table.')),
    troubles(sweep),
    series.map((one) => series_panel(sweep, one)),
    h('div', {class: 'all-points'}, series.length
      ? folded(`Times of all ${sweep.points.length} points`, points) : points));
}
