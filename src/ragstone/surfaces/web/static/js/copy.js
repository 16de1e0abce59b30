// Buttons that copy: data-copy="text", or data-copy-from="id of an element".
import { toast } from "./toast.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-from]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copyFrom);
  try {
    await navigator.clipboard.writeText(source ? source.textContent : button.dataset.copy);
    const label = button.getAttribute("aria-label") || button.textContent.trim();
    toast(label.startsWith("Copy ") ? `Copied ${label.slice("Copy ".length)}.` : "Copied the text.");
  } catch {
    toast("The browser did not allow to copy.", { hint: "Select the text instead.", kind: "error" });
  }
});
