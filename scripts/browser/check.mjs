// The dashboard in Chromium: every page, live while the real client works, by keyboard alone, without scripts, narrow, dark, and seen
// from a hostile page. Screenshots go to the directory in GROV_PICTURES, or to target/pictures.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root, Scene } from './scene.mjs';
import { service } from './service.mjs';

const tools = path.join(root, '.tools/browser');
const require = createRequire(path.join(tools, 'package.json'));
const { chromium } = require('playwright-core');
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
const pictures = process.env.GROV_PICTURES ?? path.join(root, 'target/pictures');
await mkdir(pictures, { recursive: true });

const PAGES = ['', '/memory', '/inbox', '/drift', '/cost?since=all', '/cost?by=session&since=all', '/routes', '/service', '/settings', '/doctor'];
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> \u202etxt.exe\u001b[31m';

const scenario = {
  default: 'work',
  scenarios: {
    work: {
      title: 'Cart total',
      steps: [
        { blocks: [{ type: 'text', text: 'Reading the project.' }, { type: 'tool_use', name: 'Bash', input: { command: 'ls', description: 'List files' } }] },
        { blocks: [{ type: 'text', text: 'Writing the module.' }, { type: 'tool_use', name: 'Write', input: { file_path: '{cwd}/src/cart.js', content: 'export const total = (items) => items.reduce((sum, item) => sum + item.price * item.count, 0);\n' } }] },
        { blocks: [{ type: 'text', text: HOSTILE }, { type: 'tool_use', name: 'Bash', input: { command: `echo '${HOSTILE.replaceAll("'", '')}' > /dev/null`, description: 'Check' } }] },
        { blocks: [{ type: 'text', text: 'I decided to keep prices in cents, because floats round.' }, { type: 'tool_use', name: 'Write', input: { file_path: '{cwd}/src/cart.test.js', content: 'import { total } from "./cart.js";\n' } }] },
        { blocks: [{ type: 'text', text: 'The cart total is done.' }] },
      ],
    },
    stray: {
      title: 'Stray',
      steps: [
        { blocks: [{ type: 'tool_use', name: 'Write', input: { file_path: '{cwd}/src/cart.js', content: 'export const total = () => 0;\n' } }] },
        { blocks: [{ type: 'tool_use', name: 'Write', input: { file_path: '{cwd}/db/schema.sql', content: 'drop table users;\n' } }] },
        { blocks: [{ type: 'tool_use', name: 'Bash', input: { command: 'git push --force origin main', description: 'Push' } }] },
        { blocks: [{ type: 'text', text: 'Done.' }] },
      ],
    },
  },
};

// Slow enough to be seen at work.
for (const step of scenario.scenarios.work.steps) step.behaviour = 'event-delay=60';

let passed = 0;
// Pages whose addresses are known once a session was played.
const found = {};
async function check(what, test) {
  await test();
  passed += 1;
  console.log(`ok    ${what}`);
}

/// The pages with the names of their pictures.
const named = () => [
  ...PAGES.map((where) => [where.replace(/\W+/g, '-').replace(/^-|-$/g, '') || 'now', where]),
  ...Object.entries(found),
];

/// Serious findings of axe on a page.
async function audit(page, what) {
  await page.evaluate(axe);
  const report = await page.evaluate(() => window.axe.run());
  const serious = report.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
  const listed = serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' | ')}`);
  assert.deepEqual(listed, [], `axe on ${what}`);
}

const scene = await Scene.open(scenario);
const executablePath = process.env.CHROME ?? path.join(tools, 'chromium');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  await everything();
  const shot = (name, on) => on.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: false });
  await service({ browser, check, audit, shot, HOSTILE });
  console.log(`${passed} checks of the pages passed; pictures are in ${pictures}`);
} finally {
  await browser.close();
  await scene.close();
}

async function everything() {
  const base = `${scene.url}/_grov/ui`;
  // Scripts of the page's own are allowed; axe is evaluated by the debugger and needs no exception from the policy.
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  const shot = (name, on = page) => on.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: false });

  await check('a link signs in, and works once', async () => {
    const link = await scene.link();
    await page.goto(link);
    await page.waitForURL(base);
    const other = await (await browser.newContext()).newPage();
    const again = await other.goto(link);
    assert.equal(again.status(), 401);
    assert.equal(await page.evaluate(() => document.cookie), '', 'scripts cannot read the cookie');
    await page.getByText('Nothing is recorded yet').waitFor();
  });

  if (Scene.hasClient) {
    await check('a session of the real client appears by itself, and its actions within a second', async () => {
      await page.locator('#live.on').waitFor();
      const ended = scene.client('Add the total of the cart to src/cart.js. Do not touch the database. From now on keep prices in cents, never in floats.');
      const card = page.locator('.card-title').first();
      await card.waitFor({ timeout: 30_000 });
      await page.locator('.state.working').first().waitFor({ timeout: 30_000 });
      await ended;
      await page.locator('.card', { hasText: 'cart' }).first().waitFor();
      await scene.client('[[scenario:stray]] Fix the total of the cart. Do not touch the database.');
      // A memory that a busy machine finds too late for one session is in the next.
      for (let tries = 0; tries < 5 && !(await isChanged(page)); tries += 1) await scene.client('Why are the prices of the cart total in cents?');
    });
    await check('an event is shown at most half a second after it happened', async () => {
      await page.goto(base);
      await page.locator('#live.on').waitFor();
      await page.waitForTimeout(800);
      const behind = await lag(page);
      console.log(`      ${behind} ms behind the event`);
      assert.ok(behind <= 500, `${behind} ms`);
    });
  } else {
    console.log('SKIPPED: the real client is not installed: run scripts/install-client');
  }

  await check('every page is shown and accessible', async () => {
    for (const [name, where] of named()) {
      const answer = await page.goto(base + where);
      assert.equal(answer.status(), 200, where);
      await page.locator('h1').waitFor();
      await audit(page, where || 'Now');
      await shot(name);
    }
  });

  await check('a session shows its time line, and hostile text is text', async () => {
    await page.goto(base);
    await page.locator('.card-title').last().click();
    await page.locator('ol.line > li').first().waitFor();
    for (const one of await page.locator('summary').all()) if (await one.isVisible()) await one.click();
    await audit(page, 'session');
    const text = await page.locator('ol.line').innerText();
    assert.ok(text.includes('<script>window.hacked=1</script>'), text);
    assert.ok(!text.includes('\u202e') && !text.includes('\u001b'));
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    await page.goto(page.url());
    await page.locator('ol.line > li').first().waitFor();
    await shot('session');
    found.session = page.url().slice(base.length);
  });

  await check('a changed request shows what was added, and its page is accessible', async () => {
    await page.goto(base);
    const changed = page.locator('li.request', { hasText: 'bytes by Grov' });
    const cards = await page.locator('.card-title').evaluateAll((all) => all.map((one) => one.href));
    let isFound = false;
    for (const card of cards) {
      await page.goto(card);
      isFound = (await changed.count()) > 0;
      if (isFound) break;
    }
    assert.ok(isFound || !Scene.hasClient, 'no request was changed');
    if (!isFound) return;
    await changed.first().locator('a').click();
    await page.getByRole('heading', { name: 'What Grov changed' }).waitFor();
    await page.locator('pre.bytes ins').first().waitFor();
    await audit(page, 'request');
    await shot('request');
    found.request = page.url().slice(base.length);
  });

  await check('a finding is marked by key and counted', async () => {
    await page.goto(`${base}/drift`);
    if ((await page.locator('[data-item]').count()) === 0) return console.log('      no finding to mark');
    await page.locator('#live.on').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.locator('button[aria-pressed=true]', { hasText: 'False alarm' }).first().waitFor();
    await page.getByText('100 %').first().waitFor();
    await shot('drift');
  });

  await check('proposals of the session are decided by key alone', async () => {
    if (!Scene.hasClient) return;
    await page.goto(`${base}/inbox`);
    const items = page.locator('[data-item]');
    const before = await items.count();
    assert.ok(before > 0, 'the session proposed nothing');
    assert.ok((await page.locator('blockquote').count()) >= before, 'each has its evidence');
    await shot('inbox');
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await page.waitForURL(/done=approved/);
    await page.getByText('Approved: agents are given it').waitFor();
    await audit(page, 'inbox, approved');
    assert.equal(await items.count(), before - 1);
    if (before > 1) {
      await page.keyboard.press('x');
      await page.waitForURL(/done=rejected/);
      assert.equal(await items.count(), before - 2);
    }
  });

  await check('memory is searched, edited and forgotten', async () => {
    await page.goto(`${base}/memory`);
    await page.keyboard.press('/');
    await page.keyboard.type('cart total');
    await page.locator('#memories .card').first().waitFor();
    await page.getByText('why:').first().waitFor();
    await shot('memory');
    await page.locator('#memories .card-title').first().click();
    await page.getByText('Edit', { exact: true }).click();
    await page.getByLabel('Goal').fill('Cart total in cents');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('The memory was changed.').waitFor();
    await audit(page, 'memory');
    await shot('memory-one');
    assert.equal(await page.locator('h1').innerText(), 'Cart total in cents');
    await page.getByText('Forget', { exact: true }).click();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.waitForURL(`${base}/memory`);
    await page.waitForFunction(() => !document.body.innerText.includes('Cart total in cents'));
  });

  await check('everything is reached by keyboard', async () => {
    await page.goto(base);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sessions/);
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.waitForURL(/cost/);
    await page.keyboard.press('?');
    assert.ok(await page.locator('#keys').evaluate((keys) => keys.open));
  });

  await check('dark and narrow', async () => {
    const dark = await browser.newContext({ viewport: { width: 1100, height: 800 }, colorScheme: 'dark', storageState: await context.storageState() });
    const narrow = await browser.newContext({ viewport: { width: 375, height: 740 }, storageState: await context.storageState() });
    for (const [name, where] of named()) {
      const one = await dark.newPage();
      await one.goto(base + where);
      await audit(one, `${name}, dark`);
      if (['now', 'cost-since-all', 'request', 'session'].includes(name)) await shot(`${name}-dark`, one);
      const other = await narrow.newPage();
      await other.goto(base + where);
      const wide = await other.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 375, `${name} is ${wide} px wide`);
      await audit(other, `${name}, narrow`);
      await shot(`${name}-narrow`, other);
      await one.close();
      await other.close();
    }
  });

  await check('without scripts everything can be read', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() });
    const one = await plain.newPage();
    for (const [name, where] of named()) {
      await one.goto(base + where);
      assert.ok(await one.locator('h1').isVisible(), name);
    }
    await one.goto(base);
    await one.locator('.card-title').first().click();
    assert.ok(await one.locator('ol.line > li').first().isVisible());
  });

  await check('a hostile page can neither read nor act', () => hostile(context, base));
  await check('nothing was blocked and nothing failed on our pages', async () => assert.deepEqual(problems, []));
  await check('signing out closes the pages', async () => {
    await page.goto(`${base}/settings`);
    await page.getByRole('button', { name: 'Sign out every browser' }).click();
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    assert.equal((await page.goto(base)).status(), 401);
  });
}

/// Whether a request of the newest session was changed.
async function isChanged(page) {
  await page.goto(`${scene.url}/_grov/ui`);
  for (const one of await page.locator('.card-title').evaluateAll((all) => all.map((one) => one.href))) {
    await page.goto(one);
    if ((await page.locator('li.request', { hasText: 'bytes by Grov' }).count()) > 0) return true;
  }
  return false;
}

/// How long after its response ended a session is on the page, in milliseconds.
async function lag(page) {
  const session = crypto.randomUUID();
  const shown = page.waitForFunction((id) => document.getElementById(`s-${id}`) && Date.now(), session, { polling: 10, timeout: 30_000 });
  const text = (value) => ({ type: 'text', text: value });
  const tool = { name: 'Bash', description: 'Bash', input_schema: { type: 'object' } };
  const answer = await fetch(`${scene.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant-api03-test-0000', 'anthropic-version': '2023-06-01', 'x-claude-code-session-id': session, 'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)' },
    body: JSON.stringify({
      model: 'claude-opus-4-8', max_tokens: 1000, stream: true, tools: [tool], messages: [{ role: 'user', content: [text('Work on the cart.')] }],
      system: [text('x-anthropic-billing-header: cc_version=2.1.197.05b; cc_entrypoint=sdk-cli;'), text(`Working directory: ${scene.project}`)],
      metadata: { user_id: JSON.stringify({ device_id: '0'.repeat(64), account_uuid: '', session_id: session }) },
    }),
  });
  await answer.text();
  const ended = Date.now();
  return (await (await shown).jsonValue()) - ended;
}

