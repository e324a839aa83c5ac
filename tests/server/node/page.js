'use strict';
// The web page in headless Chromium: what it says, no error, nothing from elsewhere, and pictures to
// look at.   node page.js SIM_DAEMON PROTO_FOLDER CHROMIUM FOLDER_FOR_PICTURES
const assert = require('assert/strict');
const path = require('path');
const {chromium} = require('playwright-core');
const {start, client, load, porep, winning, work, sleep} = require('./daemon');
const [program, proto, browserPath, out] = process.argv.slice(2);
const {ProvingEngine} = load(proto, 'cuzk/v1/proving.proto').cuzk.v1;

async function fillDaemon(c) {
  for (let i = 0; i < 6; i++) {
    await c.call('SubmitProof', winning(100 + i, {request_id: `winpost-1000-${i}`}));
    await c.call('AwaitProof', {job_id: `winpost-1000-${i}`});
  }
  await c.call('Prove', {submit: winning(200, {request_id: 'winpost-<b>bad</b>', randomness: work(200, 1, 2)})});
  await c.call('Prove', {submit: porep(300, {request_id: 'porep-1000-1'})});
  for (let i = 2; i < 7; i++) await c.call('SubmitProof', porep(300 + i, {request_id: `porep-1000-${i}`}));
}

async function shoot(browser, http, name, options) {
  const page = await browser.newPage(options);
  const errors = [], foreign = [];
  page.on('pageerror', e => errors.push(String(e)));
  page.on('console', m => m.type() === 'error' && errors.push(m.text()));
  page.on('request', r => r.url().startsWith(`http://${http}/`) || r.url().startsWith('data:') || foreign.push(r.url()));
  await page.goto(`http://${http}/`);
  await page.waitForSelector('#jobs .track i');
  await sleep(1500);
  const text = await page.innerText('main');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.screenshot({path: path.join(out, `${name}.png`), fullPage: true});
  await page.close();
  assert.deepEqual(errors, []);
  assert.deepEqual(foreign, []);
  assert.ok(wide <= options.viewport.width, `${name}: ${wide} pixels wide`);
  assert.match(text, /porep-1000-2/);
  assert.match(text, /Simulated GPU #1/);
  assert.match(text, /winpost-<b>bad<\/b>/); // shown, not interpreted
  assert.match(text, /simulated bad witness/);
  console.log('ok', name);
}

(async () => {
  const d = await start(program, 'devices=3', 'compute_us=250000', 'upload_us=60000', 'witness_us=150000',
    'verify_us=20000', 'wrong_permille=60', 'gpus.device_failures=100', 'pipeline.synthesis_concurrency=3');
  const c = client(ProvingEngine, d.address);
  await fillDaemon(c);
  const browser = await chromium.launch({executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu']});
  try {
    await shoot(browser, d.http, 'light', {viewport: {width: 1280, height: 900}, colorScheme: 'light'});
    await shoot(browser, d.http, 'dark', {viewport: {width: 1280, height: 900}, colorScheme: 'dark'});
    await shoot(browser, d.http, 'phone', {viewport: {width: 390, height: 844}, colorScheme: 'light', isMobile: true});
  } finally {
    await browser.close();
    c.close();
    await d.stop();
  }
})().catch(e => {
  console.error(e);
  process.exit(1);
});
