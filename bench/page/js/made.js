// Header, contents, and how the run was made.
const THEMES = ['auto', 'light', 'dark'];
function set_theme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  window.dispatchEvent(new Event('themechange'));
}

function theme_button() {
  let at = 0;
  const button = h('button', {type: 'button', class: 'theme', onclick: () => {
    at = (at + 1) % THEMES.length;
    set_theme(THEMES[at]);
    button.textContent = `colours: ${THEMES[at]}`;
  }}, 'colours: auto');
  return button;
}

function draw_header() {
  const weights = context.weights_sha256 || '';
  const what = page.sweep ? 'sweep' : cuts.map((cut) => cut.cut).join(', ') || 'score';
  document.getElementById('top').append(
    h('div', {class: 'brand'}, 'Logos Workbench'), theme_button(),
    h('h1', {}, context.model || page.title),
    h('p', {class: 'word'}, context.model
      ? `${what} · weights ${context.weights} ${weights.slice(0, 12)}` : ''));
}

function draw_contents(parts) {
  document.getElementById('contents').append(h('ul', {}, parts.map((part) =>
    h('li', {}, h('a', {href: `#${part.id}`}, part.name)))));
  document.getElementById('foot').append(h('p', {},
    'One file that asks the network for nothing. Charts: D3.js, © Michael Bostock (BSD licence, ' +
    'in this file).'));
}

function facts(name, object, at) {
  const rows = Object.entries(object || {});
  if (!rows.length) return null;
  return [h('h3', {}, name), h('dl', {class: 'facts'}, rows.map(([key, text]) =>
    [h('dt', {}, key), h('dd', {'data-at': `${at}/${key}`}, text === null ? '–' : String(text))]))];
}

function save_button() {
  const save = () => {
    const text = JSON.stringify(page.result || page.sweep, null, 2);
    const blob = new Blob([text], {type: 'application/json'});
    const link = h('a', {href: URL.createObjectURL(blob), download: 'result.json'});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return h('button', {type: 'button', onclick: save}, 'Save the result as JSON');
}

function made_section() {
  const git = context.git || {};
  return h('section', {class: 'made', 'aria-label': 'How it was made'},
    h('h2', {}, 'How it was made'),
    page.command ? h('pre', {class: 'command', tabindex: '0'}, page.command) : null,
    h('div', {class: 'columns'},
      h('div', {}, facts('Model', context.model ? {model: context.model, weights: context.weights,
        weights_sha256: context.weights_sha256} : {}, '/context'),
      facts('Configurations', context.configurations, '/context/configurations')),
      h('div', {}, facts('Source', context.git ? {commit: git.commit, dirty: git.dirty} : {},
                         '/context/git'),
        facts('Host', context.host, '/context/host')),
      h('div', {}, facts('Versions', context.versions, '/context/versions'))),
    page.result || page.sweep ? save_button() : null);
}

function score_section() {
  const columns = [{name: 'lane'}, {name: 'positions', right: true}, {name: 'nll', right: true},
    {name: 'perplexity', right: true}, {name: 'logits'}, {name: 'bits'}];
  const rows = result.lanes.map((lane, i) => {
    const at = `/lanes/${i}`;
    if (!lane.score) {
      return [lane_name(lane.lane), h('span', {class: 'bad'},
        `${ended(lane)}: ${lane.refused || lane.failed}`)];
    }
    const number = (key, text) => value(`${at}/score/${key}`, lane.score[key], text);
    return [lane_name(lane.lane), number('positions', whole_text(lane.score.positions)),
      number('nll', digits(lane.score.nll)),
      number('perplexity', is_number(lane.score.perplexity) ? digits(lane.score.perplexity) : '–'),
      h('code', {class: 'digest'}, lane.score.logits_sha256.slice(0, 12)),
      [agrees_cell(lane, at), lane.fault ? h('span', {class: 'bad'}, ' fault') : null]];
  });
  return h('section', {class: 'cut', 'aria-label': 'Score'}, h('h2', {}, 'Score'),
    h('div', {class: 'wide'}, table('Likelihood, by lane', columns, rows,
                                    {class: 'lanes cards-when-narrow'})));
}
