// Tables are ordered by the buttons in their heads: rows move with their notes
// and drawings, as a body each.
function sortable(table) {
  const bodies = all('tbody', table);
  if (bodies.length < 2 && !table.classList.contains('primary')) return;
  const heads = all('thead th', table).length;
  if (bodies.some((body) => body.rows[0].cells.length !== heads)) return; // headings stand between its rows
  bodies.forEach((body, i) => { body.dataset.first = i; });
  all('thead th', table).forEach((head, i) => {
    if (head.classList.contains('draw')) return;
    const name = head.querySelector('.name');
    const button = make('button', '', name.textContent);
    button.type = 'button';
    name.replaceChildren(button);
    button.addEventListener('click', () => {
      const now = head.getAttribute('aria-sort');
      const next = now === 'ascending' ? 'descending' : now === 'descending' ? '' : 'ascending';
      for (const other of all('thead th', table)) other.removeAttribute('aria-sort');
      if (next) head.setAttribute('aria-sort', next);
      order(table, next ? (body) => body.rows[0].cells[i].textContent.trim() : null, next === 'descending');
    });
  });
}

// order puts bodies in the order of their keys, those without a figure last;
// without keys it is the first one again.
function order(table, key, descending) {
  const keyed = all('tbody', table).map((body) => ({ body, text: key ? key(body) : '' }));
  const numbers = keyed.some((k) => !isNaN(figure(k.text)) && /^[-~\d]/.test(k.text));
  keyed.sort((a, b) => {
    const first = Number(a.body.dataset.first) - Number(b.body.dataset.first);
    if (!key) return first;
    if (!numbers) return (descending ? -1 : 1) * a.text.localeCompare(b.text) || first;
    const x = figure(a.text), y = figure(b.text);
    if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y) || first;
    return (descending ? y - x : x - y) || first;
  });
  for (const k of keyed) table.append(k.body);
}

function orderAll() {
  const by = one('pick-order').value;
  for (const table of all('table.primary')) {
    for (const head of all('thead th', table)) head.removeAttribute('aria-sort');
    const column = by === 'name' ? 0 : 2;
    order(table, by ? (body) => body.rows[0].cells[column].textContent.trim() : null, by === '-ratio');
  }
}
