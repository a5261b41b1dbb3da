function start() {
  one('bar').hidden = false;
  one('bar').addEventListener('submit', (event) => event.preventDefault());
  for (const e of all('.saver')) e.hidden = false;
  one('save').addEventListener('click', save);
  shown(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  one('theme').addEventListener('click', theme);
  for (const box of all('input[name="who"]')) box.addEventListener('change', filter);
  one('pick-workload').addEventListener('change', filter);
  one('who-all').addEventListener('click', () => check(true));
  one('who-none').addEventListener('click', () => check(false));
  one('pick-metric').addEventListener('change', compare);
  one('pick-baseline').addEventListener('change', compare);
  one('pick-order').addEventListener('change', orderAll);
  for (const table of all('table.grid')) {
    sortable(table);
  }
  for (const chart of all('figure.chart')) { zoomable(chart); loud(chart); }
  if (one('rate-form')) {
    one('rate-form').hidden = false;
    one('rate-form').addEventListener('submit', (event) => event.preventDefault());
    one('rate-form').addEventListener('input', cost);
    cost();
  }
  // Only what can be scrolled is worth a stop of the tab key, and fades where it
  // goes on.
  const fade = (region) => region.classList.toggle('beyond', region.scrollLeft + region.clientWidth < region.scrollWidth - 2);
  const room = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
      fade(target);
    }
  });
  for (const region of all('.scroll')) {
    room.observe(region);
    region.addEventListener('scroll', () => fade(region), { passive: true });
  }
  const narrow = matchMedia('(max-width: 62rem)'), contents = document.querySelector('.contents details');
  const settle = () => { contents.open = !narrow.matches; };
  narrow.addEventListener('change', settle);
  settle();
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = all('main details:not([open])');
    for (const d of opened) d.open = true;
  });
  addEventListener('afterprint', () => { for (const d of opened) d.open = false; });
  addEventListener('keydown', (event) => { if (event.key === 'Escape') for (const d of all('.who[open]')) d.open = false; });
  document.documentElement.dataset.ready = 'yes';
}

start();
