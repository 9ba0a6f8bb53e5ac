// Common ground of the charts (d3).

/// A figure that draws itself as wide as it has room, again where that changes. `paint(svg, width)`
/// gets an empty svg, a d3 selection, of `height` (or a function of the width).
function chart(label, height, paint) {
  const box = h('div', {class: 'chart'});
  let last = 0;
  const redraw = (force) => {
    const width = Math.floor(box.clientWidth);
    if (width < 40 || (!force && width === last)) return;
    last = width;
    const tall = typeof height === 'function' ? height(width) : height;
    d3.select(box).selectAll('svg').remove();
    const svg = d3.select(box).append('svg')
      .attr({viewBox: `0 0 ${width} ${tall}`, width: '100%', role: 'group', 'aria-label': label});
    paint(svg, width, tall);
  };
  on_resize(box, () => redraw(false));
  return box;
}

/// Calls `draw` when the size of a node has changed, in the frame after: drawing may change it again.
function on_resize(node, draw) {
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(node);
}

/// Round numbers of a logarithmic domain, not more than `most`: as many in each decade as go, or
/// powers of ten some decades apart.
function log_ticks(domain, most) {
  const [first, last] = domain.map((x) => Math.floor(Math.log10(x)));
  const ticks_of = (step, digits) => d3.range(first, last + 1, step)
    .flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)))
    .filter((x) => x >= domain[0] * (1 - 1e-9) && x <= domain[1] * (1 + 1e-9));
  for (const digits of [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1, 3]]) {
    const ticks = ticks_of(1, digits);
    if (ticks.length <= most) return ticks;
  }
  return ticks_of(Math.ceil((last - first + 1) / most), [1]);
}

/// A domain with some room on both sides, of positive values.
function log_domain(values, room) {
  const some = values.filter((x) => is_number(x) && x > 0);
  if (!some.length) return [0.1, 10];
  return [d3.min(some) / room, d3.max(some) * room];
}

/// Moves the labels of a horizontal axis into the picture, and takes those away that would run into
/// the one before.
function place_labels(svg, labels) {
  const width = svg.node().viewBox.baseVal.width;
  let end = -Infinity;
  for (const label of labels) {
    const half = label.node().getComputedTextLength() / 2;
    const at = Math.min(Math.max(Number(label.attr('x')), half), width - half);
    if (at - half < end + 6) {
      label.remove();
      continue;
    }
    label.attr('x', at);
    end = at + half;
  }
}

/// An axis with its grid: `side` is 'bottom' or 'left'.
function axis(svg, scale, side, ticks, format, area, name) {
  const g = svg.append('g').attr('class', 'axis');
  const labels = [];
  for (const tick of ticks) {
    const at = scale(tick);
    const [x1, y1, x2, y2] = side === 'bottom'
      ? [at, area.top, at, area.bottom] : [area.left, at, area.right, at];
    g.append('line').attr({x1, y1, x2, y2});
    const label = g.append('text').attr(side === 'bottom'
      ? {x: at, y: area.bottom + 16, 'text-anchor': 'middle'}
      : {x: area.left - 7, y: at + 4, 'text-anchor': 'end'}).text(format(tick));
    labels.push(label);
  }
  if (side === 'bottom') place_labels(svg, labels);
  if (!name) return;
  g.append('text').attr('class', 'axis-name').attr(side === 'bottom'
    ? {x: area.right, y: area.bottom + 33, 'text-anchor': 'end'}
    : {x: area.left, y: area.top - 9, 'text-anchor': 'start'}).text(name);
}

/// Samples that hold until the next one, as a line of steps.
function step_path(samples, x, y, end) {
  return d3.svg.line().interpolate('step-after').x((d) => x(d[0])).y((d) => y(d[1]))(
    samples.concat(samples.length ? [[end, samples[samples.length - 1][1]]] : []));
}

const legend = (items) => h('ul', {class: 'legend'}, items.map(([name, color, word]) =>
  h('li', {}, h('span', {class: 'swatch', style: `background:${color}`}), name,
    word ? h('span', {class: 'soft'}, ` ${word}`) : null)));
