// What was busy when, and quantities over time.
const TRACK_COLORS = ['var(--d5005)', 'var(--spatial)', 'var(--cuda)', 'var(--other)',
  'var(--reference)', 'var(--cat-movement)', 'var(--cat-kv-stream)', 'var(--bad)'];

const MOST_CURVES = 3;  // that one chart can tell apart

/// Groups of tracks as strips: a row a track, the darker the busier.
class Strips {
  constructor(timeline, program) {
    Object.assign(this, {timeline, program, row: 15, cursor: null});
    this.canvas = h('canvas', {class: 'strips', tabindex: '0', role: 'img',
      'aria-label': `${timeline.lane}: ${timeline.tracks.length} tracks over ` +
        `${seconds_text(timeline.end_ns * 1e-9)}. Arrow keys read one stretch after another.`});
    this.names = h('div', {class: 'strip-names', 'aria-hidden': 'true'});
    this.rows = [];
    let group = null;
    for (const track of timeline.tracks) {
      if (track.group !== group) this.rows.push({group: track.group});
      group = track.group;
      this.rows.push({track});
    }
    for (const row of this.rows) {
      this.names.append(h('span', {class: row.group ? 'group' : null},
        row.group || row.track.name));
    }
    on_resize(this.canvas, () => this.draw());
    window.addEventListener('themechange', () => this.draw());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    tipped(this.canvas, (event) => this.words(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.element = h('div', {class: 'strip-box', style: `color:${lane_color(timeline.lane)}`},
      this.names, this.canvas);
  }
  draw() {
    const canvas = this.canvas;
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = this.rows.length * this.row;
    if (width < 10) return;
    canvas.style.height = `${height}px`;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const style = getComputedStyle(canvas);
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    this.rows.forEach((row, i) => {
      if (!row.track) return;
      pen.fillStyle = style.getPropertyValue('--grid').trim();
      pen.fillRect(0, i * this.row + 1, width, this.row - 2);
      pen.fillStyle = style.color;
      const bins = row.track.busy.length;
      row.track.busy.forEach((busy, bin) => {
        if (!(busy > 0)) return;
        pen.globalAlpha = 0.12 + 0.88 * busy;
        const left = Math.floor(bin * width / bins);
        pen.fillRect(left, i * this.row + 1, Math.ceil((bin + 1) * width / bins) - left,
          this.row - 2);
      });
      pen.globalAlpha = 1;
    });
    if (this.cursor) {
      pen.strokeStyle = style.getPropertyValue('--ink').trim();
      const bin = this.cursor.bin * width / this.timeline.bins;
      pen.strokeRect(bin - 1, this.cursor.row * this.row, width / this.timeline.bins + 2, this.row);
    }
  }
  tell(row, bin) {
    const at = this.rows[row];
    if (!at || !at.track) return '';
    const step = this.timeline.end_ns * 1e-9 / this.timeline.bins;
    const line = at.track.line[bin];
    const {values, unit} = at.track;
    const amount = !values ? `${percent_text(at.track.busy[bin])} busy`
      : unit === 'fraction' ? percent_text(values[bin]) : `${digits(values[bin])} ${unit}`;
    return `${at.track.group} · ${at.track.name}: ${amount}\n` +
      `${seconds_text(bin * step)} to ${seconds_text((bin + 1) * step)}` +
      (at.track.busy[bin] > 0 && line ? `\nline ${line}: ${line_text(this.program, line)}` : '');
  }
  words(event) {
    if (event.type === 'focus') {
      return this.cursor ? this.tell(this.cursor.row, this.cursor.bin) : 'Arrow keys move about.';
    }
    const box = this.canvas.getBoundingClientRect();
    const bin = Math.floor((event.clientX - box.left) / box.width * this.timeline.bins);
    return this.tell(Math.floor((event.clientY - box.top) / this.row),
      Math.max(0, Math.min(this.timeline.bins - 1, bin)));
  }
  key(event) {
    const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const at = this.cursor || {row: 0, bin: -step[1]};
    let row = at.row;
    do {
      row += step[0] || (this.rows[row] && this.rows[row].track ? 0 : 1);
    } while (this.rows[row] && !this.rows[row].track);
    if (!this.rows[row]) row = at.row;
    const bin = Math.max(0, Math.min(this.timeline.bins - 1, at.bin + step[1]));
    this.cursor = {row, bin};
    this.draw();
    const box = this.canvas.getBoundingClientRect();
    show_tip(this.tell(row, bin), box.left + bin * box.width / this.timeline.bins,
      box.top + row * this.row);
    this.canvas.setAttribute('aria-description', this.tell(row, bin));
  }
}

/// Whether values of tracks add up to one of the machine: those of rates do, those of shares don't.
const adds_up = (unit) => unit.endsWith('/s');

function draw_stack(svg, counters, color, x, y, end) {
  const times = Array.from(new Set(counters.flatMap((c) => c.samples.map((s) => s[0]))))
    .sort((a, b) => a - b);
  const held = counters.map((counter) => {
    let next = 0;
    let now = 0;
    return times.map((time) => {
      while (next < counter.samples.length && counter.samples[next][0] <= time) {
        now = counter.samples[next++][1];
      }
      return now;
    });
  });
  const base = times.map(() => 0);
  counters.forEach((counter, i) => {
    const steps = times.map((time, k) => [time, base[k], base[k] += held[i][k]]);
    if (steps.length) steps.push([end].concat(steps[steps.length - 1].slice(1)));
    svg.append('path').attr({class: 'area', fill: color(i),
      d: d3.svg.area().interpolate('step-after').x((d) => x(d[0])).y0((d) => y(d[1]))
        .y1((d) => y(d[2]))(steps)});
  });
  return d3.max(base) || 0;
}

function stacked_top(counters) {
  const tops = counters.map((counter) => d3.max(counter.samples, (s) => s[1]) || 0);
  return counters.length && adds_up(counters[0].unit) ? d3.sum(tops) : d3.max(tops);
}

function counter_chart(timeline, counters) {
  const color = (i) => counters.length === 1 ? lane_color(timeline.lane)
    : TRACK_COLORS[i % TRACK_COLORS.length];
  const {unit, name} = counters[0];
  const stacked = adds_up(unit);
  // The peak is the machine's: it bounds one group's sum only where there is no other.
  const alone = timeline.counters.every((other) => other.name !== name ||
    other.group === counters[0].group);
  const peak = unit === 'GB/s' && alone && timeline.bytes_per_second > 0 && name !== 'written'
    ? timeline.bytes_per_second / 1e9 : 0;
  const top = unit === 'fraction' ? 1 : Math.max(stacked_top(counters), peak) * 1.08 || 1;
  const show = unit === 'fraction' ? percent_text : (v) => `${digits(v)}`;
  const label = `${timeline.lane}: ${name} over time, ${counters.length} tracks`;
  const figure = chart(label, 190, (svg, width, height) => {
    const area = {left: 56, right: width - 10, top: 22, bottom: height - 24};
    const x = d3.scale.linear().domain([0, timeline.end_ns]).range([area.left, area.right]);
    const y = d3.scale.linear().domain([0, top]).range([area.bottom, area.top]);
    axis(svg, y, 'left', y.ticks(4), show, area, unit === 'fraction' ? '' : unit);
    axis(svg, x, 'bottom', x.ticks(width < 480 ? 3 : 6), (t) => seconds_text(t * 1e-9), area);
    if (stacked) {
      draw_stack(svg, counters, color, x, y, timeline.end_ns);
    } else {
      counters.forEach((counter, i) => svg.append('path').attr({class: 'curve',
        d: step_path(counter.samples, x, y, timeline.end_ns)})
        .style('stroke', color(i)));
    }
    if (peak) {
      svg.append('line').attr({class: 'peak', x1: area.left, x2: area.right, y1: y(peak),
        y2: y(peak)});
      svg.append('text').attr({x: area.right, y: y(peak) - 5, 'text-anchor': 'end',
        class: 'roof-name'}).text(`peak ${digits(peak)} ${unit}`);
    }
  });
  return h('div', {class: 'panel'}, h('h4', {}, name, h('span', {class: 'soft'},
    stacked && counters.length > 1 ? ', one on the other' : '')),
  counters.length > 1 || counters[0].track ? legend(counters.map((counter, i) =>
    [counter.track || counter.name, color(i)])) : null, figure);
}

function counter_charts(timeline) {
  const kinds = new Map();
  for (const counter of timeline.counters) {
    if (!counter.samples.length) continue;
    const kind = `${counter.group}\n${counter.name}\n${counter.unit}`;
    if (!kinds.has(kind)) kinds.set(kind, []);
    kinds.get(kind).push(counter);
  }
  const some = (counters) => counters.some((c) => c.samples.some((sample) => sample[1] !== 0));
  const all = Array.from(kinds.values());
  const none = all.filter((counters) => !some(counters)).map((counters) => counters[0].name);
  return all.filter(some).map((counters) => counters.length > MOST_CURVES &&
    !adds_up(counters[0].unit) ? counter_strips(timeline, counters)
    : counter_chart(timeline, counters)).concat(none.length
    ? [h('p', {class: 'small panel whole'}, `Never anything but 0: ${none.join(', ')}.`)] : []);
}

/// Many quantities of one kind as strips: the deepest colour is the largest value of them all.
function counter_strips(timeline, counters) {
  const {name, unit, group} = counters[0];
  const top = d3.max(counters, (counter) => d3.max(counter.samples, (s) => s[1])) || 1;
  const step = timeline.end_ns / timeline.bins;
  const tracks = counters.map((counter) => {
    let next = 0;
    let now = 0;
    const values = d3.range(timeline.bins).map((bin) => {
      while (next < counter.samples.length && counter.samples[next][0] <= bin * step + 1e-6) {
        now = counter.samples[next++][1];
      }
      return now;
    });
    return {group, name: counter.track, busy: values.map((v) => v / top), line: [],
      values, unit};
  });
  const show = unit === 'fraction' ? percent_text(top) : `${digits(top)} ${unit}`;
  return h('div', {class: 'panel whole'}, h('h4', {}, name, h('span', {class: 'soft'},
    `: the deepest colour is ${show}`)),
  new Strips(Object.assign({}, timeline, {tracks}), null).element);
}

/// A lane's time, and how much of it is drawn where that is not all: before its first and after its
/// last slice a machine may only wait.
function drawn_text(cut, timeline) {
  const lane = cut.lanes.find((one) => one.lane === timeline.lane);
  const drawn = seconds_text(timeline.end_ns * 1e-9);
  if (!lane || !is_number(lane.seconds)) return drawn;
  const most = timeline.end_ns * 1e-9 > 0.99 * lane.seconds;
  const rest = most ? '' : `, of which the first ${drawn} are drawn`;
  return `${timed(lane)}${rest}`;
}

function lane_over_time(cut, timeline) {
  const said = [timeline.sampling, timeline.decimation].filter(Boolean);
  return h('div', {class: 'over-time'},
    h('h4', {}, lane_name(timeline.lane), h('span', {class: 'soft'}, ` ${drawn_text(cut, timeline)}`)),
    timeline.tracks.length ? new Strips(timeline, program_of(cut)).element : null,
    h('div', {class: 'panels'}, counter_charts(timeline)),
    said.length ? h('p', {class: 'small'}, `Not all is drawn: ${said.join('; ')}.`) : null);
}

function over_time_part(cut) {
  const lanes = cut.lanes.map((lane) => timeline_of(cut, lane.lane))
    .filter((timeline) => timeline && (timeline.tracks.length || timeline.counters.length));
  if (!lanes.length) return null;
  return h('div', {class: 'part'},
    heading(3, 'Over time', 'How busy each part of a machine was, from its start to its end; the ' +
      'deeper the colour the busier. Under it, what its memories carried and what stalled.'),
    lanes.map((timeline) => lane_over_time(cut, timeline)));
}
