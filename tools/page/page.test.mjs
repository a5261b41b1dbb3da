// The HTML report in a real browser, from file://, as a reader has it. See
// README.md for how it is run and what it takes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const required = process.env.TARE_BROWSER_REQUIRED === '1';
const program = [process.env.TARE_BROWSER, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => p && existsSync(p));
const modules = existsSync(join(here, 'node_modules', 'playwright-core'));

// why is the reason for not running; empty where there is none.
const why = !program ? 'no Chromium here; TARE_BROWSER names one' : !modules ? 'npm ci was not run in tools/page' : '';
if (why && required) throw new Error(`TARE_BROWSER_REQUIRED=1, and ${why}`);
const options = why ? { skip: why } : {};

let browser, dir, axe;
const pages = ['whole', 'one', 'nothing', 'synthetic'];
const root = join(here, '..', '..'), samples = join(root, 'report', 'html', 'testdata', 'results');
const studies = readdirSync(join(root, 'studies')).filter((n) => n.endsWith('.yaml')).map((n) => basename(n, '.yaml'));
const kept = readdirSync(samples).filter((n) => n.endsWith('.json.gz')).sort();
const given = [...kept.map((n) => join(samples, n)), ...(process.env.TARE_RESULTS || '').split(':').filter(Boolean)];

