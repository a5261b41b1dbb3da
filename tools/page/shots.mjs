// Pictures of a report for a README: light and dark.
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

const shots = [
  { name: 'report-light', colorScheme: 'light', width: 1240, height: 980 },
  { name: 'report-dark', colorScheme: 'dark', width: 1240, height: 980 },
];

const dir = mkdtempSync(join(tmpdir(), 'tare-shots-'));
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
try {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  execFileSync('go', ['run', './report/html/htmltest/pages', dir, result], { cwd: root, env: { ...process.env, GOWORK: 'off' }, stdio: 'inherit' });
  const page = readdirSync(dir).find((n) => n.startsWith('given-'));
  mkdirSync(out, { recursive: true });
  for (const { name, colorScheme, width, height } of shots) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(join(dir, page)).href);
    await tab.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
    const path = join(out, name + '.png');
    await tab.screenshot({ path });
    console.log(`${path}: ${statSync(path).size} bytes`);
    await context.close();
  }
} finally {
  await browser.close();
  rmSync(dir, { recursive: true, force: true });
}
