// The page stands without this script: it narrows, orders and redraws what is
// already there, and computes no statistic.
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const one = (id) => document.getElementById(id);
const nothing = '–';
const status = (text) => { one('status').textContent = text; };

// make is an element with a class and a text.
function make(name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

const svgNames = 'http://www.w3.org/2000/svg';
function draw(name, attributes) {
  const e = document.createElementNS(svgNames, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}

// figure is the number a field begins with; NaN where there is none.
function figure(text) {
  const found = text.replace(/,/g, '').match(/^-?\d+(\.\d+)?/);
  return found ? Number(found[0]) : NaN;
}

// ratio prints a ratio with the digits the report uses.
function ratio(x) {
  if (!(x > 0) || !isFinite(x)) return nothing;
  if (x >= 100) return Math.round(x).toLocaleString('en-US');
  if (x >= 10) return x.toFixed(1);
  if (x < 0.01) return Number(x.toPrecision(2)).toFixed(Math.max(0, 1 - Math.floor(Math.log10(x))));
  return x.toFixed(3);
}
