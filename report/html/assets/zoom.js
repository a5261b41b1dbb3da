// A logarithmic axis of ratios, as the page's own drawings have it.
function scale(values) {
  let low = Math.log(0.97), high = Math.log(1.03);
  for (const v of values) {
    if (v > 0 && isFinite(v)) { low = Math.min(low, Math.log(v)); high = Math.max(high, Math.log(v)); }
  }
  const room = (high - low) * 0.05;
  low -= room; high += room;
  const share = (v) => Math.min(Math.max((Math.log(v) - low) / (high - low), 0), 1);
  return {
    at: (v) => share(v) * 300,
    ticks: () => {
      const taken = [];
      for (const v of [1, 10, 0.1, 100, 0.01, 1000, 0.001, 2, 0.5, 5, 0.2, 20, 0.05, 50, 0.02, 1.5, 0.7, 3, 0.3, 1.25, 0.8, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 1.01, 0.99]) {
        const at = (Math.log(v) - low) / (high - low);
        if (at >= 0.02 && at <= 0.98 && taken.every((t) => Math.abs(t.at - at) >= 0.17)) taken.push({ at, v });
      }
      return taken.map((t) => {
        const text = draw('text', { x: t.at * 100 + '%', y: 11 });
        text.textContent = t.v;
        return text;
      });
    },
  };
}

// whisker draws a pair: its interval where one is stored, else its rounds.
function whisker(axis, noise, row, base) {
  const svg = draw('svg', { class: 'cell forest', viewBox: '0 0 300 26', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  if (noise > 1) svg.append(draw('rect', { class: 'band', x: axis.at(1 / noise), y: 0, width: axis.at(noise) - axis.at(1 / noise), height: 26 }));
  svg.append(draw('path', { class: 'one', d: `M${axis.at(1)} 0V26` }));
  const c = row.pair.stored || row.pair.reversed;
  if (row.who === base) svg.append(draw('path', { class: 'pt base', d: `M${axis.at(1)} 13h0` }));
  else if (row.gone) return svg;
  else if (c) {
    const bounded = c.low > 0 && isFinite(c.high);
    const differs = bounded && (c.low > 1 || c.high < 1) && Math.abs(Math.log(c.ratio)) > Math.log(noise || 1);
    const side = !differs || row.role === 'control' ? 'same' : c.ratio < 1 ? 'less' : 'more';
    if (bounded) svg.append(draw('path', { class: 'ci ' + side, d: `M${axis.at(c.low)} 13L${axis.at(c.high)} 13` }));
    svg.append(draw('path', { class: 'pt ' + side, d: `M${axis.at(c.ratio)} 13h0` }));
  } else if (row.pair.rounds) {
    svg.append(draw('path', { class: 'round', d: row.pair.rounds.map((x) => `M${axis.at(x)} 13h0`).join('') }));
  }
  return svg;
}

// zoomable lets the horizontal axis of a chart be cut: by buttons, or by
// drawing across it.
function zoomable(chart) {
  const group = chart.querySelector('.zoom'), outer = chart.querySelector('svg.curves'), inner = chart.querySelector('svg.area');
  if (!group) return;
  group.hidden = false;
  let from = 0, to = 1;
  const show = () => {
    inner.setAttribute('viewBox', `${from * 1000} 0 ${(to - from) * 1000} 1000`);
    for (const e of all('[data-at]', chart)) {
      const at = (Number(e.dataset.at) / 100 - from) / (to - from);
      e.classList.toggle('away', at < -0.001 || at > 1.001);
      for (const name of e.tagName === 'line' ? ['x1', 'x2'] : ['x']) e.setAttribute(name, at * 100 + '%');
    }
    status(to - from > 0.999 ? 'All of the axis is shown.' : `${Math.round((to - from) * 100)} % of the axis is shown.`);
  };
  const cut = (a, b) => {
    const width = Math.min(Math.max(b - a, 0.02), 1);
    from = Math.min(Math.max(a, 0), 1 - width);
    to = from + width;
    show();
  };
  group.addEventListener('click', (event) => {
    const width = to - from, middle = (from + to) / 2;
    switch (event.target.dataset.zoom) {
      case 'in': cut(middle - width / 4, middle + width / 4); break;
      case 'out': cut(middle - width, middle + width); break;
      case 'left': cut(from - width / 4, to - width / 4); break;
      case 'right': cut(from + width / 4, to + width / 4); break;
      case 'all': cut(0, 1); break;
    }
  });
  let began = null;
  const share = (event) => {
    const box = outer.getBoundingClientRect(), style = getComputedStyle(outer);
    const left = parseFloat(style.paddingLeft), width = box.width - left - parseFloat(style.paddingRight);
    return from + Math.min(Math.max((event.clientX - box.left - left) / width, 0), 1) * (to - from);
  };
  outer.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'mouse' || event.button !== 0) return;
    event.preventDefault();
    began = share(event);
  });
  addEventListener('pointerup', (event) => {
    if (began === null) return;
    const ended = share(event);
    if (Math.abs(ended - began) > 0.02 * (to - from)) cut(Math.min(began, ended), Math.max(began, ended));
    began = null;
  });
}

// loud makes the curve that its legend entry points to stand out.
function loud(chart) {
  for (const entry of all('.legend li', chart)) {
    const mark = (on) => {
      for (const path of all('svg.area path', chart)) path.classList.toggle('loud', on && path.dataset.who === entry.dataset.who);
    };
    entry.addEventListener('pointerenter', () => mark(true));
    entry.addEventListener('pointerleave', () => mark(false));
  }
}
