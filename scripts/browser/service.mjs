// The page of the agent service in Chromium: keys and roles, approving and rejecting by mouse and keyboard, hostile text, narrow, dark,
// and a page of another origin.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Service } from './scene.mjs';

const TICKET = {
  name: 'jira.create_ticket', description: 'Create a ticket', requires_approval: true, risk: 'medium',
  parameters: { summary: { type: 'string', required: true }, project: { type: 'string', required: true } },
};

/// Opens the page with a key.
async function enter(context, service, key) {
  const page = await context.newPage();
  await page.goto(`${service.url}/ui`);
  await page.getByLabel('Key of the service').fill(key);
  await page.keyboard.press('Enter');
  return page;
}

export async function service({ browser, check, audit, shot, HOSTILE }) {
  const service = await Service.open();
  try {
    const project = await service.project('Shop');
    await service.call('POST', `/projects/${project}/docs`, { title: 'Refunds', category: 'RULES', content: '# Refunds\n\nA refund is paid within 14 days.\n' });
    const chat = (message) => service.call('POST', '/chat', { project_id: project, message, tools: [TICKET] });
    const propose = (content) => service.call('POST', `/projects/${project}/memory`, {
      type: 'rule', content, evidence: [{ kind: 'message', id: 'm-1', quote: `we said: ${content}` }],
    });
    await chat('Create a ticket for the late order 7');
    await propose('Prices are kept in cents');
    await propose(HOSTILE);
    const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
    const problems = [];
    context.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    context.on('weberror', (error) => problems.push(String(error.error())));

    await check('service: a wrong key is refused in words, and the page keeps no cookie', async () => {
      const page = await enter(context, service, 'wrong');
      await page.getByRole('alert').waitFor();
      await audit(page, 'service, sign in');
      assert.deepEqual(await context.cookies(), []);
      assert.ok(await page.getByLabel('Key of the service').isVisible());
      problems.length = 0; // The refused request.
      await page.close();
    });

    const page = await enter(context, service, await service.key());
    const tab = (name) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await check('service: what waits is shown with its evidence, as text', async () => {
      await page.getByRole('heading', { name: 'Tool calls: 1' }).waitFor();
      await page.getByText('Order 7 is late').waitFor();
      await page.getByText('we said: Prices are kept in cents').waitFor();
      const text = await page.locator('#content').innerText();
      assert.ok(text.includes('<script>window.hacked=1</script>'), text);
      assert.ok(!text.includes('\u202e') && !text.includes('\u001b'));
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      await audit(page, 'service, waiting');
      await shot('service-waiting', page);
    });
    await check('service: a call is approved and a proposal rejected by keyboard alone', async () => {
      await page.locator('h1').click();
      await page.keyboard.press('j');
      await page.keyboard.press('a');
      await page.getByRole('heading', { name: 'Tool calls: 0' }).waitFor();
      const calls = await service.call('GET', `/tool_calls?project_id=${project}`);
      const tickets = calls.items.filter((one) => one.name === TICKET.name);
      assert.deepEqual(tickets.map((one) => [one.status, one.decided_by]), [['approved', 'admin']]);
      const hostile = page.locator('.card', { hasText: 'window.hacked' }).locator('[data-row]');
      await hostile.focus();
      await page.keyboard.press('x');
      await page.getByRole('heading', { name: 'Proposed memory: 1' }).waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('heading', { name: 'Proposed memory: 0' }).waitFor();
      const items = await service.call('GET', `/projects/${project}/memory`);
      assert.ok(items.items.some((one) => one.content === 'Prices are kept in cents' && one.status === 'accepted'), JSON.stringify(items));
    });
    await check('service: what comes later appears by itself', async () => {
      await page.locator('h1').click();
      await propose('Ship on Mondays');
      await page.getByText('we said: Ship on Mondays').waitFor({ timeout: 15_000 });
    });
    await check('service: memory, documents, threads and the project are shown and accessible', async () => {
      for (const [name, wanted] of [['Memory', 'Prices are kept in cents'], ['Documents', 'Refunds'], ['Threads', 'Create a ticket'], ['Project', 'approved']]) {
        await tab(name);
        await page.locator('#content').getByText(wanted).first().waitFor();
        await audit(page, `service, ${name}`);
        await shot(`service-${name.toLowerCase()}`, page);
      }
      await tab('Threads');
      await page.getByText('Messages', { exact: true }).first().click();
      await page.locator('#content pre').first().waitFor();
      await page.keyboard.press('1');
      await page.getByRole('heading', { name: 'Waiting for a yes' }).waitFor();
    });
    await check('service: a reader sees it and decides nothing', async () => {
      const reader = await enter(context, service, await service.createKey('reading', 'reader'));
      await reader.getByText('Deciding needs a key with the role approver or admin.').first().waitFor();
      assert.equal(await reader.getByRole('button', { name: 'Approve' }).count(), 0);
      await reader.getByRole('button', { name: 'Sign out' }).click();
      await reader.getByLabel('Key of the service').waitFor();
      assert.equal(await reader.evaluate(() => sessionStorage.length), 0);
      await reader.close();
    });
    await check('service: dark and narrow', async () => {
      for (const [what, options] of [['dark', { colorScheme: 'dark' }], ['narrow', { viewport: { width: 375, height: 740 } }]]) {
        const other = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options });
        const one = await enter(other, service, await service.key());
        await one.getByText('Ship on Mondays').first().waitFor();
        const wide = await one.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= one.viewportSize().width, `${wide} px wide`);
        await audit(one, `service, ${what}`);
        await shot(`service-${what}`, one);
        await other.close();
      }
    });
    await check('service: a page of another origin gets nothing, even with the key', async () => {
      const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html><p>evil'));
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
      const evil = await browser.newContext();
      const one = await evil.newPage();
      await one.goto(`http://127.0.0.1:${server.address().port}/`);
      const read = await one.evaluate(async ([url, key]) => {
        const answer = await fetch(`${url}/projects`, { headers: { 'X-AGENT-KEY': key } }).catch(() => null);
        const frame = document.createElement('iframe');
        frame.src = `${url}/ui`;
        document.body.append(frame);
        await new Promise((resolve) => (frame.onload = resolve));
        let shown = 'closed';
        try { shown = frame.contentDocument ? 'open' : 'closed'; } catch { /* closed */ }
        return [answer && answer.status, shown];
      }, [service.url, await service.key()]);
      assert.deepEqual(read, [null, 'closed']);
      await evil.close();
      server.close();
    });
    await check('service: nothing was blocked and nothing failed', async () => assert.deepEqual(problems, []));
    await context.close();
  } finally {
    await service.close();
  }
}