before(async () => {
  if (why) return;
  dir = mkdtempSync(join(tmpdir(), 'tare-page-'));
  execFileSync('go', ['run', './report/html/htmltest/pages', dir, ...given], { cwd: root, env: { ...process.env, GOWORK: 'off' }, stdio: 'inherit' });
  pages.push(...readdirSync(dir).filter((n) => n.startsWith('given-')).map((n) => n.replace(/\.html$/, '')));
  execFileSync('go', ['test', '-count=1', '-run', '^TestPage$', './internal/history/publish'], { cwd: join(root, 'cmd', 'tare'), env: { ...process.env, GOWORK: '', TARE_KEEP_PAGE: join(dir, 'history.html') }, stdio: 'inherit' });
  axe = readFileSync(join(here, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');
  const { chromium } = await import('playwright-core');
  browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
});

after(async () => {
  if (browser) await browser.close();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

// scriptless are pages without a script of their own.
const scriptless = ['claims', 'history'];

// opened is a page that is ready, with all that it did wrong.
async function opened(name, { width = 1280, colorScheme = 'light', bypass = false, script = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: bypass, javaScriptEnabled: script, acceptDownloads: true });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) wrong.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => wrong.push(`error: ${e.message}`));
  page.on('requestfailed', (r) => wrong.push(`failed: ${r.url()}`));
  page.on('request', (r) => { if (!/^(file|data|blob):/.test(r.url())) wrong.push(`request: ${r.url()}`); });
  await page.goto(pathToFileURL(join(dir, name + '.html')).href);
  if (script && !scriptless.includes(name)) await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
  return { page, wrong, close: () => context.close() };
}

const column = (page, n) => page.$$eval('table.primary', (tables, i) => [...tables[0].tBodies].map((b) => b.rows[0].cells[i].textContent.trim()), n);

// called is the page of a kept result.
const called = (name) => pages.find((n) => n.replace(/^given-\d+-/, '') === name);

// dragged is every part of a page brought into view once, as a reader does who
// scrolls through all of it with everything unfolded.
const dragged = (page) => page.evaluate(async () => {
  for (const d of document.querySelectorAll('main details')) d.open = true;
  for (const part of document.querySelectorAll('main .part')) {
    part.scrollIntoView();
    await new Promise((done) => requestAnimationFrame(() => done()));
  }
});

test('every bundled study has its report here', options, () => {
  for (const study of studies) assert.ok(called(study), `no result of ${study} in ${samples}; htmltest/sample keeps one`);
});

test('every page opens without an error and without a request', options, async () => {
  for (const name of [...pages, ...scriptless]) for (const width of [360, 1280]) {
    const { page, wrong, close } = await opened(name, { width });
    if (name !== 'synthetic') await dragged(page);
    assert.deepEqual(wrong, [], name);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${name} is ${wide} wide where ${width} are to be had`);
    await close();
  }
});

test('a report of every study has what it promises, and no empty part', options, async () => {
  for (const name of pages.filter((n) => n.startsWith('given-'))) {
    const { page, close } = await opened(name);
    const found = await page.evaluate(() => ({
      headline: document.querySelector('.headline').textContent.length,
      forests: document.querySelectorAll('table.primary svg.forest').length,
      dots: document.querySelectorAll('table.primary svg.forest .pt').length,
      strips: document.querySelectorAll('table.strips svg.strip .round').length,
      rounds: document.querySelectorAll('table.timeline svg.trials .counted').length,
      rate: document.querySelectorAll('table.rate tbody').length,
      run: document.querySelectorAll('#run li').length,
      repeat: document.querySelector('#repeat .shell').textContent,
      empty: [...document.querySelectorAll('main .part')].filter((p) => p.id !== 'workloads' && p.children.length < 2).map((p) => p.id),
      unfilled: [...document.querySelectorAll('main table, main figure')].filter((e) => e.tagName === 'TABLE' ? !e.tBodies.length : !e.querySelector('path[d], img')).length,
      broken: [...document.querySelectorAll('main a[href^="#"], .contents a')].filter((a) => !document.querySelector(a.getAttribute('href'))).length,
      odd: [...document.querySelectorAll('main td.n, main text, main path')].filter((e) => /^(NaN|undefined|.*\[object|%!)/.test(e.tagName === 'path' ? '' : e.textContent) || /NaN/.test(e.getAttribute('d') || '')).length,
    }));
    for (const key of ['headline', 'forests', 'dots', 'strips', 'rounds', 'rate', 'run']) assert.ok(found[key] > 0, `${name}: no ${key}`);
    assert.match(found.repeat, /^tare rerun \.\/\S+\.result\.json/);
    assert.deepEqual([found.empty, found.unfilled, found.broken, found.odd], [[], 0, 0, 0], name);
    await close();
  }
});

test('what only some studies have is drawn where they have it, and absent elsewhere', options, async () => {
  const counts = async (name) => {
    const { page, close } = await opened(called(name));
    const found = await page.evaluate(() => ({
      even: document.querySelectorAll('#break-even svg.even .pt').length,
      growths: document.querySelectorAll('#scaling figure.chart path.marks').length,
      steps: document.querySelectorAll('#decomposition svg.fall rect').length,
      latencies: document.querySelectorAll('figure.chart[id^="latency"] svg.area path').length,
      low: Math.max(...[...document.querySelectorAll('table.allocations svg.amounts')].map((e) => e.getBoundingClientRect().height)),
      bars: document.querySelectorAll('table.allocations svg.amounts .amount').length,
      glance: document.querySelectorAll('table.glance svg.forest .pt').length,
    }));
    await close();
    return found;
  };
  const ffi = await counts('ffi-full'), tiny = await counts('tiny'), latency = await counts('latency'), encode = await counts('json-encode');
  assert.ok(encode.bars >= 8, JSON.stringify(encode));
  assert.ok(encode.low < 6, `bars are ${encode.low} px high, and lie over the rows beneath`);
  assert.ok(ffi.even >= 8 && ffi.growths >= 12 && ffi.glance > 100, JSON.stringify(ffi));
  assert.ok(tiny.steps >= 4 && latency.latencies >= 4, JSON.stringify({ tiny, latency }));
  assert.deepEqual([encode.even, encode.growths, encode.steps, encode.latencies, tiny.latencies, tiny.glance], [0, 0, 0, 0, 0, 0]);
});

test('a link of the contents leads to its part, however far', options, async () => {
  const { page, wrong, close } = await opened(called('ffi-full'));
  for (const id of ['run', 'workload-20', 'claims']) {
    await page.click(`.contents a[href="#${id}"]`);
    await page.waitForFunction((id) => { const top = document.getElementById(id).getBoundingClientRect().top; return top > -40 && top < 200; }, id, { timeout: 5000 });
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('on paper everything is open and nothing is cut', options, async () => {
  const { page, close } = await opened(called('json-encode'), { width: 800 });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  const found = await page.evaluate(() => ({
    closed: document.querySelectorAll('main details:not([open])').length,
    bar: document.getElementById('bar').getClientRects().length,
    hidden: [...document.querySelectorAll('main .part')].filter((p) => getComputedStyle(p).contentVisibility !== 'visible').length,
  }));
  assert.deepEqual(found, { closed: 0, bar: 0, hidden: 0 });
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.ok(await page.locator('main details:not([open])').count() > 0);
  await close();
});

test('axe-core finds nothing serious', options, async () => {
  // Every page one way, in turn, and one of each sort both ways: the checker takes
  // seconds a page.
  const ways = [['light', 1280], ['dark', 390]], both = ['whole', 'nothing', ...scriptless];
  const asked = [...pages, ...scriptless].filter((n) => n !== 'synthetic' && n !== called('ffi-full')).flatMap((name, i) => (both.includes(name) ? ways : [ways[i % 2]]).map((way) => [name, ...way]));
  for (const [name, colorScheme, width] of asked) {
    const { page, close } = await opened(name, { colorScheme, width, bypass: true });
    await dragged(page);
    await page.$$eval('.contents details, .who', (all) => { for (const d of all) d.open = true; });
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    const grave = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
    assert.deepEqual(grave.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`), [], `${name} in ${colorScheme} at ${width}`);
    await close();
  }
});

