// Hostile text in every field: HTML, quotes, marks of writing direction, control characters, a megabyte. It is shown, and
// never runs or breaks the layout.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { open, overflow } from "./chromium.mjs";
import { VIEWS } from "./demo_machine.mjs";
import { Machine } from "./machine.mjs";

const HTML = `"><img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>'><svg/onload=globalThis.hit=1>`;
const MARKDOWN = `[link](javascript:globalThis.hit=1) ![](http://evil.example/x.png) <a href="javascript:globalThis.hit=1">a</a>`;
const MARKS = "\u202egnp.exe\u2066 \u200f\u001b[31mred\u001b[0m\u001b]0;title\u0007\u0000\u0008 \u{e0041}".replace("\u0000", "");
const WORD = "x".repeat(5000);
const TEMPLATE = `{{ 7919 * 7907 }} {% include "x" %} <!--form--> </textarea></title></style>`;
const ALL = [HTML, MARKDOWN, MARKS, WORD, TEMPLATE];
const LARGE = `${HTML} ${"large ".repeat(170_000)}`;

// What the views read from their addresses.
const KEYS = {
  tasks: ["id", "state"], conversation: ["agent"], memory: ["cite", "find"], ledger: ["id", "text", "executor", "since", "a", "b", "compare"],
  plans: ["run"], guard: ["check", "verdict", "rule", "agent", "since"], snapshots: ["id", "undo"], interventions: ["id", "like"], cost: ["since"],
};

// A folder may have any name but `/` and a zero.
const FOLDER = `"><img src=x onerror=globalThis.hit=1>`;

function hostile() {
  const machine = new Machine(FOLDER);
  // Some are refused, and that is right too.
  const run = (args, input) => machine.run(args, { exit: null, input });
  machine.write("src/a.py", `NAME = '${HTML}'\n# ${MARKDOWN}\n# ${MARKS}\nLONG = "${WORD}"\n`);
  machine.write(`src/${FOLDER}.py`, "A = 1\n");
  machine.git("init", "--quiet");
  machine.git("add", "--all");
  machine.git("commit", "--quiet", `--message=${HTML}`);
  run(["init", "--ledger", "--sessions", "--yes"]);
  run(["bead", "create", HTML, "--id", "bd-x"]);
  run(["bead", "update", "bd-x", "--status", "in_progress", "--current", "--next", HTML, "--assignee", HTML]);
  for (const [at, text] of [...ALL, LARGE].entries()) {
    run(["mesh", "task", "add", "-", "--as", "claude", "--id", `task-${at}`], text);
    run(["mesh", "task", "add", "short", "--to", "codex", "--category", text.slice(0, 60), "--output-file", text.slice(0, 60)]);
    run(["mesh", "message", "send", "codex", "-", "--as", "claude"], text);
    run(["mesh", "message", "send", text.slice(0, 60), "to no one", "--as", "claude"]);
    run(["mesh", "discovery", "share", "-", "--as", "codex"], text);
    if (text === LARGE) continue;
    run(["session", "decide", text, "--reason", text, "--cite", "src/a.py:1", "--title", text.slice(0, 80)]);
    run(["snapshot", "create", text]);
    run(["delegate", "--kind", "scan", text]);
    run(["plan", "run", "-e", `(str ${JSON.stringify(text.replace(/[^\x20-\uffff]/g, ""))})`]);
    machine.hook("claude", "PreToolUse", { tool_name: "Bash", tool_input: { command: `git reset --hard # ${text}` }, tool_use_id: `h-${at}` });
    machine.hook("codex", "SessionStart", { session_id: text.slice(0, 100), source: "startup", model: text });
    machine.hook("codex", "UserPromptSubmit", { session_id: text.slice(0, 100), prompt: text });
    run(["watch", "--as", "codex", "--", "python3", "-c", `raise ValueError(${JSON.stringify(text.replace(/[^\x20-\uffff]/g, ""))})`]);
    run(["guard", "allow", `git tag ${text.slice(0, 100)}`, "--for", "2h"]);
  }
  run(["mesh", "task", "claim", "task-0", "--as", "codex"]);
  run(["mesh", "task", "done", "task-0", "--as", "codex", "--result", "-"], HTML + MARKS);
  run(["session", "handoff", "--force", "--to", "codex", "--reason", HTML]);
  machine.serve();
  return machine;
}

