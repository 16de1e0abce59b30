// Questions before a change: hx-confirm="Delete it?" asks in a dialog of the page. data-confirm-label names the button.

import { showProse } from "./prose.js";

/** Ask a question in the dialog of the page; return whether the person agreed. */
export function ask(question, label = "Confirm") {
  const dialog = document.getElementById("confirm");
  // The first sentence is the question, the others are its consequences.
  const [, first, rest] = /^(.*?[?.])(?:\s+(.*))?$/s.exec(question) ?? [null, question, ""];
  showProse(document.getElementById("confirm-question"), first);
  showProse(document.getElementById("confirm-note"), rest ?? "");
  dialog.querySelector('[value="yes"]').textContent = label;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

document.addEventListener("htmx:confirm", async (event) => {
  const { question, elt, issueRequest } = event.detail;
  if (!question) return;
  event.preventDefault();
  if (await ask(question, elt.dataset.confirmLabel)) issueRequest(true);
});