test('the claims lead to the pages that answer them', options, async () => {
  const { page, wrong, close } = await opened('claims');
  assert.ok(await page.locator('table.claims tbody').count() > 0);
  await page.locator('#studies a').first().click();
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
  assert.deepEqual(wrong, []);
  await close();
});

test('tables are sorted by their heads and rows keep their notes', options, async () => {
  const { page, wrong, close } = await opened('whole');
  const before = await column(page, 0);
  const head = page.locator('table.primary').first().locator('thead button').first();
  await head.click();
  const up = await column(page, 0);
  assert.deepEqual(up, [...before].sort((a, b) => a.localeCompare(b)));
  await head.click();
  assert.deepEqual(await column(page, 0), [...up].reverse());
  await head.click();
  assert.deepEqual(await column(page, 0), before);
  await page.selectOption('#pick-order', '-ratio');
  const ratios = (await column(page, 2)).map((t) => parseFloat(t)).filter((x) => !isNaN(x));
  assert.deepEqual(ratios, [...ratios].sort((a, b) => b - a));
  assert.deepEqual(wrong, []);
  await close();
});

test('contenders and workloads are filtered', options, async () => {
  const { page, wrong, close } = await opened('whole');
  const sections = () => page.$$eval('section.workload', (all) => all.filter((s) => !s.hidden).length);
  assert.equal(await sections(), 6);
  const columns = () => page.$$eval('table.glance thead th', (all) => all.filter((e) => !e.hidden).length);
  assert.equal(await columns(), 7);
  await page.selectOption('#pick-workload', '1');
  assert.equal(await sections(), 1);
  assert.equal(await columns(), 2);
  await page.selectOption('#pick-workload', '');
  assert.equal(await columns(), 7);
  await page.click('.who summary');
  await page.uncheck('input[name="who"][value="1"]');
  const shown = await page.$$eval('[data-who="1"]', (all) => all.filter((e) => e.getClientRects().length > 0).length);
  assert.equal(shown, 0);
  await page.click('#who-all');
  assert.ok(await page.locator('table.primary tbody[data-who="1"]').first().isVisible());
  assert.deepEqual(wrong, []);
  await close();
});

test('another baseline and another metric show what is stored, and say what is not', options, async () => {
  const { page, wrong, close } = await opened('one');
  const first = await column(page, 2);
  await page.selectOption('#pick-baseline', '1');
  await page.waitForFunction(() => document.getElementById('status').textContent.includes('as stored'));
  const names = await column(page, 0), other = await column(page, 2);
  const at = (name) => other[names.findIndex((n) => n.startsWith(name))];
  assert.equal(at('codec-1'), '1');
  const straight = first[names.findIndex((n) => n.startsWith('codec-1'))].match(/[\d.]+/g).map(Number);
  const reverse = at('codec-0').match(/[\d.]+/g).map(Number);
  assert.ok(Math.abs(straight[0] * reverse[0] - 1) < 0.002 && Math.abs(straight[1] * reverse[2] - 1) < 0.002, `${straight} against ${reverse}`);
  assert.match(at('codec-0'), / at 99 %$/);
  assert.match(at('codec-3'), /no comparison stored; 12 rounds/);
  await page.selectOption('#pick-metric', '2');
  await page.waitForFunction(() => document.querySelector('table.primary thead').textContent.includes('bytes / codec-1'));
  await page.selectOption('#pick-metric', '');
  await page.selectOption('#pick-baseline', '0');
  await page.waitForFunction(() => document.getElementById('status').textContent.includes('those of the report'));
  assert.deepEqual(await column(page, 2), first);
  assert.deepEqual(wrong, []);
  await close();
});

