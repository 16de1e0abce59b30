// Labels of the graph: cut to the width of their boxes, and large titles for the picture from afar.
import { WIDTH } from "./graph_layout.js";

const SVG = "http://www.w3.org/2000/svg";
const FONT_SIZE = 12;
const FAR_SIZES = [26, 100];

/** Measures texts in the font of a page. */
export class Ruler {
  constructor(container) {
    this.pen = document.createElement("canvas").getContext("2d");
    this.family = getComputedStyle(container).fontFamily;
  }

  /** Return the width of a text in the weight that was used last. */
  width(text) {
    return this.pen.measureText(text).width;
  }

  /** Return a text that fits into a width: without its end, or with `keepEnd` without its beginning. */
  fit(text, room, { keepEnd = false, weight = 400 } = {}) {
    this.pen.font = `${weight} ${FONT_SIZE}px ${this.family}`;
    if (this.width(text) <= room) return text;
    const cut = (count) => (keepEnd ? `…${text.slice(-count)}` : `${text.slice(0, count)}…`);
    let count = Math.ceil((text.length * room) / this.width(text));
    while (count > 1 && this.width(cut(count)) > room) count -= 1;
    return cut(count);
  }

  /** Return a text and the size in which it fills a width; a long text loses its end. */
  fill(text, room) {
    const [smallest, largest] = FAR_SIZES;
    this.pen.font = `600 ${FONT_SIZE}px ${this.family}`;
    const filling = (FONT_SIZE * room) / Math.max(1, this.width(text));
    const size = Math.min(largest, Math.max(smallest, filling));
    return [this.fit(text, (room * FONT_SIZE) / size, { weight: 600 }), size];
  }
}

/** Return an element of a picture. */
export function element(name, attributes, text = "") {
  const created = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  if (text) created.textContent = text;
  return created;
}

/** Return the short title of a group for the picture from afar: the name of a file without its folders and ending. */
function farTitle(group) {
  if (!group.isPath) return group.title;
  const parts = group.title.split("/");
  const name = parts.at(-1).replace(/\.\w+$/, "");
  const isIndex = name.startsWith("__") || ["index", "mod", "main"].includes(name);
  return isIndex && parts.length > 1 ? `${parts.at(-2)}/` : name;
}

/** Return the title of a group, and the one that is shown from afar. */
export function drawTitles(group, ruler) {
  const { x, y, title, isPath } = group;
  const text = isPath ? title : `${title}  ${group.members.length}`;
  const near = ruler.fit(text, WIDTH, { keepEnd: isPath });
  return [element("text", { class: "graph-title", x, y: y + 16 }, near), drawFarTitle(group, ruler)];
}

/** A high card has its name written downwards, where there is more room. */
function drawFarTitle(group, ruler) {
  const isHigh = group.height > 2 * WIDTH;
  const [name, size] = ruler.fill(farTitle(group), isHigh ? group.height : WIDTH);
  const place = isHigh ? `translate(${group.x + (WIDTH + size) / 2} ${group.y}) rotate(90)` : `translate(${group.x} ${group.y})`;
  const far = element("text", { class: "graph-far-title", transform: place }, name);
  far.style.fontSize = `${size}px`;
  return far;
}
