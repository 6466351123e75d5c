// Writes: a form of each view that has one does what its command does, with scripts and without.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { open } from "./chromium.mjs";
import { demo } from "./demo_machine.mjs";

// Opens what is folded around a form, fills it, and sends it by its button; returns the notice.
async function submit(page, form, fields = {}, button = form.locator("button").first()) {
  const folded = form.locator("xpath=ancestor::details[not(@open)]/summary");
  for (const summary of await folded.all()) await summary.click();
  for (const [name, value] of Object.entries(fields)) {
    const field = form.locator(`[name=${name}]`);
    if (await field.evaluate((field) => field.tagName) === "SELECT") await field.selectOption(value);
    else await field.fill(value);
  }
  await button.click();
  const notice = page.locator("#notices .notice");
  await notice.waitFor();
  const text = await notice.innerText();
  assert.equal(await page.locator("#notices .notice.failed").count(), 0, text);
  return text;
}

const form = (page, action) => page.locator(`#view form[action$="/${action}"]`).first();
const within = (page, text, action) => page.locator("#view [data-item]").filter({ hasText: text }).locator(`form[action$="/${action}"]`).first();

// A plan that waits for a person; returns its run.
function waiting(machine, name) {
  machine.run(["plan", "run", "-e", `(defplan ${name} () (:task (call :task.add {:prompt "by ${name}"})))`], { exit: 5 });
  const { runs } = machine.json(["plan", "list"]);
  return runs.find(({ plan }) => plan === name).run;
}