test('the report of every study takes another baseline, order and theme, is filtered and zoomed', options, async () => {
  for (const study of studies) {
    const { page, wrong, close } = await opened(called(study));
    const first = await column(page, 2);
    const others = await page.$$eval('#pick-baseline option:not([selected])', (all) => all.map((o) => o.value));
    await page.selectOption('#pick-baseline', others[0]);
    await page.waitForFunction(() => document.getElementById('status').textContent.includes('as stored'));
    assert.notDeepEqual(await column(page, 2), first, study);
    const base = await page.$eval('#pick-baseline', (s) => s.selectedOptions[0].textContent);
    assert.ok((await page.textContent('table.primary thead')).includes('/ ' + base), study);
    await page.selectOption('#pick-baseline', await page.$eval('#pick-baseline option[selected]', (o) => o.value));
    await page.waitForFunction(() => document.getElementById('status').textContent.includes('those of the report'));
    assert.deepEqual(await column(page, 2), first, study);
    await page.selectOption('#pick-order', 'name');
    const names = await column(page, 0);
    assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b)), study);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.click('#theme');
    assert.notEqual(await ground(), light, study);
    const who = await page.$eval('table.primary tbody[data-who]', (b) => b.dataset.who);
    const rows = () => page.$$eval(`main [data-who="${who}"]`, (all) => all.filter((e) => e.getClientRects().length > 0).length);
    await page.click('.who summary');
    await page.uncheck(`input[name="who"][value="${who}"]`);
    assert.equal(await rows(), 0, study);
    await page.click('#who-all');
    assert.ok(await rows() > 0, study);
    const asked = await page.$$eval('#pick-workload option', (all) => all.map((o) => o.value));
    if (asked.length > 2) {
      await page.selectOption('#pick-workload', asked[1]);
      assert.equal(await page.$$eval('section.workload', (all) => all.filter((s) => !s.hidden).length), 1, study);
    }
    const chart = page.locator('figure.chart:has([data-zoom="in"])').first();
    if (await chart.count()) {
      await chart.locator('[data-zoom="in"]').click();
      assert.equal(await chart.locator('svg.area').first().getAttribute('viewBox'), '250 0 500 1000', study);
    }
    assert.deepEqual(wrong, [], study);
    await close();
  }
});

test('charts are zoomed by buttons and by the mouse', options, async () => {
  const { page, wrong, close } = await opened('whole');
  const chart = page.locator('figure.chart').first();
  const box = () => chart.locator('svg.area').getAttribute('viewBox');
  await chart.locator('[data-zoom="in"]').click();
  assert.equal(await box(), '250 0 500 1000');
  await chart.locator('[data-zoom="right"]').click();
  assert.equal(await box(), '375 0 500 1000');
  await chart.locator('[data-zoom="all"]').click();
  assert.equal(await box(), '0 0 1000 1000');
  await chart.scrollIntoViewIfNeeded();
  const area = await chart.locator('svg.curves').evaluate((svg) => {
    const box = svg.getBoundingClientRect(), style = getComputedStyle(svg);
    const left = parseFloat(style.paddingLeft);
    return { x: box.left + left, y: box.top + 40, width: box.width - left - parseFloat(style.paddingRight) };
  });
  await page.mouse.move(area.x + area.width * 0.5, area.y);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.75, area.y);
  await page.mouse.up();
  const [from, , width] = (await box()).split(' ').map(Number);
  assert.ok(Math.abs(from - 500) < 5 && Math.abs(width - 250) < 8, await box());
  assert.deepEqual(wrong, []);
  await close();
});

test('the theme is switched, and forgotten with the page', options, async () => {
  const { page, wrong, close } = await opened('whole');
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.click('#theme');
  assert.notEqual(await ground(), light);
  await page.reload();
  assert.equal(await ground(), light);
  assert.deepEqual(wrong, []);
  await close();
});

test('the cost at a rate is the product that the page says', options, async () => {
  const { page, wrong, close } = await opened('whole');
  await page.fill('#rate-rate', '100000');
  await page.fill('#rate-price', '0.05');
  const [ns, cores, hours, price] = await page.$$eval('table.rate tbody[data-ns]', ([body]) => [Number(body.dataset.ns), ...[3, 4, 5].map((i) => Number(body.rows[0].cells[i].textContent.replace(/,/g, '')))]);
  const near = (x, y) => assert.ok(Math.abs(x / y - 1) < 0.006, `${x} and ${y}`);
  near(cores, 100000 * ns / 1e9);
  near(hours, cores * 730);
  near(price, hours * 0.05);
  assert.deepEqual(wrong, []);
  await close();
});

