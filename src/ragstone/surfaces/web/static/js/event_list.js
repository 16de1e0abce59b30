// New events are added to the top of the table: at once for this server, after a moment for other processes.
import { request } from "./csrf.js";
import { follow } from "./events.js";

const EVERY = 3000;
const SOON = 250;
const MAX_ROWS = 500;
const form = document.getElementById("events-form");
const live = document.getElementById("events-live");
const state = document.getElementById("events-state");
const body = document.querySelector(".table tbody");
let timer = 0;

async function addNew() {
  timer = 0;
  if (!live.checked || document.hidden) return;
  const names = new URLSearchParams(new FormData(form));
  names.set("position", state.dataset.position);
  const answer = await request(`/events/rows?${names}`, { headers: { Accept: "text/html" } });
  state.dataset.position = answer.headers.get("x-position");
  const template = document.createElement("template");
  template.innerHTML = await answer.text(); // the server escapes every text in it
  const rows = [...template.content.querySelectorAll(".event-row")];
  if (!rows.length) return;
  body.prepend(...rows);
  [...body.children].slice(MAX_ROWS).forEach((row) => row.remove());
  document.getElementById("events-empty").hidden = true;
}

function refreshSoon() {
  if (!timer) timer = setTimeout(() => addNew().catch(() => {}), SOON);
}

const names = [...form.querySelectorAll("input[name=names]")].map((box) => box.value);
follow("/api/rag/events/stream", Object.fromEntries(names.map((name) => [name, refreshSoon])));
setInterval(refreshSoon, EVERY);
live.addEventListener("change", refreshSoon);
form.addEventListener("change", () => form.submit());
