// The demo project: a small shop on which two agents work, made by commands of the program and by what clients send to hooks.
//
// Start with `makeDemo`. Tests of the page and the pictures of the documentation use it, so the pictures show real data.
// Run as `node demo.mjs`, it serves the project until Ctrl-C.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Agents } from "./agents.mjs";
import { Machine, SESSIONS } from "./machine.mjs";

const FILES = {
  "README.md": "# Shop\n\nSells books. `src/pool.py` holds the connections, `src/orders.py` the orders.\n",
  "src/pool.py": `"""Connections to the database."""
MAX_SOCKETS = 4
TIMEOUT = 30


def connect(host):
    """Opens a connection from the pool."""
    return (host, MAX_SOCKETS)


def close(connection):
    """Returns a connection to the pool."""
    return connection is not None
`,
  "src/orders.py": `"""Orders of customers."""
from src.pool import connect

RETRIES = 3


def place(order, host="db"):
    """Stores an order, and returns its number."""
    connection = connect(host)
    return len(order) + connection[1]


def total(order):
    """Returns the price of an order in cents."""
    return sum(item["cents"] * item["count"] for item in order)
`,
  "tests/test_pool.py": `from src.pool import connect


def test_connect():
    assert connect("db") == ("db", 4)
`,
};

// Every call of a plan waits for a person.
const ASKING = `// callosum-constitution: format 1, version 1
@id("ask") @ask("it files a task") permit (principal, action, resource);
`;

// A command that an agent is about to run, and what came of it.
function command(machine, client, line, output) {
  const fields = { tool_name: "Bash", tool_input: { command: line }, tool_use_id: `call-${line.length}`, permission_mode: "default" };
  machine.hook(client, "PreToolUse", fields);
  if (output === undefined) return;
  const failed = output.startsWith("Error");
  const end = failed && client === "claude" ? { error: `Exit code 1\n${output}` }
    : client === "codex" ? { tool_response: output } : { tool_response: { stdout: output, stderr: "", interrupted: false } };
  machine.hook(client, failed && client === "claude" ? "PostToolUseFailure" : "PostToolUse", { ...fields, ...end });
}