test('the document is downloaded as it was', options, async () => {
  const { page, wrong, close } = await opened('whole');
  const [file] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
  const r = JSON.parse(readFileSync(await file.path(), 'utf8'));
  assert.equal(r.schema, 'tare.result/1');
  assert.equal(r.study, 'whole');
  assert.equal(file.suggestedFilename(), 'whole.result.json');
  assert.deepEqual(wrong, []);
  await close();
});

test('everything is reached by keyboard, and read without the script', options, async () => {
  const { page, close } = await opened('whole');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, 'none');
  await close();
  const bare = await opened('whole', { script: false });
  assert.ok(await bare.page.locator('table.primary').first().isVisible());
  assert.equal(await bare.page.locator('#bar').isVisible(), false);
  await bare.close();
});

test('a large page is small and soon there', options, async (t) => {
  const size = statSync(join(dir, 'synthetic.html')).size;
  assert.ok(size < 3_000_000, `${size} bytes`);
  const times = [];
  for (let i = 0; i < 3; i++) {
    const { page, close } = await opened('synthetic');
    const ready = await page.evaluate(() => performance.getEntriesByType('navigation')[0].domInteractive);
    const sorted = await page.evaluate(() => new Promise((done) => {
      const began = performance.now();
      document.querySelector('table.primary thead button').click();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    }));
    times.push({ ready: Math.round(ready), sorted: Math.round(sorted) });
    await close();
  }
  const least = times.reduce((a, b) => (b.ready < a.ready ? b : a));
  t.diagnostic(`12 × 12 × 80: ${size} bytes; interactive after ${least.ready} ms and sorted ${least.sorted} ms after a click, at best of three (all: ${times.map((x) => x.ready).join(', ')} ms)`);
  const skipped = await opened('synthetic').then(async ({ page, close }) => {
    const n = await page.$$eval('main .part', (all) => all.filter((p) => getComputedStyle(p).contentVisibility === 'auto').length);
    await close();
    return n;
  });
  assert.ok(skipped > 12, 'parts out of view are laid out when they come into it');
});

test('the history of 200 runs opens at once, and marks the step where it was planted', options, async (t) => {
  const size = statSync(join(dir, 'history.html')).size;
  assert.ok(size < 2_000_000, `${size} bytes`);
  const loaded = [];
  for (let i = 0; i < 3; i++) {
    const { page, close } = await opened('history');
    loaded.push(Math.round(await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd)));
    await close();
  }
  t.diagnostic(`200 runs of 40 benchmarks on two machines: ${size} bytes; loaded after ${loaded.join(', ')} ms`);
  const { page, close } = await opened('history');
  const found = await page.evaluate(() => ({
    charts: document.querySelectorAll('figure svg').length,
    empty: [...document.querySelectorAll('figure svg')].filter((e) => !e.querySelector('path.dots[d], path.data[d]') || e.getBoundingClientRect().height < 50).length,
    stepped: [...document.querySelectorAll('figure')].filter((f) => f.querySelector('svg .step')).map((f) => f.querySelector('b').textContent),
    drawn: [...document.querySelectorAll('figure')].filter((f) => !f.querySelector('svg .step') !== !f.querySelector('li')).length,
    texts: [...document.querySelectorAll('figure li')].map((e) => e.textContent),
  }));
  assert.deepEqual([found.charts, found.empty], [80, 0]);
  assert.equal(found.drawn, 0, 'a chart with a step has its sentence, and the other way round');
  assert.equal(found.stepped.filter((name) => name === 'example.com/m.Benchmark0').length, 2, 'the planted step, on both machines');
  assert.equal(found.texts.filter((text) => /^run 136 \(.*\): commits 000000095\.\.000000097, 1\.0\d+.* before, then 1\.(09|10)/.test(text)).length, 1);
  assert.ok(found.texts.length <= 2 + 8, `${found.texts.length} steps; of 8,000 runs without a change 0.06 % are reported as one`);
  if (process.env.TARE_SHOT) await page.screenshot({ path: process.env.TARE_SHOT, clip: { x: 0, y: 0, width: 1280, height: 900 } });
  await close();
});
