// Pictures of a report for a README: light, dark, and on a phone.
//
//	npm run shots -- RESULT.json OUT_DIR
//
// A result may be compressed (.json.gz); paths are relative to where npm was
// called.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const from = process.env.INIT_CWD || process.cwd();
const [result, out] = process.argv.slice(2).map((p) => resolve(from, p));
const program = [process.env.TARE_BROWSER, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => p && existsSync(p));
if (!out || !program) {
  console.error(out ? 'shots: no Chromium here; TARE_BROWSER names one' : 'shots: name a result and a directory');
  process.exit(2);
}

// What is taken: from the top of the page, or a part of it by its id; absent
// parts are left out.
const shots = [
  { name: 'report-light', colorScheme: 'light', width: 1240, height: 900 },
  { name: 'report-dark', colorScheme: 'dark', width: 1240, height: 900 },
  { name: 'report-phone', colorScheme: 'light', width: 390, height: 844, scale: 2 },
  { name: 'report-forest', colorScheme: 'light', width: 1280, height: 760, part: 'workload-1' },
  { name: 'report-semantics', colorScheme: 'light', width: 1280, height: 760, part: 'semantics' },
  { name: 'report-waterfall', colorScheme: 'light', width: 1280, height: 760, part: 'decomposition' },
  { name: 'report-latency', colorScheme: 'light', width: 1280, height: 620, part: 'latency-1' },
];

const dir = mkdtempSync(join(tmpdir(), 'tare-shots-'));
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
try {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  execFileSync('go', ['run', './report/html/htmltest/pages', dir, result], { cwd: root, env: { ...process.env, GOWORK: 'off' }, stdio: 'inherit' });
  const page = readdirSync(dir).find((n) => n.startsWith('given-'));
  mkdirSync(out, { recursive: true });
  for (const { name, colorScheme, width, height, scale = 1, part } of shots) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, deviceScaleFactor: scale });
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(join(dir, page)).href);
    await tab.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
    const path = join(out, name + '.png');
    if (!part) {
      await tab.screenshot({ path });
    } else if (await tab.locator('#' + part).count()) {
      await tab.evaluate((id) => {
        document.getElementById('bar').hidden = true; // it would lie over the part
        for (const p of document.querySelectorAll('.part')) p.style.contentVisibility = 'visible';
        document.getElementById(id).scrollIntoView();
      }, part);
      await tab.waitForTimeout(300);
      const box = await tab.locator('#' + part).boundingBox();
      await tab.screenshot({ path, clip: { x: box.x - 12, y: Math.max(box.y, 0), width: box.width + 24, height: Math.min(box.height + 8, height - Math.max(box.y, 0)) } });
    } else {
      rmSync(path, { force: true });
    }
    if (existsSync(path)) console.log(`${path}: ${statSync(path).size} bytes`);
    await context.close();
  }
} finally {
  await browser.close();
  rmSync(dir, { recursive: true, force: true });
}
