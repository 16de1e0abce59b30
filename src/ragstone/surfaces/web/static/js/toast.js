// Short messages. The server sends them in the header HX-Trigger; scripts call `toast`.
import { showProse } from "./prose.js";

const LATER = "toast of the next page";
const SECONDS = { ok: 5, error: 12 };

export function toast(message, { hint = "", kind = "ok" } = {}) {
  const box = document.createElement("div");
  box.className = `toast toast-${kind}`;
  const text = document.createElement("p");
  showProse(text, message);
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "×";
  close.setAttribute("aria-label", "Close the message");
  close.addEventListener("click", () => box.remove());
  box.append(text, close);
  if (hint) {
    const line = document.createElement("p");
    line.className = "muted";
    showProse(line, hint);
    box.append(line);
  }
  document.getElementById("toasts").append(box);
  setTimeout(() => box.remove(), SECONDS[kind] * 1000);
}

export function toastFailure(failure) {
  toast(failure.message, { hint: failure.hint || "", kind: "error" });
}

document.addEventListener("toast", ({ detail }) => {
  const { message, hint, kind, later } = detail; // htmx adds an element to it
  if (later) sessionStorage.setItem(LATER, JSON.stringify({ message, hint, kind }));
  else toast(message, { hint, kind });
});

const waiting = sessionStorage.getItem(LATER);
if (waiting) {
  sessionStorage.removeItem(LATER);
  const { message, hint, kind } = JSON.parse(waiting);
  toast(message, { hint, kind });
}

document.addEventListener("htmx:sendError", () => {
  toast("The server does not answer.", { hint: "Is `ragstone serve` still running?", kind: "error" });
});
