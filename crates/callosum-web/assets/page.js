// Entry of the page's scripts. Reading works without them: they add live updates, keys and forms that do not reload.
import { startLive } from "./live.js";
import { startKeys } from "./keys.js";
import { startForms } from "./forms.js";
import { startBoard } from "./board.js";
import { showTimes } from "./times.js";

showTimes(document);
setInterval(() => showTimes(document), 15_000);
document.addEventListener("view-changed", () => showTimes(document));
startForms();
startKeys();
startBoard();
startLive();
