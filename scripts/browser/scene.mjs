// A simulated API, a daemon with a home of its own, and the real client, all in a temporary directory.
import { spawn, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createServer } from 'node:http';
import { mkdtemp, mkdir, readFile, writeFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const run = promisify(execFile);
export const root = path.resolve(import.meta.dirname, '../..');
const bin = process.env.GROV_BIN_DIR ?? path.join(root, 'target/debug');

/// Starts a program and resolves with the part of its output that `wanted` matches.
function start(program, args, options, wanted) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const ready = new Promise((resolve, reject) => {
    let text = '';
    const read = (data) => {
      text += data;
      const found = text.match(wanted);
      if (found) resolve(found[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`${program} ended with ${code}: ${text}`)));
    child.on('error', reject);
  });
  return { child, ready };
}

export class Scene {
  static async open(scenario) {
    const scene = new Scene();
    scene.folder = await mkdtemp(path.join(tmpdir(), 'grov-browser-'));
    scene.home = path.join(scene.folder, 'grov');
    scene.project = path.join(scene.folder, 'webshop');
    await mkdir(path.join(scene.folder, 'home'), { recursive: true });
    await mkdir(scene.project);
    await run('git', ['init', '-q', scene.project]);
    const file = path.join(scene.folder, 'scenario.json');
    await writeFile(file, JSON.stringify(scenario));
    scene.sim = start(path.join(bin, 'grov-sim'), ['--scenario', file], {}, /(http:\/\/127\.0\.0\.1:\d+)/);
    const upstream = await scene.sim.ready;
    const env = { PATH: process.env.PATH, HOME: path.join(scene.folder, 'home') };
    scene.env = env;
    const flags = ['--port', '0', '--home', scene.home, '--upstream', upstream];
    scene.daemon = start(path.join(bin, 'grov-proxyd'), flags, { env }, /listening on (http:\/\/127\.0\.0\.1:\d+)/);
    scene.url = await scene.daemon.ready;
    return scene;
  }

  /// Runs `grov … --json`.
  async grov(...words) {
    const args = ['--json', '--home', this.home, ...words];
    const options = { env: this.env, cwd: this.project };
    const { stdout } = await run(path.join(bin, 'grov'), args, options).catch((error) => error);
    return JSON.parse(stdout);
  }

  /// A link that signs in.
  async link() {
    return (await this.grov('ui')).url;
  }

  /// Whether the real client is installed.
  static get hasClient() {
    return existsSync(path.join(root, '.tools/client/claude'));
  }

  /// Lets the real client work on a prompt through the daemon.
  client(prompt) {
    const args = ['-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions'];
    const env = {
      ...this.env,
      TERM: 'xterm',
      LANG: 'C.UTF-8',
      IS_SANDBOX: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ANTHROPIC_API_KEY: 'sk-ant-api03-test-0000',
      ANTHROPIC_BASE_URL: this.url,
    };
    return run(path.join(root, '.tools/client/claude'), args, { env, cwd: this.project, timeout: 120_000 });
  }

  async close() {
    for (const one of [this.daemon, this.sim]) one?.child.kill('SIGTERM');
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/// A scripted model, and the agent service with a home of its own.
export class Service {
  static async open() {
    const service = new Service();
    service.folder = await mkdtemp(path.join(tmpdir(), 'grov-service-'));
    const say = {
      decision: 'ACT', message: 'I request a ticket.', citations: [], memory_proposals: [],
      tool_calls: [{ name: 'jira.create_ticket', arguments: { summary: 'Order 7 is late', project: 'SHOP' }, reason: 'the user asked for it' }],
    };
    const body = JSON.stringify({
      choices: [{ message: { role: 'assistant', content: JSON.stringify(say) }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 20 },
    });
    service.model = createServer((request, answer) => {
      request.resume();
      request.on('end', () => answer.setHeader('content-type', 'application/json').end(body));
    });
    await new Promise((resolve) => service.model.listen(0, '127.0.0.1', resolve));
    service.env = {
      PATH: process.env.PATH,
      HOME: service.folder,
      GROV_HOME: path.join(service.folder, 'grov'),
      CHAT_PROVIDER: 'openai',
      CHAT_MODEL: 'scripted',
      CHAT_BASE_URL: `http://127.0.0.1:${service.model.address().port}/v1`,
    };
    service.daemon = start(path.join(bin, 'grov-agentd'), ['--port', '0'], { env: service.env }, /listening on (http:\/\/127\.0\.0\.1:\d+)/);
    service.url = await service.daemon.ready;
    return service;
  }

  /// The admin key.
  async key() {
    return (await readFile(path.join(this.env.GROV_HOME, 'agent-key'), 'utf8')).trim();
  }

  async createKey(name, role) {
    const { stdout } = await run(path.join(bin, 'grov-agentd'), ['key', 'create', name, '--role', role], { env: this.env });
    return stdout.trim();
  }

  async call(method, target, body) {
    const headers = { 'X-AGENT-KEY': await this.key(), 'content-type': 'application/json' };
    const answer = await fetch(this.url + target, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  async project(name) {
    return (await this.call('POST', '/projects', { name, role_statement: 'You help the team of a shop.' })).id;
  }

  async close() {
    this.daemon?.child.kill('SIGTERM');
    this.model?.closeAllConnections();
    this.model?.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
