// Widths from 320 px to 4K: nothing makes the page scroll sideways.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { open, overflow } from "./chromium.mjs";
import { VIEWS, demo } from "./demo_machine.mjs";

describe("layout", () => {
  let machine;
  before(() => { machine = demo(); });

  for (const [width, height] of [[320, 640], [1280, 800], [3840, 2160]]) {
    test(`no view scrolls sideways at ${width} px`, async () => {
      const tab = await open(undefined, { width, height });
      for (const { name } of VIEWS) {
        await tab.page.goto(machine.view(name));
        await tab.page.evaluate(() => { for (const part of document.querySelectorAll("#view details")) part.open = true; });
        assert.deepEqual(await overflow(tab.page), [], name);
      }
      await tab.close();
    });
  }

  test("text at twice its size still fits", async () => {
    const tab = await open(machine.view("tasks"), { width: 640, height: 800 });
    for (const { name } of VIEWS) {
      await tab.page.goto(machine.view(name));
      await tab.page.addStyleTag({ url: "/assets/page.css" });
      await tab.page.evaluate(() => { document.documentElement.style.setProperty("font-size", "30px"); });
      assert.deepEqual(await overflow(tab.page), [], name);
    }
    await tab.close();
  });
});
