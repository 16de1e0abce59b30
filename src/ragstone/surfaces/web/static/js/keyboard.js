// Keys of the whole dashboard.
//   data-go="s"                               on a link: `g s` opens it
//   data-search                               on an input: `/` moves the cursor into it
//   data-shortcut="n" data-shortcut-label="…" on a button, link or input: `n` uses it
// `?` lists all of them; Escape leaves an input.

const WAIT = 1200;
let goPressedAt = 0;

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function use(element) {
  if (element.matches("input:not([type=checkbox]), textarea, select")) {
    element.focus();
    if (element.select) element.select();
  } else {
    element.click();
  }
}

function findByData(name, value) {
  const selector = `[data-${name}="${CSS.escape(value)}"]`;
  return [...document.querySelectorAll(selector)].find((element) => element.offsetParent !== null);
}

function goToSearch() {
  const box = document.querySelector("[data-search]");
  if (box) return use(box);
  const page = findByData("go", "s");
  if (page) page.click();
}

function labelOf(element) {
  return element.dataset.shortcutLabel || element.getAttribute("aria-label") || element.textContent.trim();
}

function keyRows() {
  const rows = [[["/"], "Search"], [["?"], "Show these keys"]];
  for (const link of document.querySelectorAll("[data-go]")) {
    rows.push([["g", link.dataset.go], `Go to ${labelOf(link)}`]);
  }
  for (const element of document.querySelectorAll("[data-shortcut]")) {
    rows.push([[element.dataset.shortcut], labelOf(element)]);
  }
  return rows;
}

function showKeys() {
  const dialog = document.getElementById("keys");
  if (!dialog || dialog.open) return;
  const items = [];
  for (const [keys, label] of keyRows()) {
    const term = document.createElement("dt");
    for (const key of keys) {
      const hint = document.createElement("kbd");
      hint.className = "key";
      hint.textContent = key;
      term.append(hint, " ");
    }
    const text = document.createElement("dd");
    text.textContent = label;
    items.push(term, text);
  }
  document.getElementById("key-list").replaceChildren(...items);
  dialog.showModal();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (document.querySelector("dialog[open]")) return false;
  const { key } = event;
  const isAfterGo = Date.now() - goPressedAt < WAIT;
  goPressedAt = 0;
  if (isAfterGo) {
    const link = findByData("go", key);
    if (link) link.click();
    return Boolean(link);
  }
  if (key === "g") {
    goPressedAt = Date.now();
    return true;
  }
  if (key === "/") goToSearch();
  else if (key === "?") showKeys();
  else {
    const element = findByData("shortcut", key);
    if (!element) return false;
    use(element);
  }
  return true;
}

/** Leave an input. A browser would also clear a search box. */
function leave(event) {
  if (event.target.type === "search") event.preventDefault();
  event.target.blur();
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event.target)) {
    if (event.key === "Escape") leave(event);
    return;
  }
  if (press(event)) event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-show-keys]")) showKeys();
});
