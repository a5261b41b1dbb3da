const one = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const status = (text) => { one('status').textContent = text; };

// The rows of All ratios are narrowed by what they say.
const ratios = one('all-ratios');
if (ratios) {
  const picks = { w: one('pick-w'), m: one('pick-m'), c: one('pick-c') };
  const first = (cell) => cell.firstChild ? cell.firstChild.data.split('\n')[0].trim() : ''; // without the rank, the unit and the level
  const isHead = (row) => row.cells.length > 1 && row.cells[1].tagName === 'TH';
  const name = (row) => row.cells.length > 1 && !isHead(row) ? first(row.cells[0]) : '';
  const values = { w: new Set(), m: new Set(), c: new Set() };
  for (const group of ratios.tBodies) {
    values.w.add(group.dataset.w);
    for (const row of group.rows) {
      if (isHead(row)) for (const cell of [...row.cells].slice(1)) values.m.add(first(cell));
      values.c.add(name(row));
    }
  }
  for (const key of Object.keys(picks)) {
    for (const text of values[key]) if (text) picks[key].append(new Option(text));
    picks[key].addEventListener('change', () => {
      for (const group of ratios.tBodies) {
        const rows = [...group.rows];
        let shown = []; // whether each column is shown, by the head above the row
        for (const row of rows.filter((row) => row.cells.length > 1)) {
          if (isHead(row)) shown = [...row.cells].map((cell, i) => i > 0 && (!picks.m.value || first(cell) === picks.m.value));
          [...row.cells].forEach((cell, i) => { cell.hidden = i > 0 && !shown[i]; });
          row.hidden = !shown.includes(true) || Boolean(picks.c.value && name(row) && name(row) !== picks.c.value);
        }
        group.hidden = Boolean(picks.w.value && group.dataset.w !== picks.w.value) || !rows.some((row) => name(row) && !row.hidden);
      }
      status(`${all('tbody:not([hidden]) tr:not([hidden])', ratios).length} rows are shown.`);
    });
  }
  one('filter').hidden = false;
}

// The price at another rate is a product of the time of one operation.
const rate = one('rate-form');
if (rate) {
  const digits = (x) => x === 0 ? '0' : x >= 100 ? Math.round(x).toLocaleString('en') : String(Number(x.toPrecision(3)));
  const show = () => {
    const perSecond = Number(one('rate-rate').value), price = Number(one('rate-price').value);
    for (const row of all('tr[data-ns]', one('price'))) {
      const cores = perSecond * Number(row.dataset.ns) / 1e9;
      row.cells[2].textContent = `${digits(cores * 100)} %` + (price > 0 ? ` · ${digits(cores * 730 * price)} a month` : '');
    }
  };
  rate.hidden = false;
  rate.addEventListener('submit', (event) => event.preventDefault());
  rate.addEventListener('input', show);
}

// The result document, unpacked when somebody asks for it.
async function text() {
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser cannot unpack the document');
  const bytes = Uint8Array.from(atob(one('document').textContent.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

async function save() {
  try {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([await text()], { type: 'application/json' }));
    link.download = one('save').dataset.name;
    document.body.append(link);
    link.click();
    link.remove();
    status('The document was handed to the browser to be saved.');
  } catch (e) {
    status('The document could not be unpacked: ' + e.message);
  }
}
for (const e of all('.saver')) e.hidden = false;
one('save').addEventListener('click', save);

// What a link leads to is opened.
const open = () => { const at = location.hash && one(location.hash.slice(1)); if (at && at.tagName === 'DETAILS') at.open = true; };
addEventListener('hashchange', open);
open();
document.documentElement.dataset.ready = 'yes';
