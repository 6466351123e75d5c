// Drag and drop: an item with `data-drag` (its fields as a query) dropped on `data-drop` (an action) posts both.
import { send } from "./forms.js";

export function startBoard() {
  let dragged = null;
  const place = (event) => event.target.closest?.("[data-drop]");
  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("[data-drag]");
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.drag);
    dragged.classList.add("dragging");
  });
  document.addEventListener("dragover", (event) => {
    const drop = place(event);
    if (!dragged || !drop) return;
    event.preventDefault();
    drop.classList.add("drop");
  });
  document.addEventListener("dragleave", (event) => place(event)?.classList.remove("drop"));
  document.addEventListener("dragend", () => {
    dragged?.classList.remove("dragging");
    dragged = null;
    for (const drop of document.querySelectorAll(".drop")) drop.classList.remove("drop");
  });
  document.addEventListener("drop", (event) => {
    const drop = place(event);
    if (!dragged || !drop) return;
    event.preventDefault();
    const fields = new URLSearchParams(dragged.dataset.drag);
    for (const [name, value] of new URLSearchParams(drop.dataset.fields ?? "")) fields.set(name, value);
    dragged.classList.remove("dragging");
    dragged = null;
    drop.classList.remove("drop");
    send(drop.dataset.drop, fields);
  });
}