/// Requests of a page at another port of this machine and of another host, with the cookies that the browser would send.
async function hostile(context, base) {
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html');
    answer.end('<!doctype html><title>evil</title><p>evil</p>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address();
    for (const host of ['127.0.0.1', 'localhost']) {
      const page = await context.newPage();
      await page.goto(`http://${host}:${port}/`);
      const read = await page.evaluate(async (base) => {
        const found = [];
        for (const mode of ['cors', 'no-cors']) {
          try {
            const answer = await fetch(base, { mode, credentials: 'include' });
            found.push(`${mode}: ${answer.type} ${(await answer.text()).length}`);
          } catch (error) {
            found.push(`${mode}: refused`);
          }
        }
        const frame = document.createElement('iframe');
        frame.src = base;
        document.body.append(frame);
        await new Promise((resolve) => setTimeout(resolve, 500));
        try {
          found.push(`frame: ${frame.contentDocument ? frame.contentDocument.body.innerText.length : 'closed'}`);
        } catch {
          found.push('frame: closed');
        }
        return found;
      }, base);
      assert.ok(read[0] === 'cors: refused' && (read[1] === 'no-cors: refused' || read[1] === 'no-cors: opaque 0'), read.join(', '));
      assert.equal(read[2], 'frame: closed');
      await page.setContent(`<form method="post" action="${base}/sign-out"><input name="token" value="guess"><button>go</button></form>`);
      const [answer] = await Promise.all([page.waitForNavigation(), page.click('button')]);
      assert.equal(answer.status(), 403);
      await page.close();
    }
    const own = await context.newPage();
    assert.equal((await own.goto(base)).status(), 200, 'still signed in');
    await own.close();
  } finally {
    server.close();
  }
}
