// Places the nodes of the graph in columns, connected ones on about the same height.

export const ROW = 26;
export const WIDTH = 184;
export const GAP = 56;
export const FOLD_GAP = 16;
const HEAD = 40;
const MIN_ROWS = 30;
const SHAPE = 1.3;
const SWEEPS = 6;

/** Return the nodes that are shown with `x` and `y`, the titles of the columns, and the size of the picture. */
export function placeNodes(graph, isShown) {
  const nodes = graph.nodes.filter(isShown);
  const columns = usedColumns(graph, nodes);
  const rows = new Map();
  columns.forEach(({ members }) => members.forEach((node, row) => rows.set(node, row)));
  const neighbours = findNeighbours(graph, new Set(nodes));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const order = sweep % 2 ? [...columns].reverse() : columns;
    for (const column of order) sortColumn(column, rows, neighbours);
  }
  const rowLimit = countRows(nodes.length);
  const width = columns.reduce((x, column) => placeColumn(column, x, rowLimit), 0);
  const longest = Math.max(1, ...columns.map((column) => column.members.length));
  return { nodes, columns, width, height: HEAD + Math.min(longest, rowLimit) * ROW };
}

/** Return how many rows a column may have, so that the picture is a little wider than high. */
function countRows(count) {
  return Math.max(MIN_ROWS, Math.ceil(Math.sqrt((count * (WIDTH + FOLD_GAP)) / ROW / SHAPE)));
}

/** Place the nodes of a column from `x` on, a long column side by side in parts; return where the next one begins. */
function placeColumn(column, x, rowLimit) {
  column.x = x;
  column.members.forEach((node, row) => {
    node.x = x + Math.floor(row / rowLimit) * (WIDTH + FOLD_GAP);
    node.y = HEAD + (row % rowLimit) * ROW;
  });
  const parts = Math.ceil(column.members.length / rowLimit);
  // Free space at the sides of a node: links turn there.
  column.members.forEach((node, row) => {
    const part = Math.floor(row / rowLimit);
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