async function until(check) {
  for (let tries = 0; tries < 100; tries++) {
    if (await check()) return;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error(`did not happen: ${check}`);
}

// Each write: where, what is filled in, and how a command shows that it was done. `mark` makes texts unique.
const WRITES = [
  {
    view: "now", name: "a message to an agent",
    act: (page, mark) => submit(page, form(page, "now/message"), { text: `from Now ${mark}` }),
    shows: (machine, mark) => machine.run(["mesh", "message", "list", "--all", "--json"]).includes(`from Now ${mark}`),
  },
  {
    view: "now", name: "the approval of a call",
    prepare: (machine, mark) => waiting(machine, `approved-${mark}`),
    act: (page, mark) => submit(page, within(page, `by approved-${mark}`, "now/approve")),
    shows: (machine, mark) => until(() => machine.run(["mesh", "task", "list", "--json"]).includes(`by approved-${mark}`)).then(() => true),
  },
  {
    view: "tasks", name: "a new task",
    act: (page, mark) => submit(page, form(page, "tasks/add"), { prompt: `added ${mark}`, to: "codex", priority: "3" }),
    shows: (machine, mark) => machine.json(["mesh", "task", "list"]).tasks
      .some(({ prompt, assigned_to, priority }) => prompt === `added ${mark}` && assigned_to === "codex" && priority === 3),
  },
  {
    view: "tasks", name: "another agent for a task",
    prepare: (machine, mark) => machine.run(["mesh", "task", "add", `moved ${mark}`, "--as", "claude", "--id", `moved-${mark}`]),
    act: (page, mark) => submit(page, within(page, `moved ${mark}`, "tasks/assign"), { to: "codex" }),
    shows: (machine, mark) => machine.json(["mesh", "task", "show", `moved-${mark}`]).assigned_to === "codex",
  },
  {
    view: "tasks", name: "the end of a task",
    prepare: (machine, mark) => machine.run(["mesh", "task", "add", `dropped ${mark}`, "--as", "claude", "--id", `dropped-${mark}`]),
    act: (page, mark) => submit(page, within(page, `dropped ${mark}`, "tasks/cancel"), { reason: "not needed" }),
    shows: (machine, mark) => machine.json(["mesh", "task", "show", `dropped-${mark}`]).status === "cancelled",
  },
  {
    view: "conversation", name: "a message",
    act: (page, mark) => submit(page, form(page, "conversation/send"), { to: "codex", text: `written ${mark}` }),
    shows: (machine, mark) => machine.run(["mesh", "message", "list", "--all", "--json"]).includes(`written ${mark}`),
  },
  {
    view: "conversation", name: "a discovery",
    act: (page, mark) => submit(page, form(page, "conversation/share"), { text: `found ${mark}` }),
    shows: (machine, mark) => machine.run(["mesh", "discovery", "list", "--json"]).includes(`found ${mark}`),
  },
  {
    view: "memory", name: "a decision",
    act: (page, mark) => submit(page, form(page, "memory/decide"), { decision: `decided ${mark}`, reason: "it was tried", places: "src/pool.py:2" }),
    shows: (machine, mark) => machine.run(["session", "recover", "--level", "3"]).includes(`decided ${mark}`),
  },
  {
    view: "memory", name: "a bead",
    act: (page, mark) => submit(page, form(page, "memory/bead-add"), { title: `bead ${mark}` }),
    shows: (machine, mark) => machine.run(["bead", "list"]).includes(`bead ${mark}`),
  },
  {
    view: "ledger", name: "a verification",
    act: (page) => submit(page, form(page, "ledger/verify")),
    shows: (machine) => machine.run(["ledger", "verify"]).includes("sound"),
  },
  {
    view: "plans", name: "the refusal of a call",
    prepare: (machine, mark) => `?run=${waiting(machine, `refused-${mark}`)}`,
    act: (page) => submit(page, form(page, "plans/refuse")),
    shows: (machine, mark) => until(() => {
      const { runs } = machine.json(["plan", "list"]);
      return runs.find(({ plan }) => plan === `refused-${mark}`).standing === "failed";
    }).then(() => true),
  },
  {
    view: "guard", name: "a command that is allowed once",
    prepare: (machine, mark) => void machine.hook("claude", "PreToolUse", { tool_name: "Bash", tool_input: { command: `npm publish --tag ${mark}` }, tool_use_id: mark }),
    act: (page, mark) => submit(page, within(page, `npm publish --tag ${mark}`, "guard/allow")),
    shows: (machine, mark) => machine.run(["guard", "allow", "--list"]).includes(`npm publish --tag ${mark}`),
  },
  {
    view: "guard", name: "a permission that is revoked",
    prepare: (machine, mark) => void machine.run(["guard", "allow", `git tag -d ${mark}`, "--for", "2h"]),
    act: (page, mark) => submit(page, within(page, `git tag -d ${mark}`, "guard/revoke")),
    shows: (machine, mark) => !machine.run(["guard", "allow", "--list"]).includes(`git tag -d ${mark}`),
  },
  {
    view: "snapshots", name: "a snapshot",
    act: (page, mark) => submit(page, form(page, "snapshots/create"), { label: `taken ${mark}` }),
    shows: (machine, mark) => machine.run(["snapshot", "list"]).includes(`taken ${mark}`),
  },
  {
    view: "snapshots", name: "a restore",
    prepare: (machine, mark) => {
      machine.write("notes.txt", `before ${mark}\n`);
      const id = machine.run(["snapshot", "create", `restored ${mark}`]).split("\n")[0].trim();
      machine.write("notes.txt", `after ${mark}\n`);
      return `?id=${id}`;
    },
    act: (page) => submit(page, form(page, "snapshots/restore")),
    shows: (machine, mark) => machine.start("cat", ["notes.txt"]).stdout === `before ${mark}\n`,
  },
  {
    view: "interventions", name: "a fix",
    prepare: (machine) => `?id=${encodeURIComponent(machine.json(["recall", "list"]).errors.at(-1).error_signature)}`,
    act: (page, mark) => submit(page, form(page, "interventions/fix"), { commands: `make fix-${mark}` }),
    shows: (machine, mark) => machine.run(["recall", "show", machine.json(["recall", "list"]).errors.at(-1).error_signature, "--json"]).includes(`fix-${mark}`),
  },
];

describe("writes", () => {
  let machine;
  before(() => { machine = demo(); });

  // `PAGE_VIEWS=plans,guard` chooses views.
  const chosen = process.env.PAGE_VIEWS?.split(",");
  for (const { view, name, prepare, act, shows } of WRITES.filter(({ view }) => !chosen || chosen.includes(view))) {
    for (const scripts of [true, false]) {
      test(`${view}: ${name}${scripts ? "" : ", without scripts"}`, async () => {
        const mark = `${scripts ? "with" : "plain"}${Math.random().toString(36).slice(2, 7)}`;
        const prepared = await prepare?.(machine, mark);
        const query = typeof prepared === "string" && prepared.startsWith("?") ? prepared : "";
        const tab = await open(machine.view(view) + query, { scripts });
        if (scripts) await tab.page.evaluate(() => { globalThis.isSame = true; });
        await act(tab.page, mark);
        assert.ok(await shows(machine, mark), `${view}: ${name} is not there`);
        if (scripts) {
          assert.ok(await tab.page.evaluate(() => globalThis.isSame), "the page was loaded again");
          assert.deepEqual(await tab.findings(), []);
        }
        await tab.close();
      });
    }
  }

  test("a task is dragged onto an agent", async () => {
    machine.run(["mesh", "task", "add", "Dragged", "--as", "claude", "--id", "dragged"]);
    // One card, so that nothing moves between the look for it and the grip: cards off the screen are laid out late.
    const tab = await open(`${machine.view("tasks")}?q=Dragged`);
    const card = tab.page.locator("#view [data-drag]").filter({ hasText: "Dragged" }).first();
    await card.dragTo(tab.page.locator("#view [data-drop][data-fields='to=codex']").first());
    await tab.page.locator("#notices .notice.done").waitFor();
    assert.equal(machine.json(["mesh", "task", "show", "dragged"]).assigned_to, "codex");
    await tab.close();
  });

  test("a question that is answered with no writes nothing", async () => {
    machine.run(["mesh", "task", "add", "Stays", "--as", "claude", "--id", "stays"]);
    const tab = await open(machine.view("tasks"));
    tab.answer = false;
    const cancel = within(tab.page, "Stays", "tasks/cancel");
    for (const summary of await cancel.locator("xpath=ancestor::details[not(@open)]/summary").all()) await summary.click();
    await cancel.locator("button").click();
    await until(() => tab.dialogs.length > 0);
    assert.equal(machine.json(["mesh", "task", "show", "stays"]).status, "pending");
    assert.equal(await tab.page.locator("#notices .notice").count(), 0);
    await tab.close();
  });

  for (const scripts of [true, false]) {
    test(`the back button after a write repeats nothing${scripts ? "" : ", without scripts"}`, async () => {
      const prompt = `Only once ${scripts ? "with" : "without"} scripts`;
      const tab = await open(machine.view("health"), { scripts });
      const { page } = tab;
      await page.goto(machine.view("tasks"));
      await submit(page, form(page, "tasks/add"), { prompt });
      await page.goto(machine.view("guard"));
      await page.goBack();
      await page.locator("#view").getByText(prompt).first().waitFor();
      await page.goBack();
      await page.goForward();
      await page.reload();
      await page.locator("#view").getByText(prompt).first().waitFor();
      const all = machine.json(["mesh", "task", "list"]).tasks.filter((task) => task.prompt === prompt);
      assert.equal(all.length, 1);
      await tab.close();
    });
  }

  test("what a command refuses is shown with its reason, and what was typed stays", async () => {
    const tab = await open(machine.view("memory"));
    const { page } = tab;
    const decide = form(page, "memory/decide");
    for (const summary of await decide.locator("xpath=ancestor::details[not(@open)]/summary").all()) await summary.click();
    await decide.locator("[name=decision]").fill("Refused");
    await decide.locator("[name=places]").fill("src/missing.py:1");
    await decide.locator("button").first().click();
    await page.locator("#notices .notice.failed").waitFor();
    assert.match(await page.locator("#notices").innerText(), /missing\.py/);
    assert.equal(await decide.locator("[name=places]").inputValue(), "src/missing.py:1");
    await tab.close(/409/);
  });
});