// Writes what clients keep of their sessions, from which the context budgets are read; returns the file of Claude Code.
function transcripts(machine) {
  const write = (path, lines) => {
    const file = join(machine.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return file;
  };
  const counted = (tokens) => ({ input_tokens: tokens - 420, cached_input_tokens: 0, output_tokens: 420, total_tokens: tokens });
  write(`.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${SESSIONS.codex}.jsonl`, [
    { type: "session_meta", payload: { id: SESSIONS.codex, cwd: machine.project } },
    ...[11_000, 171_000].map((tokens) => ({
      type: "event_msg",
      payload: { type: "token_count", info: { total_token_usage: counted(tokens), last_token_usage: counted(tokens), model_context_window: 258_400 } },
    })),
  ]);
  return write(`.claude/projects/-shop/${SESSIONS.claude}.jsonl`, [
    { type: "mode", cwd: machine.project },
    ...[18_000, 64_000, 121_000].map((tokens) => ({
      type: "assistant", message: { model: "claude-sonnet-4-5", usage: { input_tokens: tokens, output_tokens: 420 } },
    })),
  ]);
}

function sessions(machine) {
  machine.agents = new Agents(machine);
  machine.agents.start("claude", "claude-code/working-long-tool");
  machine.agents.start("codex", "codex/dialog-shell");
  const path = transcripts(machine);
  machine.hook("claude", "SessionStart", { source: "startup", transcript_path: path });
  machine.hook("codex", "SessionStart", { source: "startup", model: "gpt-5.5" });
  machine.hook("claude", "UserPromptSubmit", { prompt: "Make the pool survive a restart of the database", transcript_path: path });
  machine.hook("codex", "UserPromptSubmit", { prompt: "Claim your task and work on it" });
}

function memory(machine) {
  machine.run(["bead", "create", "Survive a restart of the database", "--id", "bd-restart", "--priority", "1"]);
  machine.run(["bead", "create", "Measure the pool under load", "--id", "bd-load", "--add-dep", "bd-restart"]);
  machine.run(["bead", "create", "Show totals in euros", "--id", "bd-euro", "--type", "feature", "--priority", "3"]);
  machine.run(["bead", "update", "bd-restart", "--status", "in_progress", "--current", "--next", "Reconnect after an error"]);
  machine.run(["session", "decide", "Keep one pool of four sockets", "--reason", "the database allows four",
    "--cite", "src/pool.py:2", "--as", "claude"]);
  machine.run(["session", "decide", "Retry an order three times", "--reason", "a restart takes two seconds",
    "--cite", "src/orders.py:4", "--cite", "src/orders.py:7", "--as", "codex"]);
  machine.run(["session", "decide", "Prices stay in cents", "--source", "user"]);
}

function mesh(machine) {
  const task = (text, ...more) => machine.run(["mesh", "task", "add", text, "--as", "claude", ...more]).trim();
  task("Test the limit of sockets", "--to", "codex", "-p", "1", "--id", "test-limit");
  task("Review src/orders.py for lost orders", "--to", "claude", "-p", "2", "--id", "review-orders");
  task("Measure the pool under load", "--to", "codex", "--add-dep", "test-limit", "--id", "measure-pool");
  task("Describe the pool in README.md", "-p", "7", "--id", "describe-pool");
  task("Rename total to price", "--id", "rename-total");
  task("Count the callers of connect", "--to", "codex", "--id", "count-callers");
  machine.run(["mesh", "task", "claim", "count-callers", "--as", "codex", "--session", SESSIONS.codex]);
  machine.run(["mesh", "task", "done", "count-callers", "--as", "codex", "--result", "2 callers: src/orders.py:9, tests/test_pool.py:5"]);
  machine.run(["mesh", "task", "claim", "test-limit", "--as", "codex", "--session", SESSIONS.codex]);
  machine.run(["mesh", "task", "cancel", "rename-total", "--as", "claude"]);
  const message = (to, text, ...more) => machine.run(["mesh", "message", "send", to, text, ...more], { exit: null });
  message("codex", "The pool opens again after an error now. Do your tests restart the database?", "--as", "claude", "--id", "m-question");
  message("claude", "Yes: test_restart kills it twice. It needs TIMEOUT below 40.", "--as", "codex", "--reply-to", "m-question", "--id", "m-answer");
  message("codex", "Then TIMEOUT stays 30.", "--as", "claude", "--reply-to", "m-answer", "--id", "m-agreed");
  message("gemni", "Can you review the retries?", "--as", "claude", "--id", "m-dead");
  machine.run(["mesh", "discovery", "share", "connect() keeps a dead socket for 30 seconds (src/pool.py:3)", "--as", "codex"]);
  machine.run(["mesh", "discovery", "share", "The tests run in 0.4 s without the database", "--as", "claude"]);
  machine.run(["mesh", "lease", "take", "src/pool.py", "--reason", "reconnect after an error", "--as", "claude", "--session", SESSIONS.claude]);
}

function guard(machine) {
  machine.write("src/pool.py", FILES["src/pool.py"].replace("TIMEOUT = 30", "TIMEOUT = 30\nRECONNECT = True"));
  command(machine, "claude", "ls src", "orders.py\npool.py");
  command(machine, "claude", "git reset --hard");
  command(machine, "claude", "git stash list", "");
  command(machine, "codex", "git push --force origin main");
  command(machine, "claude", "npm publish");
  command(machine, "codex", "python3 -m pytest -q", "3 passed in 0.41s");
  machine.run(["guard", "allow", "git branch -D spike", "--for", "2h"]);
}

function snapshots(machine) {
  machine.run(["snapshot", "create", "before the reconnect"]);
  machine.write("src/orders.py", FILES["src/orders.py"].replace("RETRIES = 3", "RETRIES = 3\nPAUSE = 2"));
  machine.run(["snapshot", "create", "with the pause"]);
}

function errors(machine) {
  machine.run(["watch", "--as", "codex", "--", "python3", "-c", "import psycopg_pool_of_the_shop"], { exit: null });
  machine.run(["watch", "--as", "claude", "--", "python3", "-c", "import psycopg_pool_of_the_shop"], { exit: null });
  const { errors: found } = machine.json(["recall", "list"]);
  machine.run(["recall", "fix", found[0].error_signature, "--run", "uv add psycopg-pool", "--note", "it is not in requirements.txt"]);
}

function ledger(machine) {
  machine.run(["scan"]);
  machine.run(["deps"]);
  machine.run(["delegate", "--kind", "tests", "Which tests cover the pool?"]);
}

function plan(machine) {
  const file = join(machine.home, "constitution.cedar");
  writeFileSync(file, ASKING);
  machine.run(["constitution", "sign", file]);
  machine.run(["plan", "run", "-e", '(defplan total (prices) (reduce + 0 prices))', "--input", '{"prices": [1250, 899]}']);
  const source = '(defplan publish () (step :review (:task (call :task.add {:prompt "Review the release notes"}))))';
  machine.run(["plan", "run", "-e", source], { exit: 5 });
}

// Makes the project and its history; starts no daemon.
export function makeDemo(machine = new Machine("shop")) {
  for (const [path, text] of Object.entries(FILES)) machine.write(path, text);
  machine.git("init", "--quiet", "--initial-branch=main");
  machine.git("add", "--all");
  machine.git("commit", "--quiet", "--message=Add the shop");
  machine.run(["init", "--ledger", "--sessions", "--yes"]);
  for (const part of [ledger, sessions, memory, mesh, snapshots, guard, errors, plan]) part(machine);
  machine.run(["session", "handoff", "--force", "--to", "codex", "--reason", "the reconnect works; its test is missing"]);
  return machine;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const machine = makeDemo();
  machine.serve();
  console.log(machine.address);
  const end = () => { machine.remove(); process.exit(); };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
  setInterval(() => {}, 1000);
}
