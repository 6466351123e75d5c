// Each view shows the demo project: with and without scripts, dark and light, for screen readers, without faults.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { PNG } from "pngjs";

import { open } from "./chromium.mjs";
import { VIEWS, demo } from "./demo_machine.mjs";

// Mean brightness of a screenshot, from 0 to 255.
async function brightness(page) {
  const { data } = PNG.sync.read(await page.screenshot());
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) sum += data[at] + data[at + 1] + data[at + 2];
  return sum / (data.length / 4) / 3;
}

// Position and size of what the view shows, with its text. Times move on, so all show the same.
const boxes = (page) => page.evaluate(() => {
  for (const part of document.querySelectorAll("#view details")) part.open = true;
  for (const time of document.querySelectorAll("time")) time.textContent = "1 min. ago";
  return {
    text: document.querySelector("#view").textContent,
    shown: [...document.querySelectorAll("body, header, nav, main, footer, #view *")].map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { name: `${element.nodeName}.${element.className}`, at: [x, y, width, height] };
    }),
  };
});

// Position and size in both color schemes of one and the same text: the page may load a view again in between.
async function lightAndDark(page) {
  for (let round = 0; round < 10; round += 1) {
    await page.emulateMedia({ colorScheme: "light" });
    const light = await boxes(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await boxes(page);
    if (light.text === dark.text && light.shown.length === dark.shown.length) return [light.shown, dark.shown];
  }
  throw new Error("the view changes all the time");
}

describe("views", () => {
  let machine;
  before(() => { machine = demo(); });

  for (const { name, title, shows } of VIEWS) {
    test(`${name} shows real data, dark and light, without serious findings`, async () => {
      const shown = [];
      for (const dark of [false, true]) {
        const tab = await open(machine.view(name), { dark });
        const { page } = tab;
        assert.equal(await page.locator("h1").textContent(), title);
        const text = await page.locator("main").innerText();
        for (const words of shows) assert.ok(text.includes(words), `${words} is not in:\n${text.slice(0, 4000)}`);
        assert.equal(await page.locator("main .notice.failed").count(), 0, text.slice(0, 500));
        assert.deepEqual(await tab.findings(), []);
        // What is folded is checked as well.
        await page.evaluate(() => { for (const part of document.querySelectorAll("#view details")) part.open = true; });
        assert.deepEqual(await tab.findings(), []);
        shown.push(await brightness(page));
        if (dark) {
          const [light, other] = await lightAndDark(page);
          for (const [at, box] of light.entries()) {
            assert.equal(other[at].name, box.name);
            for (const side of [0, 1, 2, 3]) assert.ok(Math.abs(other[at].at[side] - box.at[side]) <= 1, `${box.name}: ${box.at} is ${other[at].at} when dark`);
          }
        }
        await tab.close();
      }
      const [light, dark] = shown;
      assert.ok(light > 150 && dark < 90, `brightness: light ${light}, dark ${dark}`);
    });

    test(`${name} is there without scripts, and as JSON`, async () => {
      const tab = await open(machine.view(name), { scripts: false });
      const text = await tab.page.locator("main").innerText();
      for (const words of shows) assert.ok(text.includes(words), `${words} is not in:\n${text.slice(0, 2000)}`);
      assert.equal(await tab.page.locator(".needs-script:visible").count(), 0);
      await tab.close();
      const answer = await (await fetch(`${machine.view(name)}.json`)).json();
      assert.deepEqual(answer.faults, []);
      assert.equal(typeof answer.view, "object");
    });
  }

  test("every item has the line that does the same", async () => {
    for (const { name } of VIEWS) {
      const tab = await open(machine.view(name));
      const lines = await tab.page.locator("#view code.cli").allTextContents();
      assert.ok(lines.some((line) => line.startsWith("callosum ")), `${name}: ${lines}`);
      await tab.close();
    }
  });

  test("the first page leads to the project, and other addresses say what is wrong", async () => {
    const tab = await open(`${machine.origin}/`);
    assert.equal(tab.page.url(), machine.view("now"));
    for (const path of ["/p/000000000000/now", `${new URL(machine.base).pathname}/nothing`, "/nothing"]) {
      const answer = await fetch(machine.origin + path);
      assert.equal(answer.status, 404);
      assert.match(await answer.text(), /\w+ .*\n$/);
    }
    await tab.close();
  });
});
