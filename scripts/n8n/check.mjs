// Tool calls through a real n8n: at once, approved, rejected, after a restart, twice, forged, and while n8n is away; then the time
// that they take. Pictures for docs/n8n.md go to the directory in GROV_PICTURES, or to target/pictures.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { eventually, root, Stage } from './stage.mjs';

const { chromium } = createRequire(path.join(root, '.tools/browser/package.json'))('playwright-core');
const pictures = process.env.GROV_PICTURES ?? path.join(root, 'target/pictures');
const rounds = Number(process.env.GROV_ROUNDS ?? 20);
await mkdir(pictures, { recursive: true });

let passed = 0;
async function check(what, test) {
  await test();
  passed += 1;
  console.log(`ok    ${what}`);
}

const stage = await Stage.open();
const { team } = stage;
const browser = await chromium.launch({ executablePath: path.join(root, '.tools/browser/chromium'), args: ['--no-sandbox'] });
try {
  await calls();
  await times();
  await editor();
  console.log(`${passed} checks of n8n passed; pictures are in ${pictures}`);
} finally {
  await browser.close();
  await stage.close();
}

function runsOf(call) {
  return team.runs.filter((run) => run.id === call.id).length;
}

/// A browser that reaches only this machine: n8n's pages ask for fonts and the like elsewhere.
async function visitor(viewport) {
  const context = await browser.newContext({ viewport });
  await context.route((url) => url.hostname !== '127.0.0.1', (route) => route.abort());
  return context;
}

/// Decides in the form, as a person does in a browser.
async function decide(call, decision, reason = '') {
  const context = await visitor({ width: 900, height: 590 });
  const page = await context.newPage();
  await page.goto(await stage.form(call));
  await page.getByLabel('Decision').selectOption(decision);
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Reason').fill(reason);
  if (decision === 'Approve') await page.screenshot({ path: path.join(pictures, 'n8n-form.png') });
  await page.locator('#submit-btn').click();
  await page.getByText('Your response has been recorded').waitFor();
  await context.close();
}

/// Decides without a browser.
async function post(call, decision, reason = '') {
  const form = await stage.form(call);
  const fields = new FormData();
  [decision, 'Ada', reason].forEach((value, place) => fields.append(`field-${place}`, value));
  await eventually('the form takes the decision', async () => (await fetch(form, { method: 'POST', body: fields })).ok);
}

