// A machine of its own for a test: a home, a project and a daemon, used by the program's own commands only.
//
// Start with `Machine`. No test of a person's home, ports or browsers is touched: the home is a temporary folder, and the
// daemon listens at ports that the system chooses.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");

// The program: `CALLOSUM` names another one than that of the target folder.
export const PROGRAM = process.env.CALLOSUM
  ?? join(resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target"), "debug/callosum");

// Ids of the sessions, as the clients write them.
export const SESSIONS = { claude: "68e756b2-8f27-44ab-bd6b-c5e8a1853202", codex: "01a1ffcf-20cc-7091-9b4f-7b0ca34d857a" };

// Longest time of a command, in milliseconds.
const PATIENCE = 120_000;

// Ports below those that the system gives to connections, so that none takes a port while the daemon is away.
function ownPorts() {
  const first = 20_000 + 3 * Math.floor(Math.random() * 3_000);
  return { page: first, events: first + 1, bus: first + 2 };
}

export class Machine {
  constructor(name = "shop") {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: run \`cargo build -p callosum --bins\`, or set CALLOSUM`);
    // Links are resolved, as the program prints paths.
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "callosum-page-")));
    this.home = join(this.folder, "home");
    this.state = join(this.home, "state");
    this.project = join(this.folder, name);
    this.port = 0;
    for (const folder of [this.state, this.project]) mkdirSync(folder, { recursive: true });
  }

  // Nothing of the environment of the tests reaches the program.
  environment(more = {}) {
    const git = { name: "Ana", email: "ana@example.com" };
    return {
      PATH: `${dirname(PROGRAM)}:/usr/local/bin:/usr/bin:/bin`, HOME: this.home, CALLOSUM_HOME: this.state,
      CALLOSUM_CONFIG: join(this.home, "config"), CALLOSUM_STATE: "project", CALLOSUM_ASSUME_YES: "1",
      CALLOSUM_MODEL_SERVERS: "off", TMUX_TMPDIR: this.folder, LC_ALL: "C.UTF-8", TZ: "UTC",
      GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: git.name, GIT_AUTHOR_EMAIL: git.email,
      GIT_COMMITTER_NAME: git.name, GIT_COMMITTER_EMAIL: git.email, ...more,
    };
  }

  // Runs a program in the project.
  start(program, args, { input, cwd = this.project, env, exit = 0 } = {}) {
    const options = { cwd, env: this.environment(env), input, timeout: PATIENCE, encoding: "utf8", maxBuffer: 256 << 20 };
    const done = spawnSync(program, args, options);
    // A program may refuse before it has read all of its input.
    if (done.error && done.error.code !== "EPIPE") throw done.error;
    if (exit !== null && done.status !== exit) {
      throw new Error(`${program} ${args.join(" ")}: exit ${done.status}\n${done.stdout}${done.stderr}`);
    }
    return done;
  }

  // Runs a command of the program; returns what it printed.
  run(args, options) {
    return this.start(PROGRAM, args, options).stdout;
  }

  json(args, options) {
    return JSON.parse(this.run([...args, "--json"], options));
  }

  git(...args) {
    return this.start("git", args).stdout;
  }

  // Sends an event of a client's session to the hook, as the client does.
  hook(client, name, fields) {
    const event = { session_id: SESSIONS[client], transcript_path: "/nowhere", cwd: this.project, hook_event_name: name, ...fields };
    if (this.agents?.has(client)) return this.agents.hook(client, name, event);
    return this.start(PROGRAM, ["hook", client, name], { input: JSON.stringify(event), exit: null });
  }

  write(path, text) {
    const file = join(this.project, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  // Starts the daemon. A second start listens at the same ports, as an installed one does.
  serve(env) {
    const at = (port) => `127.0.0.1:${port}`;
    for (let left = 5; ; left--) {
      const ports = this.ports ?? ownPorts();
      const args = ["serve", "--detach", "--metrics", "off", "--rate", "100000"];
      for (const [name, port] of Object.entries(ports)) args.push(`--${name}`, at(port));
      const started = this.start(PROGRAM, args, { env, exit: null });
      if (started.status === 0 && !started.stderr.includes("cannot serve")) break;
      // The ports of another test, some of them or all.
      if (started.status === 0) this.start(PROGRAM, ["serve", "stop"], { env, cwd: this.folder });
      if (this.ports || left === 0) throw new Error(started.stderr);
    }
    this.address = this.run(["open", "--print"], { env }).trim();
    this.base = this.address.replace(/\/now$/, "");
    this.origin = new URL(this.address).origin;
    const { serving } = this.json(["serve", "status"], { env });
    this.pid = serving.pid;
    this.events = serving.events && `http://${serving.events.replace(/^http:\/\/|\/events$/g, "")}`;
    const port = (place) => Number(/:(\d+)/.exec(place.replace(/^\w+:\/\//, ""))[1]);
    this.ports = { page: Number(new URL(this.origin).port), events: port(serving.events), bus: port(serving.bus) };
  }

  view(name) {
    return `${this.base}/${name}`;
  }

  stop() {
    if (this.pid) this.start(PROGRAM, ["serve", "stop"], { cwd: this.folder, exit: null });
    this.pid = undefined;
  }

  // Memory of the daemon that is in use, in MB (Linux). `RssAnon` leaves out the program's own file, which is large in a
  // debug build.
  memory(kind = "VmRSS") {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(new RegExp(`${kind}:\\s+(\\d+) kB`).exec(status)[1]) / 1024;
  }

  remove() {
    const { pid } = this;
    this.agents?.stop();
    this.stop();
    // A process that still ends may write once more.
    for (let tries = 0; tries < 50; tries++) {
      try {
        if (pid && existsSync(`/proc/${pid}`) && tries < 40) throw new Error("the daemon still ends");
        rmSync(this.folder, { recursive: true, force: true });
        return;
      } catch {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      }
    }
  }
}

// Sends bytes to a port of this machine; returns what it answers within two seconds.
export function raw(port, bytes) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
    let answer = "";
    socket.setTimeout(2000, () => socket.destroy());
    socket.on("data", (data) => { answer += data; });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}
