// A roofline a lane: what its memory and its arithmetic allow, and where each line stands under it.
const line_text = (program, line) => line === 0 ? '(of no line)'
  : ((program && program.text.split('\n')[line - 1]) || '').trim();

/// Lines with both MACs and bytes, and some time (what is done in another line's shadow has next to
/// none): the others have no place in the chart. `ahead`: faster than its roof by its own time, since
/// its bytes came while lines before it ran.
function roofline_points(timeline) {
  const whole = d3.sum(timeline.lines, (use) => use.seconds);
  return timeline.lines
    .filter((use) => use.macs > 0 && use.bytes > 0 && use.seconds > 1e-3 * whole)
    .map((use) => {
      const intensity = use.macs / use.bytes;
      const rate = use.macs / use.seconds;
      return {line: use.line, seconds: use.seconds, share: use.seconds / whole, intensity, rate,
        ahead: rate > roof_height(timeline, intensity)};
    });
}

function roof_height(timeline, intensity) {
  const slope = timeline.bytes_per_second > 0 ? timeline.bytes_per_second * intensity : Infinity;
  const flat = timeline.macs_per_second > 0 ? timeline.macs_per_second : Infinity;
  return Math.min(slope, flat);
}

function draw_roof(svg, timeline, x, y, area) {
  const [low, high] = x.domain();
  const ridge = timeline.macs_per_second / timeline.bytes_per_second;
  const at = [low, ridge, high].filter((i) => is_number(i) && i >= low && i <= high)
    .map((i) => [i, roof_height(timeline, i)]).filter(([, rate]) => isFinite(rate));
  if (!at.length) return;
  svg.append('path').attr({class: 'roof', d: d3.svg.line().x((d) => x(d[0])).y((d) => y(d[1]))(at)});
  const name = (text, attributes) =>
    svg.append('text').attr('class', 'roof-name').attr(attributes).text(text);
  if (timeline.macs_per_second > 0) {
    name(amount_text(timeline.macs_per_second, 'MAC/s'), {x: area.right,
      y: y(roof_height(timeline, high)) - 6, 'text-anchor': 'end'});
  }
  if (timeline.bytes_per_second > 0) {
    const top = is_number(ridge) ? Math.min(ridge, high) : high;
    const middle = Math.sqrt(low * top);  // of the slope; the name stands on its left
    name(`${timeline.memory} ${amount_text(timeline.bytes_per_second, 'B/s')}`, {
      x: x(middle) - 8, y: Math.max(area.top + 12, y(roof_height(timeline, middle)) - 6),
      'text-anchor': x(middle) - area.left > 110 ? 'end' : 'start'});
  }
}

function draw_roofline(svg, width, height, timeline, points, link, tell) {
  const area = {left: 62, right: width - 10, top: 26, bottom: height - 40};
  const ridge = timeline.macs_per_second / timeline.bytes_per_second;
  const x = d3.scale.log().range([area.left, area.right]).domain(log_domain(
    points.map((p) => p.intensity).concat(isFinite(ridge) ? [ridge] : []), 6));
  const roofs = x.domain().map((i) => roof_height(timeline, i)).filter(isFinite);
  const y = d3.scale.log().range([area.bottom, area.top])
    .domain(log_domain(points.map((p) => p.rate).concat(roofs), 2));
  axis(svg, x, 'bottom', log_ticks(x.domain(), 5), (t) => amount_text(t, ''), area, 'MACs per byte');
  axis(svg, y, 'left', log_ticks(y.domain(), 5), (t) => amount_text(t, ''), area, 'MACs per second');
  draw_roof(svg, timeline, x, y, area);
  const largest = d3.max(points, (p) => p.share) || 1;
  for (const point of points.slice().sort((a, b) => b.share - a.share)) {
    const words = tell(point);
    const dot = svg.append('a').attr({href: link(point.line), 'aria-label': words});
    dot.append('circle').attr({class: point.ahead ? 'dot ahead' : 'dot', cx: x(point.intensity),
      cy: y(Math.min(point.rate, roof_height(timeline, point.intensity))),
      r: 3.5 + 8 * Math.sqrt(point.share / largest)});
    tipped(dot.node(), words);
  }
}

function roofline_panel(cut, index, timeline) {
  const program = program_of(cut);
  const points = roofline_points(timeline);
  const whole = d3.sum(timeline.lines, (use) => use.seconds);
  const placed = d3.sum(points, (point) => point.seconds);
  const tell = (point) => `line ${point.line}: ${line_text(program, point.line)}\n` +
    `${seconds_text(point.seconds)}, ${percent_text(point.share)} of the time; ` +
    (point.ahead ? 'at its roof: some of its bytes came while lines before it ran'
      : `${amount_text(point.rate, 'MAC/s')}, ${percent_text(point.rate /
        roof_height(timeline, point.intensity))} of its roof`);
  const notes = [];
  if (!(timeline.bytes_per_second > 0) || !(timeline.macs_per_second > 0)) {
    notes.push('Its peaks are not known: no whole roof.');
  }
  if (whole > 0 && placed < whole) {
    notes.push(`${percent_text(1 - placed / whole)} of the time is not in a dot: lines without ` +
      `MACs or bytes of ${timeline.memory || 'its memory'}, and what is of no line.`);
  }
  const ahead = points.filter((point) => point.ahead).length;
  if (ahead > 0) {
    notes.push(`${ahead} ${ahead === 1 ? 'line, hollow, stands' : 'lines, hollow, stand'} at the roof: ` +
      'its memory runs ahead, so some of their bytes came while lines before them ran.');
  }
  const name = (timeline_point) => `#line-${index}-${timeline_point}`;
  return h('div', {class: 'panel', style: `color:${lane_color(timeline.lane)}`},
    h('h4', {}, lane_name(timeline.lane)),
    points.length ? chart(`Roofline of ${timeline.lane}`, (width) => width < 420 ? 260 : 300,
      (svg, width, height) =>
        draw_roofline(svg, width, height, timeline, points, name, tell)) : null,
    notes.length ? h('p', {class: 'small'}, notes.join(' ')) : null);
}

function roofline_part(cut, index) {
  const lanes = cut.lanes.map((lane) => timeline_of(cut, lane.lane))
    .filter((timeline) => timeline && timeline.lines.length);
  if (!lanes.length) return null;
  return h('div', {class: 'part'},
    heading(3, 'Roofline', 'Each dot is a line of the program, as large as its share of the time; ' +
      'it leads to the line. Under the slope memory limits it, under the flat the arithmetic.'),
    h('div', {class: 'panels'}, lanes.map((timeline) => roofline_panel(cut, index, timeline))));
}
