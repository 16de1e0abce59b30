// The settings: a cost that was shown can be closed, and the section in view is marked in the navigation.

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-close]");
  if (!button) return;
  const setting = button.closest(".setting");
  setting.querySelector(".setting-form").reset();
  setting.querySelector(".setting-cost").replaceChildren();
});

const links = new Map(
  [...document.querySelectorAll(".settings-nav a")].map((link) => [link.hash.slice(1), link]),
);
const visible = new Set();

function markSection() {
  const first = [...links.keys()].find((id) => visible.has(id));
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
for (const id of links.keys()) observer.observe(document.getElementById(id));
