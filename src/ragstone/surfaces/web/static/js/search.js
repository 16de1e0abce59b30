// The search lab: a second row of settings, keys to walk through the hits, and the hits as a context.
import { request } from "./csrf.js";
import { toast, toastFailure } from "./toast.js";

// A narrow screen begins with the query and the hits.
if (matchMedia("(max-width: 45rem)").matches) {
  document.getElementById("lab-more").removeAttribute("open");
}

document.addEventListener("change", (event) => {
  const shown = event.target.dataset.shows;
  if (shown) document.getElementById(shown).hidden = !event.target.checked;
});

const form = document.getElementById("lab");
const box = document.getElementById("q");
let submitted = null;

// Enter or the button searches; leaving the box does not.
box.addEventListener("change", (event) => event.stopPropagation());
form.addEventListener("submit", () => { submitted = box.value; });

// The hits of a query that was entered get the focus, unless the reader types on.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "results" || submitted === null) return;
  const isWaiting = box.value === submitted && [box, document.body].includes(document.activeElement);
  submitted = null;
  if (isWaiting) move(1);
});

// So do the hits of a query that was entered on the first page.
if (sessionStorage.getItem("searched at home")) {
  sessionStorage.removeItem("searched at home");
  if (document.activeElement === document.body) move(1);
}

/** Copy the hits as a context, in the format and the budget that the page shows. */
async function copyContext() {
  const chosen = new URLSearchParams(new FormData(form));
  for (const [name, value] of new FormData(document.getElementById("context-form"))) chosen.set(name, value);
  const answer = await request(`/search/context?${chosen}`, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const text = page.getElementById("context-text");
  if (!text) return toast(page.body.textContent.trim(), { kind: "error" });
  await navigator.clipboard.writeText(text.textContent);
  toast("Copied the context.", { hint: page.querySelector(".context-head span").textContent });
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-copy-context]")) copyContext().catch(toastFailure);
  const head = event.target.closest(".hit-head");
  if (!head || event.target.closest("a")) return;
  const details = head.parentElement.querySelector("details");
  details.open = !details.open;
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
