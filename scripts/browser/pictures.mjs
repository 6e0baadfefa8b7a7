// The pictures of the README: a session of the real client, as the dashboard shows it. They go to docs/pictures.
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root, Scene } from './scene.mjs';

const tools = path.join(root, '.tools/browser');
const { chromium } = createRequire(path.join(tools, 'package.json'))('playwright-core');
const pictures = path.join(root, 'docs/pictures');
await mkdir(pictures, { recursive: true });

const text = (value) => ({ type: 'text', text: value });
const call = (name, input) => ({ type: 'tool_use', name, input });
const scenario = {
  default: 'work',
  scenarios: {
    work: {
      title: 'Cart total',
      steps: [
        { blocks: [text('Looking at the project.'), call('Bash', { command: 'ls', description: 'List files' })] },
        { blocks: [text('Writing the module.'), call('Write', { file_path: '{cwd}/src/cart.js', content: 'export const total = (items) => items.reduce((sum, item) => sum + item.cents * item.count, 0);\n' })] },
        { blocks: [text('I decided to keep prices in cents, because floats round.'), call('Write', { file_path: '{cwd}/src/cart.test.js', content: 'import { total } from "./cart.js";\n' })] },
        { blocks: [text('Publishing it.'), call('Bash', { command: 'git push --force origin main', description: 'Push' })] },
        { blocks: [text('Running the tests.'), call('Bash', { command: 'node --test src', description: 'Test' })] },
        { blocks: [text('The cart total is done.')] },
      ],
    },
  },
};

const scene = await Scene.open(scenario);
const browser = await chromium.launch({ executablePath: path.join(tools, 'chromium'), args: ['--no-sandbox'] });
try {
  await scene.client('Add the total of the cart to src/cart.js, with a test. Do not touch the database.');
  await scene.client('Show the cart total with two decimals on the checkout page.');
  const context = await browser.newContext({ viewport: { width: 1000, height: 640 } });
  const page = await context.newPage();
  await page.goto(await scene.link());
  const base = `${scene.url}/_grov/ui`;
  await page.waitForURL(base);
  await page.locator('#live.on').waitFor();
  const shot = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`) });
  await shot('now');
  await page.locator('.card-title').last().click();
  await page.locator('ol.line > li').first().waitFor();
  await shot('session');
  await page.goto(`${base}/drift`);
  await shot('drift');
} finally {
  await browser.close();
  await scene.close();
}
