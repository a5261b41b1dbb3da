// What operations come to at the reader's own rate: a product, as the sentence
// above the table says.
const hours = 730;

function cost() {
  const per = Number(one('rate-rate').value), price = Number(one('rate-price').value);
  const digits = (x) => x >= 100 ? Math.round(x).toLocaleString('en-US') : x === 0 ? '0' : x.toPrecision(3);
  for (const body of all('table.rate tbody[data-ns]')) {
    const cores = per > 0 ? per * Number(body.dataset.ns) / 1e9 : NaN;
    const cells = body.rows[0].cells;
    cells[3].textContent = isNaN(cores) ? nothing : digits(cores);
    cells[4].textContent = isNaN(cores) ? nothing : digits(cores * hours);
    cells[5].textContent = isNaN(cores) || !(price > 0) ? nothing : digits(cores * hours * price);
  }
  one('rate-said').textContent = per > 0 ? `at ${per.toLocaleString('en-US')} a second` : 'give a rate above 0';
}
