// The chip of tiles: where programs are placed, and how busy tiles and links were.
const MOST_TILE = 72;  // pixels
const SHADES = [['mac_busy', 'MAC arrays'], ['vector_busy', 'vector units'],
  ['port_busy', 'memory ports'], ['sram_fill', 'memory in use']];

function stage_color(map, stage) {
  return stage < 0 ? 'var(--grid)' : d3.hsl((stage * 137.5) % 360, 0.55, 0.62).toString();
}

function tile_words(map, chip, index) {
  const tile = chip.tiles[index];
  const stage = map.stages[tile.stage];
  return `tile ${index % chip.size[0]}, ${Math.floor(index / chip.size[0])}: ` +
    (stage ? stage.name : 'not used') + '\n' +
    SHADES.map(([key, name]) => `${name} ${percent_text(tile[key])}`).join(', ');
}

/// Links as strokes between the middles of tiles, the two directions beside one another.
function draw_links(svg, chip, size) {
  const [width] = chip.size;
  for (const link of chip.links.slice().sort((a, b) => a.busy - b.busy)) {
    const [x1, y1, x2, y2] = [link.from % width, Math.floor(link.from / width),
      link.to % width, Math.floor(link.to / width)];
    const side = size * 0.12;
    const [dx, dy] = [(y1 - y2) * side, (x2 - x1) * side];
    svg.append('line').attr({class: 'link', x1: (x1 + 0.5) * size + dx, y1: (y1 + 0.5) * size + dy,
      x2: (x2 + 0.5) * size + dx, y2: (y2 + 0.5) * size + dy})
      .style('stroke-width', Math.max(0.5, size * 0.24 * link.busy))
      .style('opacity', 0.3 + 0.7 * link.busy);
  }
}

function draw_stages(svg, map, chip_index, size) {
  map.stages.filter((stage) => stage.chip === chip_index).forEach((stage) => {
    svg.append('rect').attr({class: 'stage', x: stage.at[0] * size + 1, y: stage.at[1] * size + 1,
      width: stage.size[0] * size - 2, height: stage.size[1] * size - 2, rx: 3});
  });
}

/// The rows of tiles that hold or carry something: the others are not drawn.
function rows_used(chip) {
  const [width, height] = chip.size;
  let last = 0;
  chip.tiles.forEach((tile, i) => {
    if (tile.stage >= 0) last = Math.max(last, Math.floor(i / width));
  });
  for (const link of chip.links) {
    last = Math.max(last, Math.floor(link.from / width), Math.floor(link.to / width));
  }
  return Math.min(height, last + 1);
}

function chip_figure(map, chip, chip_index, shade) {
  const width = chip.size[0];
  const height = rows_used(chip);
  const tiles = chip.tiles.slice(0, width * height);
  const tall = (room) => height * Math.min(MOST_TILE, room / width) + 2;
  let chosen = 0;
  const label = `Chip ${chip_index}: ${chip.size.join(' by ')} tiles.`;
  const figure = chart(label, tall, (svg, room) => {
    const size = Math.min(MOST_TILE, room / width);
    tiles.forEach((tile, i) => {
      const color = shade === 'stage' ? stage_color(map, tile.stage)
        : `rgb(var(--hot) / ${0.08 + 0.92 * Math.min(1, tile[shade])})`;
      const rect = svg.append('rect').attr({class: `tile${i === chosen ? ' chosen' : ''}`,
        x: (i % width) * size + 0.5, y: Math.floor(i / width) * size + 0.5,
        width: size - 1, height: size - 1, rx: 2}).style('fill', tile[shade] === 0
        ? 'var(--grid)' : color);
      tipped(rect.node(), tile_words(map, chip, i));
    });
    draw_links(svg, chip, size);
    draw_stages(svg, map, chip_index, size);
  });
  figure.tabIndex = 0;
  figure.setAttribute('role', 'group');
  figure.setAttribute('aria-label', `${label} Arrow keys go from tile to tile.`);
  figure.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width}[event.key];
    if (!step) return;
    event.preventDefault();
    if (chosen + step < 0 || chosen + step >= tiles.length) return;
    chosen += step;
    const drawn = figure.querySelectorAll('.tile');
    drawn.forEach((tile, i) => tile.classList.toggle('chosen', i === chosen));
    const box = drawn[chosen].getBoundingClientRect();
    show_tip(tile_words(map, chip, chosen), box.right, box.bottom);
    figure.setAttribute('aria-description', tile_words(map, chip, chosen));
  });
  figure.addEventListener('blur', hide_tip);
  return figure;
}

function stages_table(map) {
  const columns = [{name: 'program'}, {name: 'chip', right: true}, {name: 'place'},
    {name: 'tiles', right: true}, {name: 'memory of a tile', right: true},
    {name: 'slowest block', right: true}];
  return table('Programs and where they are placed', columns, map.stages.map((stage, i) => [
    h('span', {}, h('span', {class: 'swatch', style: `background:${stage_color(map, i)}`}),
      stage.name), whole_text(stage.chip),
    `${stage.size.join(' × ')} at ${stage.at.join(', ')}`, whole_text(stage.tiles),
    bytes_text(stage.sram_bytes), `${whole_text(stage.block_cycles)} cycles`]),
  {class: 'cards-when-narrow'});
}

function busiest_links(map) {
  const links = map.chips.flatMap((chip, i) => chip.links.map((link) =>
    Object.assign({chip: i}, link)));
  const most = links.sort((a, b) => b.busy - a.busy).slice(0, 3).map((link) => {
    const way = link.from === link.to ? `into tile ${link.to}` : `tile ${link.from} to ${link.to}`;
    const chip = map.chips.length > 1 ? ` of chip ${link.chip}` : '';
    return `${way}${chip} ${percent_text(link.busy)}`;
  });
  const between = map.chip_links.map((link) => `chip ${link.from} to ${link.to} ` +
    `${bytes_text(link.bytes)}, ${percent_text(link.busy)} of the time`);
  return [most.length ? `Busiest links: ${most.join('; ')}.` : '',
    between.length ? ` Between chips: ${between.join('; ')}.` : ''].join('');
}

function chip_words(map, chip, index) {
  const left = chip.size[1] - rows_used(chip);
  return (map.chips.length > 1 ? `Chip ${index + 1}: ` : '') + `${chip.size.join(' × ')} tiles` +
    (left ? `; the last ${left} rows hold nothing and are not drawn` : '');
}

function map_panel(map) {
  const holder = h('div', {class: 'chips'});
  const buttons = [['stage', 'placement']].concat(SHADES).map(([key, name]) =>
    h('button', {type: 'button', 'data-shade': key, onclick: () => show(key)}, name));
  const show = (shade) => {
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.dataset.shade === shade));
    }
    holder.replaceChildren(...map.chips.map((chip, i) => h('figure', {},
      h('figcaption', {class: 'small'}, chip_words(map, chip, i)),
      chip_figure(map, chip, i, shade))));
  };
  show('mac_busy');
  return [h('div', {class: 'buttons', role: 'group', 'aria-label': 'What the colour shows'},
    buttons), holder, h('p', {class: 'small'}, busiest_links(map)),
  folded('Programs and their places', h('div', {class: 'wide'}, stages_table(map)))];
}

function map_part(cut) {
  const maps = (page.maps || []).filter((map) => map.cut === cut.cut);
  if (!maps.length) return null;
  return h('div', {class: 'part'},
    heading(3, 'The chip of tiles', 'Each square is a tile, each stroke between two a link, as ' +
      'thick as it was busy (all the time: a quarter of a tile); a frame holds one program.'),
    maps.map((map) => map_panel(map)));
}