async function calls() {
  await check('a call that needs no approval is run, and its result comes back', async () => {
    const call = await stage.requests('ops.restart', false);
    const done = await stage.reaches(call, 'succeeded');
    assert.deepEqual(done.result, { ran: 'ops.restart', with: { service: 'api' } });
    assert.equal(runsOf(call), 1);
  });

  await check('a call that needs approval waits for a person, and is run once she approves', async () => {
    const call = await stage.requests('ops.restart', true);
    await stage.form(call);
    assert.equal((await stage.call('GET', `/tool_calls/${call.id}`)).status, 'awaiting_approval');
    assert.equal(runsOf(call), 0);
    await decide(call, 'Approve');
    const done = await stage.reaches(call, 'succeeded');
    assert.equal(done.decided_by, 'Ada (key n8n)');
    assert.equal(runsOf(call), 1);
  });

  await check('a rejected call is not run, and the reason is kept', async () => {
    const call = await stage.requests('ops.restart', true);
    await decide(call, 'Reject', 'not before the weekend');
    const done = await stage.reaches(call, 'rejected');
    assert.equal(done.error, 'not before the weekend');
    assert.equal(runsOf(call), 0);
  });

  await check('a call that waits survives a crash of n8n', async () => {
    const call = await stage.requests('ops.restart', true);
    await stage.form(call);
    await stage.killN8n();
    await stage.startN8n();
    await decide(call, 'Approve');
    await stage.reaches(call, 'succeeded');
    assert.equal(runsOf(call), 1);
  });

  await check('a call that is requested while n8n is away is run when it is back', async () => {
    await stage.killN8n();
    const call = await stage.requests('ops.restart', false);
    await stage.startN8n();
    await stage.reaches(call, 'succeeded');
    assert.equal(runsOf(call), 1);
  });

  await check('a call that is approved elsewhere is run, and the form decides nothing any more', async () => {
    const call = await stage.requests('ops.restart', true);
    await stage.form(call);
    await stage.call('POST', `/tool_calls/${call.id}/approve`, {});
    await stage.reaches(call, 'succeeded');
    await post(call, 'Reject');
    assert.equal(runsOf(call), 1);
    assert.equal((await stage.call('GET', `/tool_calls/${call.id}`)).status, 'succeeded');
  });

  await check('a tool that fails is reported', async () => {
    const call = await stage.requests('ops.fail', false);
    const done = await stage.reaches(call, 'failed');
    assert.match(done.error, /500|no such host/);
  });

  await check('an event that comes twice, or names no call, runs nothing', async () => {
    const call = await stage.requests('ops.restart', false);
    await stage.reaches(call, 'succeeded');
    for (const id of [call.id, crypto.randomUUID()]) {
      const event = { event: 'tool.approved', id: crypto.randomUUID(), tool_call: { ...call, id, name: 'ops.forged' } };
      const sent = await fetch(`${stage.url}/webhook/grov-tools`, {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(event),
      });
      assert.equal(sent.status, 200);
    }
    // A call that is requested later has passed them.
    await stage.reaches(await stage.requests('ops.restart', false), 'succeeded');
    assert.equal(runsOf(call), 1);
    assert.ok(team.runs.every((run) => run.name !== 'ops.forged'));
  });

  await check('a proposal for memory is approved by the same form', async () => {
    const body = { project_id: stage.project, message: 'Remember that refunds are paid within 14 days.' };
    const answer = await stage.call('POST', '/chat', body);
    const [item] = answer.response_json.memory_proposals;
    const waiting = await stage.call('GET', `/tool_calls?project_id=${stage.project}&status=awaiting_approval`);
    const call = waiting.items.find((one) => one.memory_item_id === item.id);
    await post(call, 'Approve');
    await eventually('the item is accepted', async () =>
      (await stage.call('GET', `/projects/${stage.project}/memory/${item.id}`)).status === 'accepted');
    assert.equal(runsOf(call), 0);
  });
}

/// Prints how long calls take, in milliseconds.
async function times() {
  const measured = { immediate: [], approved: [] };
  for (let round = 0; round < rounds; round += 1) {
    let call = await stage.requests('ops.restart', false);
    let before = performance.now();
    await stage.reaches(call, 'succeeded');
    measured.immediate.push(performance.now() - before);
    call = await stage.requests('ops.restart', true);
    await stage.form(call);
    before = performance.now();
    await post(call, 'Approve');
    await stage.reaches(call, 'succeeded');
    measured.approved.push(performance.now() - before);
  }
  for (const [what, all] of Object.entries(measured)) {
    all.sort((a, b) => a - b);
    const at = (share) => Math.round(all[Math.min(all.length - 1, Math.floor(share * all.length))]);
    console.log(`time  ${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${all.length}`);
  }
}

/// Pictures of the workflow in n8n's editor.
async function editor() {
  const owner = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Example', password: 'Throw-away-1' };
  const context = await visitor({ width: 1500, height: 640 });
  const signed = await context.request.post(`${stage.url}/rest/owner/setup`, { data: owner });
  assert.ok(signed.ok(), await signed.text());
  const page = await context.newPage();
  await page.goto(`${stage.url}/workflow/${stage.workflow.id}`);
  await page.getByText('Report success').first().waitFor();
  // Nodes fade in, and get their icons later.
  await page.waitForFunction((count) => {
    const icons = document.querySelectorAll('.vue-flow__node img, .vue-flow__node svg');
    const fades = document.getAnimations().filter((one) => one.effect?.getTiming().iterations !== Infinity);
    return icons.length >= count && fades.every((one) => one.playState !== 'running');
  }, stage.workflow.nodes.length);
  await page.waitForLoadState('networkidle');
  // Advice that n8n shows once covers a part of it.
  await page.mouse.click(300, 500);
  await page.getByText('Production Checklist').waitFor({ state: 'hidden' });
  await page.screenshot({ path: path.join(pictures, 'n8n-workflow.png') });
}
