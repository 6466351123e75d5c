// The demo project that tests share: made once, served by one daemon, removed at the end.

import { makeDemo } from "./demo.mjs";

let machine;

export function demo() {
  if (!machine) {
    const began = Date.now();
    machine = makeDemo();
    machine.serve();
    console.log(`# the demo project took ${((Date.now() - began) / 1000).toFixed(1)} s`);
  }
  return machine;
}

export function removeDemo() {
  machine?.remove();
  machine = undefined;
}

// The views, in the order of the menu: their keys, and something that each shows of the demo project.
export const VIEWS = [
  { name: "now", title: "Now", key: "n", shows: ["codex", "claude", "publish", "git reset --hard"] },
  { name: "tasks", title: "Tasks", key: "t", shows: ["Test the limit of sockets", "Describe the pool in README.md", "Count the callers of connect"] },
  { name: "conversation", title: "Conversation", key: "c", shows: ["Then TIMEOUT stays 30.", "Can you review the retries?", "The tests run in 0.4 s"] },
  { name: "memory", title: "Memory", key: "m", shows: ["Keep one pool of four sockets", "src/pool.py:2", "bd-restart", "Prices stay in cents"] },
  { name: "ledger", title: "Ledger", key: "l", shows: ["_0001", "_0003", "scout", "Which tests cover the pool?"] },
  { name: "plans", title: "Plans", key: "p", shows: ["publish", "waiting", "total", "completed"] },
  { name: "guard", title: "Guard", key: "u", shows: ["git.reset-hard", "git push --force origin main", "npm publish", "git branch -D spike"] },
  { name: "snapshots", title: "Snapshots", key: "s", shows: ["before the reconnect", "with the pause"] },
  { name: "interventions", title: "Interventions", key: "i", shows: ["ModuleNotFoundError", "psycopg_pool_of_the_shop"] },
  { name: "cost", title: "Cost", key: "o", shows: ["scout"] },
  { name: "health", title: "Health", key: "h", shows: ["Daemon", "Checks"] },
];
