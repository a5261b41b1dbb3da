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
const pages = ['whole', 'one', 'bench', 'nothing', 'synthetic'];
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

// called is the page of a kept result.
const called = (name) => pages.find((n) => n.replace(/^given-\d+-/, '') === name);

// unfolded opens all that a page folds.
const unfolded = (page) => page.$$eval('details', (all) => { for (const d of all) d.open = true; });

// beyond are the elements that reach out of the screen, and those that scroll sideways.
const beyond = (page) => page.evaluate(() => {
  const width = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('body *')].filter((e) => !(e instanceof SVGElement) && e.getClientRects().length && getComputedStyle(e).position !== 'absolute' && e.getBoundingClientRect().right > width + 1);
  const scrolling = [...document.querySelectorAll('body *')].filter((e) => e.scrollWidth > e.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX));
  return [document.documentElement.scrollWidth > width, ...[...out, ...scrolling].slice(0, 3).map((e) => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 60)}`)].filter(Boolean);
});

test('every bundled study has its report here', options, () => {
  for (const study of studies) assert.ok(called(study), `no result of ${study} in ${samples}; htmltest/sample keeps one`);
});

test('every page opens without an error and without a request, and nothing scrolls sideways', options, async () => {
  for (const name of [...pages, ...scriptless]) for (const [width, colorScheme] of [[390, 'dark'], [1024, 'light'], [1280, 'light']]) {
    const { page, wrong, close } = await opened(name, { width, colorScheme });
    if (name !== 'synthetic') await unfolded(page);
    assert.deepEqual(wrong, [], name);
    assert.deepEqual(await beyond(page), [], `${name} at ${width}`);
    await close();
  }
});

test('a report of every study begins with its answer, and is short until it is unfolded', options, async (t) => {
  for (const name of pages.filter((n) => n.startsWith('given-'))) {
    const { page, close } = await opened(name);
    const found = await page.evaluate(() => ({
      headline: document.querySelector('h1').innerText.split(/\s+/).length,
      words: document.body.innerText.split(/\s+/).length,
      stamps: document.querySelectorAll('.stamps li').length,
      marks: document.querySelectorAll('.hero .row use[href^="#m"]').length > 1,
      grounds: [...document.querySelectorAll('.row use')].filter((e) => !document.querySelector(e.getAttribute('href'))).length,
      cards: document.querySelectorAll('.card').length,
      facts: document.querySelectorAll('.trust dt').length,
      ratios: document.querySelectorAll('#all-ratios tbody').length > 0,
      repeat: document.querySelector('#run pre').textContent,
      odd: [...document.querySelectorAll('td, text, path')].filter((e) => /^(NaN|undefined|.*\[object|%!)/.test(e.tagName === 'path' ? '' : e.textContent) || /NaN/.test(e.getAttribute('d') || '')).length,
      selects: [...document.querySelectorAll('.hero select, header select, nav')].length,
    }));
    t.diagnostic(`${name}: ${found.words} words`);
    assert.ok(found.headline <= 15 && found.words <= 800 && found.stamps <= 3 && found.cards <= 4, `${name}: ${JSON.stringify(found)}`);
    assert.deepEqual([found.marks, found.grounds, found.facts, found.ratios, found.odd, found.selects], [true, 0, 4, true, 0, 0], name);
    assert.match(found.repeat, /^tare rerun \.\/\S+\.result\.json/);
    await close();
  }
});

test('what only some studies have is drawn where they have it, and absent elsewhere', options, async () => {
  const counts = async (name) => {
    const { page, close } = await opened(called(name));
    await unfolded(page);
    const found = await page.evaluate(() => ({
      growths: document.querySelectorAll('#curves figure[id^="growth"] path.dots').length,
      steps: document.querySelectorAll('#causes .drawn rect').length,
      latencies: document.querySelectorAll('#curves figure[id^="latency"] .area path').length,
      claims: document.querySelectorAll('.hero .row use[href="#ma"], .hero .row use[href="#mp"]').length,
    }));
    await close();
    return found;
  };
  const ffi = await counts('ffi-full'), tiny = await counts('tiny'), latency = await counts('latency'), go = await counts('go-versions');
  assert.ok(ffi.growths >= 12 && ffi.claims > 2, JSON.stringify(ffi));
  assert.ok(tiny.steps >= 4 && latency.latencies >= 4, JSON.stringify({ tiny, latency }));
  assert.deepEqual([go.growths, go.steps, go.latencies], [0, 0, 0]);
});

test('the drawing of a row fills it, and no words lie over others', options, async () => {
  for (const name of pages.filter((n) => n.startsWith('given-'))) for (const width of [390, 1024, 1280]) {
    const { page, close } = await opened(name, { width });
    const found = await page.evaluate(() => {
      const out = [];
      for (const panel of document.querySelectorAll('.panel')) {
        if (!panel.getClientRects().length) continue;
        for (const svg of panel.querySelectorAll('tbody .row')) {
          const own = svg.getBoundingClientRect(), cell = svg.parentElement.getBoundingClientRect();
          if (own.height < cell.height - 2) out.push(`a drawing of ${own.height} in ${cell.height}`);
          const texts = [...svg.querySelectorAll('text')].map((e) => e.getBoundingClientRect()), marks = [...svg.querySelectorAll('.m')].map((e) => e.getBoundingClientRect());
          for (const [i, a] of texts.entries()) {
            if (a.left < own.left - 3 || a.right > own.right + 3) out.push(`words beyond the drawing: ${svg.textContent}`);
            for (const b of [...texts.slice(i + 1), ...marks]) if (a.left < b.right - 2 && b.left < a.right - 2) out.push(`words over others: ${svg.textContent}`);
          }
        }
      }
      return out;
    });
    assert.deepEqual(found.slice(0, 3), [], `${name} at ${width}`);
    await close();
  }
});

test('the workloads of the first chart are chosen without a script', options, async () => {
  const { page, close } = await opened('whole', { script: false });
  const shown = () => page.$$eval('.panel', (all) => all.map((e) => e.getClientRects().length > 0));
  assert.deepEqual(await shown(), [true, false]);
  await page.click('label[for="v2"]');
  assert.deepEqual(await shown(), [false, true]);
  await page.emulateMedia({ media: 'print' });
  assert.deepEqual(await shown(), [true, true], 'both are printed');
  await close();
});

test('axe-core finds nothing serious', options, async () => {
  // Every page one way, in turn, and one of each sort both ways: the checker takes
  // seconds a page.
  const ways = [['light', 1280], ['dark', 390]], both = ['whole', 'nothing', ...scriptless];
  const asked = [...pages, ...scriptless].filter((n) => n !== 'synthetic' && n !== called('ffi-full')).flatMap((name, i) => (both.includes(name) ? ways : [ways[i % 2]]).map((way) => [name, ...way]));
  for (const [name, colorScheme, width] of asked) {
    const { page, close } = await opened(name, { colorScheme, width, bypass: true });
    await unfolded(page);
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

test('all ratios are narrowed by workload, measure and contender', options, async () => {
  const { page, wrong, close } = await opened('whole');
  await page.click('#all summary');
  const groups = () => page.$$eval('#all-ratios tbody', (all) => all.filter((e) => !e.hidden).length);
  const before = await groups();
  const workload = await page.$eval('#pick-w', (s) => s.options[1].value);
  await page.selectOption('#pick-w', workload);
  assert.ok(await groups() < before);
  assert.deepEqual(await page.$$eval('#all-ratios tbody:not([hidden])', (all) => [...new Set(all.map((e) => e.dataset.w))]), [workload]);
  await page.selectOption('#pick-w', '');
  await page.selectOption('#pick-m', { index: 1 });
  await page.selectOption('#pick-c', { index: 2 });
  const names = await page.$$eval('#all-ratios tbody:not([hidden]) tr:not([hidden])', (all) => [...new Set(all.filter((r) => r.querySelector('td:not([colspan])')).map((r) => r.cells[0].firstChild.data.trim()))]);
  assert.deepEqual(names, [await page.$eval('#pick-c', (s) => s.value)]);
  await page.selectOption('#pick-m', '');
  await page.selectOption('#pick-c', '');
  assert.equal(await groups(), before);
  assert.deepEqual(wrong, []);
  await close();
});

test('a link to a fold opens it', options, async () => {
  const { page, close } = await opened('whole');
  await page.evaluate(() => { location.hash = '#checks'; });
  await page.waitForFunction(() => document.getElementById('checks').open);
  await close();
});

test('the cost at a rate is the product that the page says', options, async () => {
  const { page, wrong, close } = await opened('whole');
  await page.fill('#rate-rate', '100000');
  await page.fill('#rate-price', '0.05');
  const [ns, share, price] = await page.$$eval('#price tr[data-ns]', ([row]) => [Number(row.dataset.ns), ...row.cells[2].textContent.replace(/,/g, '').match(/[\d.]+/g).map(Number)]);
  const near = (x, y) => assert.ok(Math.abs(x / y - 1) < 0.006, `${x} and ${y}`);
  near(share, 100 * 100000 * ns / 1e9);
  near(price, 100000 * ns / 1e9 * 730 * 0.05);
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
  await bare.page.click('#all summary');
  assert.ok(await bare.page.locator('#all-ratios td').first().isVisible());
  assert.equal(await bare.page.locator('#filter').isVisible(), false);
  await bare.close();
});

test('a large page is small and soon there', options, async (t) => {
  const size = statSync(join(dir, 'synthetic.html')).size;
  assert.ok(size < 3_000_000, `${size} bytes`);
  const times = [];
  for (let i = 0; i < 3; i++) {
    const { page, close } = await opened('synthetic');
    times.push(Math.round(await page.evaluate(() => performance.getEntriesByType('navigation')[0].domInteractive)));
    await close();
  }
  t.diagnostic(`12 × 12 × 80: ${size} bytes; interactive after ${times.join(', ')} ms`);
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
    charts: document.querySelectorAll('svg.trend').length,
    empty: [...document.querySelectorAll('svg.trend')].filter((e) => !e.querySelector('path.line[d]') || e.getBoundingClientRect().height < 30).length,
    stepped: [...document.querySelectorAll('tr')].filter((r) => r.querySelector('svg .step')).map((r) => r.cells[0].textContent),
    drawn: [...document.querySelectorAll('tr')].filter((r) => !r.querySelector('svg .step') !== !r.querySelector('li')).length,
    texts: [...document.querySelectorAll('tr li')].map((e) => e.textContent),
  }));
  assert.deepEqual([found.charts, found.empty], [80, 0]);
  assert.equal(found.drawn, 0, 'a chart with a step has its sentence, and the other way round');
  assert.equal(found.stepped.filter((name) => name === 'example.com/m.Benchmark0').length, 2, 'the planted step, on both machines');
  assert.equal(found.texts.filter((text) => /^run 136 \(.*\): commits 000000095\.\.000000097, 1\.0\d+.* before, then 1\.(09|10)/.test(text)).length, 1);
  assert.ok(found.texts.length <= 2 + 8, `${found.texts.length} steps; of 8,000 runs without a change 0.06 % are reported as one`);
  if (process.env.TARE_SHOT) await page.screenshot({ path: process.env.TARE_SHOT, clip: { x: 0, y: 0, width: 1280, height: 900 } });
  await close();
});
