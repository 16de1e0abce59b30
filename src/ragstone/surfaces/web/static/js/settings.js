// The settings: a cost that was shown can be closed, a new key was copied, and the section in view is marked at the left.

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

const links = new Map(
  [...document.querySelectorAll(".settings-nav a")].map((link) => [link.hash.slice(1), link]),
);
const visible = new Set();

/** Return the section in view. The last ones never reach the middle of the screen: then the address names it. */
function currentSection() {
  const ids = [...links.keys()];
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  if (!isAtEnd || !scrollY) return ids.find((id) => visible.has(id));
  const named = decodeURIComponent(location.hash.slice(1));
  const box = document.getElementById(named)?.getBoundingClientRect();
  return links.has(named) && box.top < innerHeight && box.bottom > 0 ? named : ids.at(-1);
}

function markSection() {
  const first = currentSection();
  for (const [id, link] of links) {
    if (id === first) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
}

const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) visible.add(entry.target.id);
      else visible.delete(entry.target.id);
    }
    markSection();
  },
  { rootMargin: "-10% 0px -50% 0px" },
);
addEventListener("scroll", markSection, { passive: true });
addEventListener("hashchange", markSection);
for (const id of links.keys()) observer.observe(document.getElementById(id));
