// Another metric, or another baseline: what the result holds about a pair is
// shown, read the other way round where it was stored so. Nothing is estimated:
// a pair without a stored comparison shows its rounds.
const pairs = { map: null };

function index(r) {
  if (pairs.map) return;
  pairs.map = new Map();
  const at = (w, m, a, b) => JSON.stringify([w, m, a, b]);
  const hold = (key, field, value) => pairs.map.set(key, { ...pairs.map.get(key), [field]: value });
  for (const c of r.comparisons) {
    hold(at(c.workload, c.metric, c.contender, c.against), 'stored', c);
    hold(at(c.workload, c.metric, c.against, c.contender), 'reversed', { ratio: 1 / c.ratio, low: 1 / c.high, high: 1 / c.low, level: c.level, exact: c.exact });
  }
  for (const e of r.rounds) {
    hold(at(e.workload, e.metric, e.a, e.b), 'rounds', e.effects.map((x) => Math.exp(x)));
    hold(at(e.workload, e.metric, e.b, e.a), 'rounds', e.effects.map((x) => Math.exp(-x)));
  }
  pairs.find = (w, m, a, b) => pairs.map.get(at(w, m, a, b)) || {};
}

const isVoid = (r, who, on, metric) => r.findings.some((f) => f.severity === 'void' &&
  (!f.contender || f.contender === who) && (!f.workload || f.workload === on) && (!f.metric || f.metric === metric));

async function compare() {
  const chosen = one('pick-metric').value, against = one('pick-baseline').value;
  const plain = chosen === '' && against === original();
  if (plain) {
    for (const table of all('table.primary')) restore(table);
    orderAll();
    status('The ratios are those of the report.');
    return;
  }
  try {
    status('Reading the document…');
    const r = await result();
    index(r);
    const base = r.contenders[against].id;
    for (const section of all('section.workload')) {
      const table = section.querySelector('table.primary');
      const metric = r.metrics[chosen || (table && table.dataset.leading)];
      if (table && metric) recompare(r, table, r.workloads[section.dataset.work].id, metric, base);
    }
    orderAll();
    status(`Ratios are to ${named('pick-baseline')}${chosen ? ', by ' + named('pick-metric') : ''}: as stored in the result, none is computed anew.`);
  } catch (e) {
    status('The document could not be read: ' + e.message);
  }
}

const original = () => (one('pick-baseline').querySelector('option[selected]') || one('pick-baseline')).value;
const named = (id) => one(id).selectedOptions[0].textContent;

// keep remembers how the report has a table.
function keep(table) {
  if (table.kept) return;
  const [, axis, ratios] = all('thead th', table);
  table.kept = all('tbody', table).flatMap((body) => [1, 2].map((i) => body.rows[0].cells[i])).concat(axis.querySelector('svg.axis') || [], ratios.querySelector('button'), ratios.querySelector('.unit') || [])
    .map((e) => [e, [...e.childNodes]]);
}

function restore(table) {
  for (const [e, nodes] of table.kept || []) e.replaceChildren(...nodes);
  banded(table, true);
}

// banded shows or hides what is said of the control's band, which is of the
// leading metric.
function banded(table, is) {
  const said = table.closest('.scroll').nextElementSibling;
  if (said && said.classList.contains('band-key')) said.hidden = !is;
}

function relabel(table, metric, base, axis) {
  const [, drawn, ratios] = all('thead th', table);
  ratios.querySelector('button').replaceChildren(`${metric} / ${base}`);
  const unit = ratios.querySelector('.unit');
  if (unit) unit.replaceChildren('ratio [interval] at its level');
  const svg = drawn.querySelector('svg.axis');
  if (svg) svg.replaceChildren(...axis.ticks());
}

function recompare(r, table, on, metric, base) {
  keep(table);
  const rows = all('tbody[data-who]', table).map((body) => {
    const { id: who, role } = r.contenders[body.dataset.who];
    const gone = role === 'null' || role === 'trap' || isVoid(r, who, on, metric) || isVoid(r, base, on, metric);
    return { body, who, role, gone, pair: who === base ? {} : pairs.find(on, metric, who, base) };
  });
  const control = pairs.find(on, metric, 'control', r.contenders.find((c) => c.role === 'baseline').id).stored;
  const noise = control && control.low > 0 ? Math.sqrt(control.high / control.low) : 0;
  const values = noise ? [noise, 1 / noise] : [];
  for (const row of rows) {
    const c = row.pair.stored || row.pair.reversed;
    if (row.gone) continue;
    if (c) values.push(c.ratio, ...(c.low > 0 && isFinite(c.high) ? [c.low, c.high] : []));
    else values.push(...(row.pair.rounds || []));
  }
  const axis = scale(values);
  relabel(table, metric, base, axis);
  banded(table, metric === r.metrics[table.dataset.leading]);
  for (const row of rows) {
    const [drawn, said] = [row.body.rows[0].cells[1], row.body.rows[0].cells[2]];
    drawn.replaceChildren(whisker(axis, noise, row, base));
    said.replaceChildren(sentence(row, base));
  }
}

// sentence is what stands in the field of a ratio.
function sentence(row, base) {
  const c = row.pair.stored || row.pair.reversed;
  if (row.who === base) return document.createTextNode('1');
  if (row.gone) return make('span', 'dim', 'void or not compared');
  if (c && c.exact) return document.createTextNode(c.ratio === 1 ? '1 exactly' : ratio(c.ratio) + ' exactly');
  if (c && c.low > 0 && isFinite(c.high)) {
    const level = c.level ? ` at ${Number((c.level * 100).toFixed(2))} %` : '';
    return document.createTextNode(`${ratio(c.ratio)} [${ratio(c.low)}, ${ratio(c.high)}]${level}`);
  }
  if (c) return document.createTextNode(`${ratio(c.ratio)} [no interval yet]`);
  if (row.pair.rounds) return make('span', 'dim', `no comparison stored; ${row.pair.rounds.length} rounds drawn`);
  return make('span', 'dim', 'not compared in this result');
}
