// Keys: `/` filters, `j` and `k` walk through items, `g` and a letter opens a view, `?` shows all keys.

const items = () => [...document.querySelectorAll("#view [data-item]")].filter((item) => item.offsetParent !== null);
const help = document.getElementById("help");
let selected = null;
let isPrefix = false;

function select(step) {
  const all = items();
  if (all.length === 0) return;
  const at = all.findIndex((item) => item === selected);
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1);
  selected?.classList.remove("selected");
  selected = all[next];
  selected.classList.add("selected");
  if (!selected.hasAttribute("tabindex") && !selected.matches("a, button")) selected.tabIndex = -1;
  selected.focus({ preventScroll: true });
  selected.scrollIntoView({ block: "nearest" });
}

function open() {
  const link = selected?.matches("a") ? selected : selected?.querySelector("a, summary, button");
  link?.click();
}

export function startKeys() {
  document.getElementById("help-button").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (target.matches?.("input, textarea, select")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (help.open) return;
    if (isPrefix) {
      isPrefix = false;
      document.querySelector(`.menu a[data-key="${CSS.escape(event.key)}"]`)?.click();
      return;
    }
    switch (event.key) {
      case "/": document.querySelector(".filter input[type=search]")?.focus(); break;
      case "j": case "ArrowDown": if (event.key === "j" || selected) select(1); else return; break;
      case "k": case "ArrowUp": if (event.key === "k" || selected) select(-1); else return; break;
      case "Enter": if (target !== selected) return; open(); break;
      case "g": isPrefix = true; setTimeout(() => { isPrefix = false; }, 1500); break;
      case "?": help.showModal(); break;
      default: return;
    }
    event.preventDefault();
  });
}
