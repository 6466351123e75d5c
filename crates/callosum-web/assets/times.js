// Times for people: local time and age, instead of UTC.

const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

// Returns an age such as "5 min. ago", or the time itself after a week.
function age(at) {
  const seconds = (at - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size > 7 * 86_400) return absolute.format(at);
  const [unit, length] = UNITS.find(([, length]) => size >= length) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

// Shows every <time> below `root` in local time.
export function showTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = age(at);
    if (element.textContent !== text) element.textContent = text;
    const title = absolute.format(at);
    if (element.title !== title) element.title = title;
  }
}
