// The search lab: a second row of settings, and keys to walk through the hits.

// A narrow screen begins with the query and the hits.
if (matchMedia("(max-width: 45rem)").matches) {
  document.getElementById("lab-more").removeAttribute("open");
}

document.addEventListener("change", (event) => {
  const shown = event.target.dataset.shows;
  if (shown) document.getElementById(shown).hidden = !event.target.checked;
});

function hits() {
  return [...document.querySelectorAll("[data-hit]")];
}

function move(step) {
  const all = hits();
  const current = all.findIndex((hit) => hit.contains(document.activeElement));
  const next = all[Math.max(0, Math.min(all.length - 1, current + step))];
  if (!next) return;
  next.querySelector("summary").focus();
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, dialog[open]")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else return;
  event.preventDefault();
});
