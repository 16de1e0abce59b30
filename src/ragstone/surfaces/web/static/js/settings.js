// The settings: a cost that was shown can be closed, a new key was copied, and the section in view is marked at the left.
import { markInView } from "./in_view.js";

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-reload]")) location.reload(); // the address keeps its filter
  const button = event.target.closest("[data-close]");
  if (!button) return;
  const setting = button.closest(".setting");
  setting.querySelector(".setting-form").reset();
  setting.querySelector(".setting-cost").replaceChildren();
});

// The field of a value that the server refused is marked until it is changed.
document.addEventListener("htmx:responseError", (event) => {
  event.detail.elt.closest(".setting-form")?.querySelector(".input").setAttribute("aria-invalid", "true");
});
document.addEventListener("input", (event) => event.target.removeAttribute("aria-invalid"));

const sections = document.querySelector(".settings-nav");
const links = [...sections.querySelectorAll("a")];
markInView(sections, links.map((link) => ({ link, element: document.getElementById(link.hash.slice(1)) })));
