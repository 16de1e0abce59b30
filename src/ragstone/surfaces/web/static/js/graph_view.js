// Draws the graph as SVG. The view is a window (x, y, width, height) that is moved and scaled.
import { FOLD_GAP, GAP, ROW, WIDTH } from "./graph_layout.js";

const SVG = "http://www.w3.org/2000/svg";
const MAX_LABEL = 27;
const BOX = ROW - 4;

function element(name, attributes, text = "") {
  const created = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  if (text) created.textContent = text;
  return created;
}

function shorten(label) {
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
}

/** Return a link that passes between the boxes: long ones run in the free lane between two rows. */
function curve(from, to) {
  const y1 = from.y + BOX / 2;
  const y2 = to.y + BOX / 2;
  if (to.x === from.x) {
    const side = from.x + WIDTH;
    return `M${side} ${y1} C${side + FOLD_GAP} ${y1} ${side + FOLD_GAP} ${y2} ${side} ${y2}`;
  }
  const isForward = to.x > from.x;
  const x1 = from.x + (isForward ? WIDTH : 0);
  const x2 = to.x + (isForward ? 0 : WIDTH);
  if (Math.abs(x2 - x1) <= GAP) return `M${x1} ${y1} ${bend(x1, y1, x2, y2)}`;
  const [out, back] = isForward ? [from.roomRight, -to.roomLeft] : [-from.roomLeft, to.roomRight];
  const lane = from.y + BOX + 2 + ROW * Math.round(((y1 + y2) / 2 - y1) / ROW - 0.5);
  return `M${x1} ${y1} ${bend(x1, y1, x1 + out, lane)} L${x2 + back} ${lane} ${bend(x2 + back, lane, x2, y2)}`;
}

function bend(x1, y1, x2, y2) {
  const middle = (x1 + x2) / 2;
  return `C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

export class GraphView {
  constructor(container, onSelect) {
    this.container = container;
    this.svg = element("svg", { class: "graph-svg", "aria-hidden": "true" });
    container.replaceChildren(this.svg);
    this.window = { x: 0, y: 0, width: 1, height: 1 };
    this.size = { width: 1, height: 1 };
    this.svg.addEventListener("click", (event) => {
      const group = event.target.closest("[data-number]");
      if (group && !this.wasDragged) onSelect(Number(group.dataset.number));
    });
    this.listenToPointer();
    new ResizeObserver(() => this.resize()).observe(container);
  }

  draw(graph, layout) {
    this.size = layout;
    this.groups = new Map();
    const shown = new Set(layout.nodes);
    const links = element("g", { class: "graph-edges" });
    this.paths = [];
    for (const [source, target] of graph.links) {
      const from = graph.nodes[source];
      const to = graph.nodes[target];
      if (!shown.has(from) || !shown.has(to)) continue;
      const path = element("path", { d: curve(from, to) });
      this.paths.push({ path, from, to });
      links.append(path);
    }
    const nodes = element("g", {});
    for (const node of layout.nodes) nodes.append(this.drawNode(graph, node));
    const titles = layout.columns.map((column) =>
      element("text", { class: "graph-title", x: column.x, y: 14 }, `${column.title}  ${column.members.length}`));
    this.svg.replaceChildren(links, nodes, ...titles);
  }

  drawNode(graph, node) {
    const group = element("g", {
      class: "graph-node",
      transform: `translate(${node.x} ${node.y})`,
      "data-number": graph.nodes.indexOf(node),
    });
    group.append(
      element("rect", { width: WIDTH, height: BOX, rx: 4 }),
      element("text", { x: 8, y: 15 }, shorten(node.label)),
      element("title", {}, `${node.kind.replaceAll("_", " ")}\n${node.label}\n${node.place}`),
    );
    this.groups.set(node, group);
    return group;
  }

  /** Mark a node and the nodes it is connected to; without a node nothing is marked. */
  mark(selected, connected, matches) {
    for (const [node, group] of this.groups) {
      group.classList.toggle("is-selected", node === selected);
      group.classList.toggle("is-match", matches.has(node));
      group.classList.toggle("is-dim", Boolean(selected) && !connected.has(node));
    }
    for (const { path, from, to } of this.paths) {
      const isOn = Boolean(selected) && connected.has(from) && connected.has(to);
      path.classList.toggle("is-on", isOn);
      path.classList.toggle("is-dim", Boolean(selected) && !isOn);
    }
  }

  resize() {
    if (!this.container.clientWidth || !this.container.clientHeight) return; // it is not visible now
    const scale = this.window.width / Math.max(1, this.lastWidth || this.container.clientWidth);
    this.lastWidth = this.container.clientWidth;
    this.window.width = this.container.clientWidth * scale;
    this.window.height = this.container.clientHeight * scale;
    this.apply();
  }

  apply() {
    const { x, y, width, height } = this.window;
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  }

  /** Show the beginning of the picture in a size that can be read. */
  start() {
    const width = Math.max(this.container.clientWidth, Math.min(this.size.width + 32, 1.25 * this.container.clientWidth));
    this.setWindow(-16, -16, width);
  }

  showAll() {
    const ratio = this.container.clientWidth / this.container.clientHeight;
    this.setWindow(-16, -16, Math.max(this.size.width + 32, (this.size.height + 32) * ratio));
  }

  setWindow(x, y, width) {
    this.lastWidth = this.container.clientWidth;
    const height = width * (this.container.clientHeight / Math.max(1, this.container.clientWidth));
    this.window = { x, y, width, height };
    this.apply();
  }

  zoom(factor, centreX = 0.5, centreY = 0.5) {
    const { x, y, width, height } = this.window;
    const wider = Math.min(20 * this.container.clientWidth, Math.max(200, width * factor));
    const share = wider / width;
    this.setWindow(x + width * centreX * (1 - share), y + height * centreY * (1 - share), wider);
  }

  /** Move the window so that a node is inside it. */
  reveal(node) {
    const { x, y, width, height } = this.window;
    const isInside = node.x >= x && node.x + WIDTH <= x + width && node.y >= y && node.y + ROW <= y + height;
    if (!isInside) this.setWindow(node.x + WIDTH / 2 - width / 2, node.y - height / 2, width);
  }

  listenToPointer() {
    let last = null;
    this.svg.addEventListener("pointerdown", (event) => {
      last = event;
      this.wasDragged = false;
    });
    addEventListener("pointerup", () => { last = null; });
    addEventListener("pointermove", (event) => {
      if (!last) return;
      const scale = this.window.width / this.container.clientWidth;
      if (Math.abs(event.clientX - last.clientX) + Math.abs(event.clientY - last.clientY) > 2) this.wasDragged = true;
      this.window.x -= (event.clientX - last.clientX) * scale;
      this.window.y -= (event.clientY - last.clientY) * scale;
      last = event;
      this.apply();
    });
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = this.svg.getBoundingClientRect();
      const factor = event.deltaY > 0 ? 1.15 : 1 / 1.15;
      this.zoom(factor, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    }, { passive: false });
  }
}
