// Programs that pose as coding agents: they show recorded screens of the real clients in tmux, and run hooks as their children.
//
// Start with `Agents`. So panes, states and sessions of the demo project are found as those of real clients are.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { PROGRAM } from "./machine.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const SCREENS = join(HERE, "../../callosum-panes/tests/screens");

export class Agents {
  constructor(machine) {
    this.machine = machine;
    this.folders = new Map();
    this.jobs = 0;
    this.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "sleep 3600");
  }

  tmux(...args) {
    const done = spawnSync("tmux", ["-u", ...args], { env: this.machine.environment(), cwd: this.machine.project, encoding: "utf8" });
    if (done.error || done.status !== 0) throw done.error ?? new Error(`tmux ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  }

  // Starts a client in a pane of its own; `name` is `claude` or `codex`.
  start(name, screen) {
    const folder = join(this.machine.folder, `agent-${name}`);
    mkdirSync(join(folder, "jobs"), { recursive: true });
    this.folders.set(name, folder);
    this.show(name, screen);
    const line = `bash -c 'exec -a ${name} "$@"' - '${process.execPath}' '${HERE}/client.mjs' '${folder}' ${name} '${PROGRAM}'`;
    this.tmux("new-window", "-d", "-c", this.machine.project, line);
  }

  // Shows a recorded screen, such as `codex/dialog-shell`.
  show(name, screen) {
    const file = join(this.folders.get(name), "screen");
    const [, text] = readFileSync(join(SCREENS, `${screen}.screen`), "utf8").split("\n+++\n");
    writeFileSync(`${file}.new`, text.trimEnd());
    renameSync(`${file}.new`, file);
  }

  has(name) {
    return this.folders.has(name);
  }

  // Has a client run its hook for an event; returns what it answers.
  hook(name, event, fields) {
    this.jobs += 1;
    const job = join(this.folders.get(name), "jobs", `${this.jobs}-${event}.json`);
    writeFileSync(`${job}.new`, JSON.stringify(fields));
    renameSync(`${job}.new`, job);
    const answer = job.replace(/json$/, "answer");
    const until = Date.now() + 60_000;
    while (!existsSync(answer)) {
      if (Date.now() > until) throw new Error(`the hook of ${name} for ${event} did not end`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
    return JSON.parse(readFileSync(answer, "utf8"));
  }

  stop() {
    spawnSync("tmux", ["kill-server"], { env: this.machine.environment() });
  }
}
