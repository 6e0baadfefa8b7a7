// PostgreSQL, a real n8n with the workflow of docs/n8n, and a server that plays the team's chat and its tools, in a temporary directory.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, mkdir, readFile, writeFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
const bin = process.env.GROV_BIN_DIR ?? path.join(root, 'target/debug');
const n8n = path.join(root, '.tools/n8n');

/// Starts a program and resolves with what `wanted` matches in its output.
function start(program, args, options, wanted) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  const ready = new Promise((resolve, reject) => {
    let text = '';
    const read = (data) => {
      text = (text + data).slice(-100_000);
      const found = text.match(wanted);
      if (found) resolve(found[1] ?? found[0]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`${program} ended with ${code}: ${text.slice(-4000)}`)));
    child.on('error', reject);
  });
  // It may end later, when nobody waits for this any more.
  ready.catch(() => {});
  return { child, ready, ended: new Promise((resolve) => child.on('exit', resolve)) };
}

/// Runs a program to its end and returns its output.
async function run(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let [out, all] = ['', ''];
  child.stdout.on('data', (data) => { out += data; all += data; });
  child.stderr.on('data', (data) => { all += data; });
  const code = await new Promise((resolve, reject) => { child.on('exit', resolve); child.on('error', reject); });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${all.slice(-4000)}`);
  return out;
}

/// Waits until `look` returns something, at most a minute.
export async function eventually(what, look) {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`it did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/// The team's chat and its tools: keeps what it receives, and refuses the tool `ops.fail`.
class Team {
  asked = [];
  runs = [];

  async listen() {
    this.server = createServer(async (request, response) => {
      let text = '';
      for await (const piece of request) text += piece;
      const body = JSON.parse(text);
      response.setHeader('content-type', 'application/json');
      if (request.url === '/chat') {
        this.asked.push(body);
        response.end('{}');
      } else if (request.url === '/tools/ops.fail') {
        response.statusCode = 500;
        response.end('{"message": "no such host"}');
      } else {
        this.runs.push(body);
        response.end(JSON.stringify({ ran: body.name, with: body.arguments }));
      }
    });
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }
}

export class Stage {
  static async open() {
    const stage = new Stage();
    try {
      await stage.#open();
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  async #open() {
    this.folder = await mkdtemp(path.join(tmpdir(), 'grov-n8n-'));
    await mkdir(path.join(this.folder, 'home'));
    this.team = new Team();
    await this.team.listen();
    this.postgres = start(path.join(root, 'scripts/postgres/serve'), [], {}, /^postgresql:\/\/\S+/m);
    const database = await this.postgres.ready;
    this.port = await freePort();
    this.url = `http://127.0.0.1:${this.port}`;

    this.agentHome = path.join(this.folder, 'grov');
    this.agentEnv = {
      PATH: process.env.PATH,
      HOME: path.join(this.folder, 'home'),
      AGENT_API_KEY: 'test-admin-key',
      DATABASE_URL: database,
      TOOL_WEBHOOK_URL: `${this.url}/webhook/grov-tools`,
    };
    const flags = ['--port', '0', '--home', this.agentHome];
    this.agent = start(path.join(bin, 'grov-agentd'), flags, { env: this.agentEnv }, /listening on (http:\/\/127\.0\.0\.1:\d+)/);
    this.service = await this.agent.ready;
    const project = await this.call('POST', '/projects', { name: 'Shop', role_statement: 'You help the team of a shop.' });
    this.project = project.id;
    const words = ['key', 'create', 'n8n', '--role', 'approver', '--project', this.project, '--home', this.agentHome];
    const key = (await run(path.join(bin, 'grov-agentd'), words, { env: this.agentEnv })).trim();

    // As in compose.yaml, but with a socket instead of a network, and without n8n's calls home.
    this.n8nEnv = {
      PATH: process.env.PATH,
      HOME: path.join(this.folder, 'home'),
      N8N_USER_FOLDER: path.join(this.folder, 'home'),
      LANG: 'C.UTF-8',
      DB_TYPE: 'postgresdb',
      DB_POSTGRESDB_HOST: new URL(database).searchParams.get('host'),
      DB_POSTGRESDB_USER: 'postgres',
      DB_POSTGRESDB_DATABASE: 'postgres',
      N8N_ENCRYPTION_KEY: 'throw-away-test-key',
      N8N_LISTEN_ADDRESS: '127.0.0.1',
      N8N_HOST: '127.0.0.1',
      N8N_PORT: String(this.port),
      WEBHOOK_URL: `${this.url}/`,
      N8N_SECURE_COOKIE: 'false',
      N8N_RUNNERS_BROKER_PORT: String(await freePort()),
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
      N8N_PERSONALIZATION_ENABLED: 'false',
      N8N_HIRING_BANNER_ENABLED: 'false',
    };
    const credential = { id: 'grovAgentKey0001', name: 'Grov agent key', type: 'httpHeaderAuth', data: { name: 'X-AGENT-KEY', value: key } };
    const credentials = path.join(this.folder, 'credentials.json');
    await writeFile(credentials, JSON.stringify([credential]), { mode: 0o600 });
    await this.n8n('import:credentials', `--input=${credentials}`);
    // The file of the guide, with the addresses of this test in its node `Settings`.
    const workflow = JSON.parse(await readFile(path.join(root, 'docs/n8n/grov-tools.json'), 'utf8'));
    const settings = workflow.nodes.find((node) => node.name === 'Settings').parameters.assignments.assignments;
    const here = { service: this.service, approvals: `${this.team.url}/chat`, tools: `${this.team.url}/tools` };
    for (const one of settings) one.value = here[one.name] ?? one.value;
    this.workflow = workflow;
    const file = path.join(this.folder, 'workflow.json');
    await writeFile(file, JSON.stringify(workflow));
    await this.n8n('import:workflow', `--input=${file}`);
    await this.n8n('publish:workflow', `--id=${workflow.id}`);
    await this.startN8n();
  }

  /// Runs a command of n8n.
  n8n(...words) {
    return run(path.join(n8n, 'node'), [path.join(n8n, 'node_modules/n8n/bin/n8n'), ...words], { env: this.n8nEnv });
  }

  /// Starts n8n and waits until it has its webhooks.
  async startN8n() {
    const program = [path.join(n8n, 'node_modules/n8n/bin/n8n'), 'start'];
    this.automation = start(path.join(n8n, 'node'), program, { env: this.n8nEnv }, /Finished building workflow dependency index/);
    await this.automation.ready;
    // It answers 404 until they are registered: a GET is no event.
    await eventually('n8n has its webhooks', async () => {
      const answer = await fetch(`${this.url}/webhook/grov-tools`).catch(() => null);
      return answer !== null && (await answer.text()).includes('not registered for GET requests');
    });
  }

  /// Kills n8n, as in a crash.
  async killN8n() {
    this.automation.child.kill('SIGKILL');
    await this.automation.ended;
  }

  /// Calls the agent service with the admin key.
  async call(method, target, body) {
    const headers = { 'X-AGENT-KEY': 'test-admin-key', 'Content-Type': 'application/json' };
    const answer = await fetch(this.service + target, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /// Lets the agent request a call of a tool, and returns it.
  async requests(name, approval, service = 'api') {
    const tool = {
      name, description: 'Restart a service', requires_approval: approval, risk: 'low',
      parameters: { service: { type: 'string', required: true } },
    };
    const body = { project_id: this.project, message: `${name} service="${service}"`, tools: [tool] };
    const answer = await this.call('POST', '/chat', body);
    const [call] = answer.response_json.tool_calls ?? [];
    if (!call) throw new Error(`no call: ${JSON.stringify(answer)}`);
    return call;
  }

  /// Waits until a call has a state, and returns it.
  reaches(call, status) {
    return eventually(`the call is ${status}`, async () => {
      const now = await this.call('GET', `/tool_calls/${call.id}`);
      return now.status === status && now;
    });
  }

  /// The address of the form at which a person decides about a call, as the chat received it, once n8n shows it.
  async form(call) {
    const asked = await eventually('the chat is asked', () => this.team.asked.find((one) => one.tool_call.id === call.id));
    // While n8n writes down that it waits, it refuses requests or lets them hang.
    await eventually('the form is there', async () => {
      const answer = await fetch(asked.decide_url, { signal: AbortSignal.timeout(1000) }).catch(() => null);
      return answer?.ok;
    });
    return asked.decide_url;
  }

  async close() {
    for (const one of [this.automation, this.agent]) one?.child.kill('SIGKILL');
    await this.automation?.ended;
    this.postgres?.child.stdin.end();
    await this.postgres?.ended;
    this.team?.server?.close();
    this.team?.server?.closeAllConnections();
    if (this.folder) await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
