// Elements. Text always goes in as text: no string of the document can become markup.
function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(4).filter((child) => child !== null && child !== undefined));
  return element;
}

/// A number of the result: `at` is its JSON pointer, so that a reader (and a test) finds it again.
function value(at, number, text) {
  return h('data', {'data-at': at, value: number === null ? 'null' : String(number)}, text);
}

/// A table; `columns`: [{name, right}], `rows`: arrays of children of cells; the last cell of a
/// shorter row takes all the columns that are left. On a narrow screen each row becomes a card whose
/// cells carry their columns' names.
function table(caption, columns, rows, attributes) {
  const head = h('tr', {role: 'row'}, columns.map((column) =>
    h('th', {scope: 'col', role: 'columnheader', class: column.right ? 'right' : null},
      column.name)));
  const body = rows.map((cells) => h('tr', {role: 'row'}, cells.map((cell, i) => i === 0
    ? h('th', {scope: 'row', role: 'rowheader', 'data-label': columns[i].name}, cell)
    : h('td', {role: 'cell', class: columns[i].right ? 'right' : null,
               colspan: i === cells.length - 1 && i < columns.length - 1 ? columns.length - i : null,
               'data-label': columns[i].name}, cell))));
  return h('table', Object.assign({role: 'table'}, attributes),
    h('caption', {}, caption), h('thead', {role: 'rowgroup'}, head),
    h('tbody', {role: 'rowgroup'}, body));
}

/// A folded part that printing opens.
const folded = (name, ...children) => h('details', {}, h('summary', {}, name), ...children);

const lane_class = (lane) => `lane lane-${LANES.includes(lane) ? lane : 'other'}`;
const lane_name = (lane) => h('span', {class: lane_class(lane)}, lane);
const lane_color = (lane) => `var(--${LANES.includes(lane) ? lane : 'other'})`;

/// A title and a word under it.
const heading = (level, name, word) =>
  [h(`h${level}`, {}, name), word ? h('p', {class: 'word'}, word) : null];

// One tip for the whole page, for what the mouse is over or the keyboard is on.
const tip = document.getElementById('tip');
function show_tip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  tip.style.left = `${Math.max(8, Math.min(x + 12, width - box.width - 8))}px`;
  tip.style.top = `${y + box.height + 24 > window.innerHeight ? y - box.height - 12 : y + 16}px`;
}
function hide_tip() {
  tip.hidden = true;
}
/// Gives an element a tip; `text` may be a function of the event.
function tipped(element, text) {
  const words = (event) => typeof text === 'function' ? text(event) : text;
  element.addEventListener('mousemove', (event) => {
    const now = words(event);
    if (now) show_tip(now, event.clientX, event.clientY);
    else hide_tip();
  });
  element.addEventListener('mouseleave', hide_tip);
  element.addEventListener('focus', (event) => {
    const box = element.getBoundingClientRect();
    const now = words(event);
    if (now) show_tip(now, box.left + box.width / 2, box.top + box.height / 2);
  });
  element.addEventListener('blur', hide_tip);
  return element;
}
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hide_tip();
});
window.addEventListener('scroll', hide_tip, {passive: true});
const open_target = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const part = target && target.closest('details');
  if (!part || part.open) return;
  part.open = true;
  target.scrollIntoView();
};
window.addEventListener('hashchange', open_target);
window.addEventListener('beforeprint', () => {
  for (const part of document.querySelectorAll('details')) {
    part.dataset.was = part.open ? 'open' : '';
    part.open = true;
  }
});
window.addEventListener('afterprint', () => {
  for (const part of document.querySelectorAll('details')) part.open = part.dataset.was === 'open';
});
