// Makes the pictures of the documentation from the demo project: `node pictures.mjs FOLDER`.
//
// The page by Chromium, as PNG; the terminal as animated SVG. `cargo xtask pictures` builds the program and runs this.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { open, quit } from "./chromium.mjs";
import { makeDemo } from "./demo.mjs";
import { recorded } from "./recording.mjs";

// Views, the height of each picture, and whether it is dark.
const PAGES = [
  { view: "now", height: 780 },
  { view: "tasks", height: 760 },
  { view: "memory", height: 860 },
  { view: "guard", height: 760, dark: true },
];

const COMMANDS = [
  { line: "callosum guard explain -- 'git reset --hard'", seconds: 3 },
  { line: 'callosum session decide "Reconnect after two seconds" --cite src/pool.py:3', seconds: 2.5, clear: true },
  { line: 'callosum mesh task add "Test the reconnect" --as claude --to codex --id test-reconnect', seconds: 1.5 },
  { line: "callosum mesh task claim --as codex", seconds: 2.5 },
  { line: "callosum open --print", seconds: 4 },
];

// Shows the temporary folder as a home, and the port as the usual one.
const tidy = (machine, text) => text.replaceAll(machine.folder, "/home/ana").replaceAll(`127.0.0.1:${machine.ports.page}`, "127.0.0.1:8421");

// Largest picture, in bytes.
const LARGEST = 150_000;

const folder = process.argv[2];
if (!folder) throw new Error("usage: node pictures.mjs FOLDER");
mkdirSync(folder, { recursive: true });
const machine = makeDemo();
let failed = 0;
function store(name, content) {
  writeFileSync(join(folder, name), content);
  console.log(`${name}: ${content.length} bytes`);
  if (content.length > LARGEST) {
    console.error(`${name} is larger than ${LARGEST} bytes`);
    failed += 1;
  }
}
try {
  machine.serve();
  for (const { view, height, dark } of PAGES) {
    const tab = await open(machine.view(view), { dark, height });
    await tab.live();
    await tab.page.waitForTimeout(300);
    await tab.page.evaluate((folder) => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        if (texts.currentNode.nodeValue.includes(folder)) texts.currentNode.nodeValue = texts.currentNode.nodeValue.replaceAll(folder, "/home/ana");
      }
    }, machine.folder);
    store(`page-${view}.png`, await tab.page.screenshot({ animations: "disabled" }));
    await tab.close();
  }
  const label = "Callosum in a terminal: the guard explains a block, a decision cites a line, an agent claims a task, the page opens";
  store("terminal.svg", Buffer.from(tidy(machine, await recorded(machine, COMMANDS, label))));
} finally {
  await quit();
  machine.remove();
}
process.exitCode = failed > 0 ? 1 : 0;
