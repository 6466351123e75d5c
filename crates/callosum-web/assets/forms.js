// Forms that write: sent without a reload, with the result above the view. Lines of commands are copied by a click.
import { refresh } from "./live.js";

function notice(result) {
  const place = document.getElementById("notices");
  const line = document.createElement("p");
  line.className = `notice ${result.is_done ? "done" : "failed"}`;
  line.textContent = `${result.message} `;
  if (result.hint) {
    const hint = document.createElement("code");
    hint.className = "cli";
    hint.textContent = result.hint;
    line.append(hint);
  }
  place.replaceChildren(line);
}

// Posts fields to an action of the page.
export async function send(action, fields) {
  const body = new URLSearchParams(fields);
  body.set("token", document.body.dataset.token);
  try {
    const answer = await fetch(action, { method: "POST", body, headers: { accept: "application/json" } });
    const isData = answer.headers.get("content-type")?.startsWith("application/json");
    const result = isData ? await answer.json() : { is_done: false, message: (await answer.text()).trim() };
    notice(result);
    await refresh();
    return result.is_done;
  } catch {
    notice({ is_done: false, message: "The daemon does not answer. Start it, and try again:", hint: "callosum serve --detach" });
    return false;
  }
}

export function startForms() {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
    if (question && !confirm(question)) return;
    const fields = new FormData(form, event.submitter);
    const buttons = [...form.querySelectorAll("button")];
    for (const button of buttons) button.disabled = true;
    const isDone = await send(form.getAttribute("action"), fields);
    for (const button of buttons) button.disabled = false;
    if (isDone) form.reset();
  });
  document.addEventListener("click", (event) => {
    const line = event.target.closest?.("code.cli");
    if (!line || String(getSelection())) return;
    navigator.clipboard?.writeText(line.textContent).then(() => {
      line.classList.add("copied");
      setTimeout(() => line.classList.remove("copied"), 600);
    }, () => {});
  });
}
