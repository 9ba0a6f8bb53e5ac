// Where the cycles go: one bar a lane, the same categories on all.
const category_color = (key) => `var(--cat-${key.replace('_', '-')})`;

function category_bar(lane) {
  const cycles = lane.cycles_by_category;
  const sum = d3.sum(CATEGORIES, ([key]) => cycles[key]);
  if (!(sum > 0)) return h('p', {class: 'soft'}, 'no cycles');
  const words = CATEGORIES.map(([key, name]) => `${name} ${percent_text(cycles[key] / sum)}`);
  return h('div', {class: 'stack', role: 'img', 'aria-label': `${lane.lane}: ${words.join(', ')}`},
    CATEGORIES.filter(([key]) => cycles[key] > 0).map(([key, name]) => {
      const share = cycles[key] / sum;
      return tipped(h('span', {style: `width:${100 * share}%;background:${category_color(key)}`,
                               class: `cat-${key.replace('_', '-')}`},
        share > 0.09 ? h('span', {}, `${Math.round(100 * share)} %`) : null),
      `${name}: ${whole_text(cycles[key])} cycles, ${percent_text(share)}`);
    }));
}

function categories_part(cut, index) {
  const lanes = lanes_that_ran(cut).filter((lane) => lane.cycles_by_category);
  if (!lanes.length) return null;
  const columns = [{name: 'lane'}].concat(CATEGORIES.map(([, name]) => ({name, right: true})));
  const rows = lanes.map((lane) => {
    const at = `/cuts/${index}/lanes/${cut.lanes.indexOf(lane)}/cycles_by_category`;
    return [lane_name(lane.lane)].concat(CATEGORIES.map(([key]) =>
      value(`${at}/${key}`, lane.cycles_by_category[key],
        whole_text(lane.cycles_by_category[key]))));
  });
  return h('div', {class: 'part'},
    heading(3, 'Where the cycles go', 'What each lane was busy with, as shares of its own cycles.'),
    legend(CATEGORIES.map(([key, name]) => [name, category_color(key)])),
    h('div', {class: 'stacks'}, lanes.map((lane) => [lane_name(lane.lane), category_bar(lane)])),
    folded('Cycles as numbers', h('div', {class: 'wide'},
      table(`Cycles of ${cut.cut} by category`, columns, rows, {class: 'cards-when-narrow'}))));
}
