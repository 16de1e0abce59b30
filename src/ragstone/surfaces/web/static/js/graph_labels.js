// Labels of the graph: cut to the width of their boxes, and large titles for the picture from afar.

const FONT_SIZE = 12;
const FAR_SIZES = [26, 44];

/** Measures texts in the font of a page. */
export class Ruler {
  constructor(container) {
    this.pen = document.createElement("canvas").getContext("2d");
    this.pen.font = `${FONT_SIZE}px ${getComputedStyle(container).fontFamily}`;
  }

  width(text) {
    return this.pen.measureText(text).width;
  }

  /** Return a text that fits into a width: without its end, or with `keepEnd` without its beginning. */
  fit(text, room, { keepEnd = false } = {}) {
    if (this.width(text) <= room) return text;
    const cut = (count) => (keepEnd ? `…${text.slice(-count)}` : `${text.slice(0, count)}…`);
    let count = Math.ceil((text.length * room) / this.width(text));
    while (count > 1 && this.width(cut(count)) > room) count -= 1;
    return cut(count);
  }

  /** Return a text and the size in which it fills a width; a long text loses its end. */
  fill(text, room) {
    const [smallest, largest] = FAR_SIZES;
    const filling = (FONT_SIZE * room) / Math.max(1, this.width(text));
    const size = Math.min(largest, Math.max(smallest, filling));
    return [this.fit(text, (room * FONT_SIZE) / size), size];
  }
}

/** Return the short title of a group for the picture from afar: the name of a file without its folders and ending. */
export function farTitle(group) {
  if (!group.isPath) return group.title;
  const parts = group.title.split("/");
  const name = parts.at(-1).replace(/\.\w+$/, "");
  const isIndex = name.startsWith("__") || ["index", "mod", "main"].includes(name);
  return isIndex && parts.length > 1 ? `${parts.at(-2)}/` : name;
}
