// What is shown: contenders and workloads by their marks in the page.
function filter() {
  const workload = one('pick-workload').value;
  const hidden = new Set(all('input[name="who"]').filter((box) => !box.checked).map((box) => box.value));
  for (const e of all('[data-work], [data-who]')) {
    const elsewhere = workload !== '' && e.dataset.work !== undefined && e.dataset.work !== workload;
    const unwanted = e.dataset.who !== undefined && hidden.has(e.dataset.who);
    if (e instanceof SVGElement) e.classList.toggle('away', unwanted);
    else e.hidden = elsewhere || unwanted;
  }
  const left = all('input[name="who"]').length - hidden.size;
  status(`${left} contenders are shown${workload ? ' on ' + named('pick-workload') : ''}.`);
}

function check(on) {
  for (const box of all('input[name="who"]')) box.checked = on;
  filter();
}

// theme switches between light and dark, until the page is closed.
function theme() {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const next = (root.dataset.theme || system) === 'dark' ? 'light' : 'dark';
  root.dataset.theme = next;
  shown(next);
}

function shown(name) {
  one('theme').textContent = name === 'dark' ? 'Light' : 'Dark';
  one('theme').setAttribute('aria-pressed', String(name === 'dark'));
}