// Fails if a text ran, or became something else than text. A mark of one letter's direction (U+200F) reorders nothing else.
async function isHarmless(page, what) {
  assert.equal(await page.evaluate(() => globalThis.hit), undefined, `${what}: a script ran`);
  const found = await page.evaluate(() => ({
    made: [...document.querySelectorAll("main :is(img, script, iframe, object, embed), main [onerror], main [onload], a[href^='javascript:'], a[href^='data:']")].map((element) => element.outerHTML.slice(0, 200)),
    outside: [...document.querySelectorAll("a[href]")].filter((a) => a.host && a.host !== location.host).map((a) => a.href),
    marks: document.documentElement.textContent.match(/[\u202a-\u202e\u2066-\u2069\u001b\u0007\u0008]/g),
    evaluated: document.documentElement.textContent.includes("62615533"),
  }));
  assert.deepEqual(found.made, [], what);
  assert.deepEqual(found.outside, [], what);
  assert.equal(found.marks, null, what);
  assert.equal(found.evaluated, false, what);
}

describe("hostile text", () => {
  let machine;
  before(() => { machine = hostile(); });
  after(() => machine.remove());

  for (const { name } of VIEWS) {
    test(`${name} shows it as text`, async () => {
      const tab = await open(machine.view(name));
      const { page } = tab;
      await isHarmless(page, name);
      await page.evaluate(() => { for (const part of document.querySelectorAll("#view details")) part.open = true; });
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        assert.deepEqual(await overflow(page), [], `${name} at ${width} px`);
      }
      // Each item's own page as well, a few of each kind.
      const links = await page.locator(`#view a[href*="/${name}?"]`).evaluateAll((all) => [...new Set(all.map((a) => a.href))]);
      for (const link of links.slice(0, 12)) {
        await page.goto(link);
        await isHarmless(page, link);
        assert.deepEqual(await overflow(page), [], link);
      }
      await tab.close();
    });

    test(`${name} takes it in its address`, async () => {
      const keys = [...(KEYS[name] ?? []), "q", "page", "notice"];
      for (const text of [MARKS, "-x", "--yes", "../../etc/passwd", "99999999999999999999"]) {
        const answer = await fetch(`${machine.view(name)}?${new URLSearchParams(keys.map((key) => [key, text]))}`);
        assert.ok(answer.status < 500, `${text}: ${answer.status}`);
      }
      const tab = await open();
      for (const key of keys) {
        const answer = await tab.page.goto(`${machine.view(name)}?${key}=${encodeURIComponent(HTML)}`);
        assert.ok(answer.status() < 500, `${key}: ${answer.status()}`);
        await isHarmless(tab.page, `${name}?${key}`);
      }
      await tab.close();
    });
  }

  test("the name of the folder is text", async () => {
    const tab = await open(machine.view("now"));
    assert.equal(await tab.page.locator(".projects .name").textContent(), FOLDER);
    await tab.page.locator(".projects summary").click();
    await isHarmless(tab.page, "the list of projects");
    await tab.close();
  });

  test("a form takes it, and shows it as text after the live update", async () => {
    const tab = await open(machine.view("tasks"));
    const { page } = tab;
    await tab.live();
    for (const text of [HTML, MARKS, TEMPLATE, LARGE]) {
      const answer = await page.evaluate(async (prompt) => {
        const { send } = await import("/assets/forms.js");
        return send(`${location.pathname}/add`, { prompt });
      }, text);
      assert.equal(answer, text !== LARGE, `${text.slice(0, 40)}: ${await page.locator("#notices").innerText()}`);
      await isHarmless(page, "a form");
      assert.deepEqual(await overflow(page), []);
    }
    await tab.close(/40[09]|413/);
  });
});
