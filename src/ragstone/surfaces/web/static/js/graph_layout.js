// Places the nodes of the graph on a grid of rows: a column for each kind of part, or a card for each file.

export const ROW = 26;
export const WIDTH = 176;
export const BOX = ROW - 4;
const GAP = 48;
const FOLD_GAP = 16;
const HEAD = 40;
const MIN_ROWS = 30;
const CARD_ROWS = 30;
const SWEEPS = 6;

/** Return the nodes that are shown with `x` and `y`, their titled groups, and the size of the picture. `shape`: its width by its height. */
export function placeNodes(graph, isShown, { isByFile, shape }) {
  const nodes = graph.nodes.filter(isShown);
  return isByFile ? placeFiles(nodes, shape) : placeKinds(graph, nodes, shape);
}

// ── a card for each file ────────────────────────────────────────────────────────────────────────

/** Put each card below the shortest column; cards keep the order of their files. */
function placeFiles(nodes, shape) {
  const cards = makeCards(nodes);
  const rowCount = cards.reduce((sum, card) => sum + cardRows(card), 0);
  const columnCount = Math.max(1, Math.round(Math.sqrt((rowCount * ROW * shape) / (WIDTH + GAP))));
  const lengths = Array(Math.min(columnCount, cards.length)).fill(0);
  for (const card of cards) {
    const column = lengths.indexOf(Math.min(...lengths));
    placeCard(card, column * (WIDTH + GAP), lengths[column] * ROW);
    lengths[column] += cardRows(card);
  }
  return { nodes, groups: cards, width: lengths.length * (WIDTH + GAP) - GAP, height: Math.max(1, ...lengths) * ROW };
}

/** Return the members of each file; a long file has several cards. */
function makeCards(nodes) {
  const files = new Map();
  for (const node of nodes) {
    const name = node.file || node.kind.replaceAll("_", " ");
    if (!files.has(name)) files.set(name, []);
    files.get(name).push(node);
  }
  const cards = [];
  for (const [title, members] of files) {
    for (let start = 0; start < members.length; start += CARD_ROWS) {
      cards.push({ title, isPath: true, members: members.slice(start, start + CARD_ROWS) });
    }
  }
  return cards;
}

/** Return the rows of a card: its title, its members, and a free one. */
function cardRows(card) {
  return card.members.length + 2;
}

function placeCard(card, x, y) {
  Object.assign(card, { x, y, height: (card.members.length + 1) * ROW });
  card.members.forEach((node, row) => {
    Object.assign(node, { x, y: y + (row + 1) * ROW, roomLeft: GAP, roomRight: GAP });
  });
}

// ── a column for each kind ──────────────────────────────────────────────────────────────────────

/** Sort the columns so that connected nodes are on about the same height. */
function placeKinds(graph, nodes, shape) {
  const columns = usedColumns(graph, nodes);
  const rows = new Map();
  columns.forEach(({ members }) => members.forEach((node, row) => rows.set(node, row)));
  const neighbours = findNeighbours(graph, new Set(nodes));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const order = sweep % 2 ? [...columns].reverse() : columns;
    for (const column of order) sortColumn(column, rows, neighbours);
  }
  const rowLimit = Math.max(MIN_ROWS, Math.ceil(Math.sqrt((nodes.length * (WIDTH + FOLD_GAP)) / ROW / shape)));
  const width = columns.reduce((x, column) => placeColumn(column, x, rowLimit), 0) - GAP;
  const longest = Math.max(1, ...columns.map((column) => column.members.length));
  return { nodes, groups: columns, width, height: HEAD + Math.min(longest, rowLimit) * ROW };
}

/** Place the nodes of a column from `x` on, a long column side by side in parts; return where the next one begins. */
function placeColumn(column, x, rowLimit) {
  const parts = Math.ceil(column.members.length / rowLimit);
  Object.assign(column, { x, y: 0 });
  column.members.forEach((node, row) => {
    const part = Math.floor(row / rowLimit);
    node.x = x + part * (WIDTH + FOLD_GAP);
    node.y = HEAD + (row % rowLimit) * ROW;
    // Free space at the sides of a node: links turn there.
    node.roomLeft = part === 0 ? GAP : FOLD_GAP;
    node.roomRight = part === parts - 1 ? GAP : FOLD_GAP;
  });
  return x + parts * (WIDTH + FOLD_GAP) - FOLD_GAP + GAP;
}

function usedColumns(graph, nodes) {
  const columns = graph.columns.map((title) => ({ title, members: [] }));
  for (const node of nodes) columns[node.column].members.push(node);
  return columns.filter((column) => column.members.length);
}

function findNeighbours(graph, shown) {
  const neighbours = new Map();
  for (const node of shown) neighbours.set(node, []);
  for (const [source, target] of graph.links) {
    const from = graph.nodes[source];
    const to = graph.nodes[target];
    // Links inside a column do not move it: its files stay together.
    if (!shown.has(from) || !shown.has(to) || from.column === to.column) continue;
    neighbours.get(from).push(to);
    neighbours.get(to).push(from);
  }
  return neighbours;
}

/** Sort a column by the average height of each node's neighbours. */
function sortColumn(column, rows, neighbours) {
  const heights = new Map();
  for (const node of column.members) {
    const others = neighbours.get(node);
    const sum = others.reduce((total, other) => total + rows.get(other), 0);
    heights.set(node, others.length ? sum / others.length : rows.get(node));
  }
  column.members.sort((one, other) => heights.get(one) - heights.get(other));
  column.members.forEach((node, row) => rows.set(node, row));
}

// ── links ───────────────────────────────────────────────────────────────────────────────────────

/** Return a link that passes between the boxes: long ones run in the free lane between two rows. */
export function linkPath(from, to) {
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

// ── walks ───────────────────────────────────────────────────────────────────────────────────────

/** Return the nodes that can be reached from a node along the links, and against them, in a few steps. */
export function findConnected(graph, start, steps = 3) {
  const connected = new Set([start]);
  for (const isBack of [false, true]) {
    let edge = new Set([start]);
    for (let step = 0; step < steps; step += 1) {
      const next = new Set();
      for (const link of graph.links) {
        const [from, to] = isBack ? [link[1], link[0]] : link;
        if (edge.has(graph.nodes[from]) && !connected.has(graph.nodes[to])) next.add(graph.nodes[to]);
      }
      next.forEach((node) => connected.add(node));
      edge = next;
    }
  }
  return connected;
}
