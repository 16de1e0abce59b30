// Draws the graph as SVG. The view is a window (x, y, width, height) that is moved and scaled.
import { drawTitles, element, Ruler } from "./graph_labels.js";
import { BOX, linkPath, ROW, WIDTH } from "./graph_layout.js";

const MARGIN = 16;
const READABLE = 0.72;
const LARGEST = 1.25;
const FAR = 0.5;
const MANY_LINKS = 400;
const TYPES = ["class", "interface", "trait", "enum", "model"];

export class GraphView {
  constructor(container, onSelect) {
    this.container = container;
    this.ruler = new Ruler(container);
    this.svg = element("svg", { class: "graph-svg", "aria-hidden": "true" });
    container.prepend(this.svg);
    this.window = { x: 0, y: 0, width: 1, height: 1 };
    this.size = { width: 1, height: 1 };
    this.groups = new Map();
    this.svg.addEventListener("click", (event) => {
      const group = event.target.closest("[data-number]");
      if (group && !this.wasDragged) onSelect(Number(group.dataset.number));
    });
    this.listenToPointer();
    new ResizeObserver(() => this.resize()).observe(container);
  }

  /** Return the width of the visible part by its height. */
  get shape() {
    return this.container.clientWidth / Math.max(1, this.container.clientHeight);
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
      const path = element("path", { d: linkPath(from, to) });
      this.paths.push({ path, from, to });
      links.append(path);
    }
    links.classList.toggle("is-many", this.paths.length > MANY_LINKS);
    const nodes = element("g", {});
    graph.nodes.forEach((node, number) => {
      if (shown.has(node)) nodes.append(this.drawNode(node, number));
    });
    this.hideOutside();
    this.svg.replaceChildren(links, nodes, ...layout.groups.flatMap((group) => drawTitles(group, this.ruler)));
  }

  drawNode(node, number) {
    const isType = TYPES.includes(node.kind);
    const group = element("g", { class: isType ? "graph-node is-type" : "graph-node", transform: `translate(${node.x} ${node.y})`, "data-number": number });
    group.append(
      element("rect", { width: WIDTH, height: BOX, rx: 4 }),
      element("text", { x: 8, y: 15 }, this.ruler.fit(node.label, WIDTH - 16, { weight: isType ? 600 : 400 })),
      element("title", {}, `${node.kind.replaceAll("_", " ")}\n${node.label}\n${node.place}`),
    );
    this.groups.set(node, group);
    return group;
  }

  /** Mark a node and the nodes it is connected to; without a node nothing is marked. */
  mark(selected, connected) {
    for (const [node, group] of this.groups) {
      group.classList.toggle("is-selected", node === selected);
      group.classList.toggle("is-dim", Boolean(selected) && !connected.has(node));
    }
    for (const { path, from, to } of this.paths) {
      const isOn = Boolean(selected) && connected.has(from) && connected.has(to);
      path.classList.toggle("is-on", isOn);
      path.classList.toggle("is-dim", Boolean(selected) && !isOn);
    }
  }

  /** Mark the nodes that are found. */
  markMatches(matches) {
    for (const [node, group] of this.groups) group.classList.toggle("is-match", matches.has(node));
  }

  resize() {
    if (!this.container.clientWidth || !this.container.clientHeight) return; // it is not visible now
    const scale = this.window.width / Math.max(1, this.lastWidth || this.container.clientWidth);
    this.setWindow(this.window.x, this.window.y, this.container.clientWidth * scale);
  }

  apply() {
    const { x, y, width, height } = this.window;
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.svg.classList.toggle("is-far", this.container.clientWidth / width < FAR);
    this.hideOutside();
  }

  /** Hide the nodes outside of the window: a browser lays out their texts at every movement. */
  hideOutside() {
    const { x, y, width, height } = this.window;
    for (const [node, group] of this.groups) {
      const isInside = node.x + WIDTH > x && node.x < x + width && node.y + ROW > y && node.y < y + height;
      if (group.isInside === isInside) continue;
      group.isInside = isInside;
      group.style.display = isInside ? "" : "none";
    }
  }

  /** Show the whole picture if it can be read then, otherwise its beginning. */
  start() {
    const { clientWidth } = this.container;
    const whole = this.wholeWidth();
    const isReadable = clientWidth / whole >= READABLE;
    this.setWindow(-MARGIN, -MARGIN, Math.max(clientWidth / LARGEST, isReadable ? whole : clientWidth));
  }

  showAll() {
    this.setWindow(-MARGIN, -MARGIN, this.wholeWidth());
  }

  wholeWidth() {
    return Math.max(this.size.width + 2 * MARGIN, (this.size.height + 2 * MARGIN) * this.shape);
  }

  setWindow(x, y, width) {
    this.lastWidth = this.container.clientWidth;
    this.window = { x, y, width, height: width / Math.max(0.01, this.shape) };
    this.apply();
  }

  zoom(factor, centreX = 0.5, centreY = 0.5) {
    const { x, y, width, height } = this.window;
    const wider = Math.min(20 * this.container.clientWidth, Math.max(200, width * factor));
    const share = wider / width;
    this.setWindow(x + width * centreX * (1 - share), y + height * centreY * (1 - share), wider);
  }

  /** Move the window by a share of its size. */
  pan(right, down) {
    const { x, y, width, height } = this.window;
    this.setWindow(x + width * right, y + height * down, width);
  }

  /** Move the window so that a node is inside it, in a size that can be read. */
  reveal(node) {
    this.resize(); // the panel of a node may have just opened
    const { x, y, width, height } = this.window;
    const isInside = node.x >= x && node.x + WIDTH <= x + width && node.y >= y && node.y + ROW <= y + height;
    const isReadable = this.container.clientWidth / width >= FAR;
    if (isInside && isReadable) return;
    const near = isReadable ? width : this.container.clientWidth;
    this.setWindow(node.x + WIDTH / 2 - near / 2, node.y - near / this.shape / 2, near);
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
