// Numbers for people. Units are SI; what is not a number is a dash.
const is_number = (x) => typeof x === 'number' && isFinite(x);

/// Three significant digits, without an exponent where there need not be one.
function digits(x) {
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 999.5) return grouped(x);
  if (size < 1e-3) return x.toExponential(2);
  return x.toPrecision(3);
}

function grouped(x) {
  return Math.round(x).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

function with_prefix(x, unit, prefixes) {
  if (!is_number(x)) return '–';
  if (x === 0) return `0 ${unit}`;
  for (const [scale, prefix] of prefixes) {
    if (Math.abs(x) >= scale * 0.9995) return `${digits(x / scale)} ${prefix}${unit}`;
  }
  const [scale, prefix] = prefixes[prefixes.length - 1];
  return `${digits(x / scale)} ${prefix}${unit}`;
}

const LARGE = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];
const SMALL = [[1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];
const seconds_text = (x) => with_prefix(x, 's', SMALL);
const bytes_text = (x) => with_prefix(x, 'B', LARGE);
const hertz_text = (x) => with_prefix(x, 'Hz', LARGE);
const amount_text = (x, unit) => with_prefix(x, unit, LARGE);
const count_text = (x) => !is_number(x) ? '–'
  : Math.abs(x) < 1000 && !Number.isInteger(x) ? digits(x) : grouped(x);
const whole_text = (x) => is_number(x) ? grouped(x) : '–';
const percent_text = (x) => is_number(x) ? `${(100 * x).toFixed(100 * x < 9.95 ? 2 : 1)} %` : '–';
const times_text = (x) => is_number(x) ? `${x < 100 ? x.toPrecision(3) : grouped(x)}×` : '–';

/// What a lane's times may be off by, as a fraction: 0 where it says nothing ("+-30 %": 0.3). Where
/// its cuts say different things, each stands under "LANE CUT".
function error_of(lane, notes) {
  const said = Object.entries(notes || context.time_notes || {})
    .filter(([name]) => name === lane || name.startsWith(`${lane} `));
  return d3.max([0].concat(said.map(([, note]) => {
    const match = /\+-\s*([0-9.]+)\s*%/.exec(note);
    return match ? Number(match[1]) / 100 : 0;
  })));
}
