// Marks the link of the part of a page that is in view, in a list of links beside it.

const BAND = [0.1, 0.5]; // of the height of the window: there the eye is

function isBetween(element, top, bottom) {
  const box = element.getBoundingClientRect();
  return box.top < bottom && box.bottom > top;
}

/** Return the part in view: the one that the address names, or the first one. The last parts never reach the band. */
function partInView(parts) {
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const [top, bottom] = isAtEnd ? [0, innerHeight] : BAND.map((share) => share * innerHeight);
  const visible = parts.filter(({ element }) => isBetween(element, top, bottom));
  const named = document.querySelector(":target");
  const addressed = visible.find(({ element }) => element.contains(named));
  return addressed ?? (isAtEnd && scrollY ? visible.at(-1) : visible[0]);
}

/** Scroll a list, and nothing else, until a link in it is visible. */
function reveal(list, link) {
  const box = list.getBoundingClientRect();
  const { top, bottom } = link.getBoundingClientRect();
  if (top < box.top) list.scrollTop -= box.top - top;
  else if (bottom > box.bottom) list.scrollTop += bottom - box.bottom;
}

/** Mark one link of a list from now on; `parts` are pairs of an element of the page and its link. */
export function markInView(list, parts) {
  let marked = null;
  function mark() {
    const link = partInView(parts)?.link ?? marked;
    if (link === marked) return;
    marked?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "location");
    marked = link;
    reveal(list, link);
  }
  addEventListener("scroll", mark, { passive: true });
  addEventListener("resize", mark);
  addEventListener("hashchange", mark);
  mark();
}
