// The keyboard: "/" searches, "g" and a letter go to a page, "j" and "k" walk
// through rows, "?" shows all this.

const typing = (element) => element.closest("input, select, textarea, [contenteditable]") !== null;

function step(by) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  const target = row.querySelector("a") ?? row;
  if (target === row) row.tabIndex = -1;
  target.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

// search puts the cursor into the box, over what is in it.
function search() {
  const box = document.querySelector("[data-search]");
  box?.focus();
  box?.select();
}

function go(key) {
  document.querySelector(`a[data-go="${CSS.escape(key)}"]`)?.click();
}

const actions = {
  "/": search,
  "?": () => document.getElementById("help")?.showModal(),
  j: () => step(1),
  k: () => step(-1),
  r: () => location.reload(),
  " ": () => document.querySelector("[data-pause]")?.click(),
};

export function startKeys() {
  let going = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if (Date.now() - going < 1500) {
      going = 0;
      go(event.key);
      return;
    }
    if (event.key === "g") {
      going = Date.now();
      return;
    }
    // Space presses a focused button or link, and scrolls where there is no feed.
    if (event.key === " " && (event.target.closest("button, a, summary, pre") || !document.querySelector("[data-pause]"))) return;
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-help]")) actions["?"]();
  });
}
