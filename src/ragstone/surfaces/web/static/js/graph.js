// The page of the graph: choose kinds, find nodes, walk along links by mouse or keys.
import { request } from "./csrf.js";
import { findConnected, placeNodes } from "./graph_layout.js";
import { GraphView } from "./graph_view.js";
import { toast } from "./toast.js";

const container = document.getElementById("graph");
const form = document.getElementById("graph-form");
const searchBox = document.getElementById("graph-search");
const onlyConnected = document.getElementById("graph-connected");
const side = document.getElementById("graph-node");
const found = document.getElementById("graph-found");

let graph = { nodes: [], links: [], columns: [] };
let selected = null;
let view = null;
let asked = 0;

/** Return the nodes of the picture that contain the text of the search box, those of this very name first. */
function findMatches() {
  const text = searchBox.value.trim().toLowerCase();
  if (!text) return [];
  const nodes = graph.nodes.filter((node) => view.groups.has(node) && node.words.includes(text));
  const isExact = (node) => node.label.toLowerCase() === text;
  return [...nodes.filter(isExact), ...nodes.filter((node) => !isExact(node))];
}

function connectedNodes() {
  return selected ? findConnected(graph, selected) : new Set();
}

function mark() {
  view.mark(selected, connectedNodes());
}

function drawAll() {
  const connected = connectedNodes();
  const isFiltered = onlyConnected.checked && selected;
  const isByFile = new FormData(form).get("arrange") === "file";
  const layout = placeNodes(graph, (node) => !isFiltered || connected.has(node), { isByFile, shape: view.shape });
  view.draw(graph, layout);
  view.start();
  mark();
  view.markMatches(new Set(findMatches()));
  if (selected) view.reveal(selected);
}

async function showDetails(key) {
  asked += 1;
  const number = asked;
  const answer = await request(`/graph/node?key=${encodeURIComponent(key)}`, { headers: { Accept: "text/html" } });
  const text = await answer.text();
  // An answer that comes after a later question is too late. The server escapes every name in it.
  if (number === asked) side.replaceChildren(document.createRange().createContextualFragment(text));
}

/** Write the node and the choices into the address: "Back" leads to the same picture. */
function writeAddress() {
  const chosen = choices();
  if (selected) chosen.set("node", selected.key);
  history.replaceState(null, "", `?${chosen}`);
}

async function select(node) {
  selected = node;
  writeAddress();
  container.parentElement.classList.toggle("has-node", Boolean(node));
  if (onlyConnected.checked) drawAll();
  else mark();
  if (!node) return;
  view.reveal(node);
  await showDetails(node.key).catch(report);
}

/** Mark the nodes that are found, say how many there are, and show the first one. */
function search() {
  const nodes = findMatches();
  view.markMatches(new Set(nodes));
  found.textContent = searchBox.value.trim() ? `${nodes.length.toLocaleString("en")} found` : "";
  if (nodes.length) view.reveal(nodes[0]);
}

/** Select the first node that is found; if a found one is selected already, the next one. */
function selectMatch() {
  const nodes = findMatches();
  const next = nodes[(nodes.indexOf(selected) + 1) % nodes.length];
  if (next) select(next);
  else toast("No node in the picture has this name.", { hint: "Nodes of other kinds may have it.", kind: "error" });
}

function report(failure) {
  toast(failure.message, { hint: failure.hint, kind: "error" });
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Show the numbers of the picture around it. */
function showCounts() {
  const header = document.querySelector(".page-header-words p");
  header.textContent = `${plural(graph.nodes.length, "node")}, ${plural(graph.link_count, "link")}`;
  document.getElementById("graph-empty").hidden = graph.nodes.length > 0;
  const notice = document.getElementById("graph-left-out");
  notice.hidden = graph.left_out === 0;
  notice.querySelector("strong").textContent = `${plural(graph.left_out, "node")} left out`;
}

/** Return the choices of the form as the parameters of an address. */
function choices() {
  const chosen = new URLSearchParams(new FormData(form));
  if (!chosen.has("kinds")) chosen.set("kinds", ""); // none is chosen; without the parameter the usual ones are
  return chosen;
}

async function load() {
  const chosen = choices();
  const answer = await request(`/graph/picture?${chosen}`);
  graph = await answer.json();
  for (const node of graph.nodes) node.words = `${node.label} ${node.place} ${node.key}`.toLowerCase();
  const key = selected ? selected.key : container.dataset.node;
  selected = graph.nodes.find((node) => node.key === key) || null;
  showCounts();
  drawAll();
}

/** Return the next node of the column, or the nearest node at one side: a linked one if there is any. */
function neighbour(key) {
  const shown = [...view.groups.keys()];
  if (!selected) return shown[0];
  if (key === "ArrowUp" || key === "ArrowDown") {
    const step = key === "ArrowUp" ? -1 : 1;
    const column = shown.filter((node) => node.x === selected.x).sort((one, other) => one.y - other.y);
    return column[column.indexOf(selected) + step];
  }
  const direction = key === "ArrowRight" ? 1 : -1;
  const number = graph.nodes.indexOf(selected);
  const linked = new Set(graph.links.filter((link) => link.includes(number)).flat().map((other) => graph.nodes[other]));
  const aside = shown.filter((node) => (node.x - selected.x) * direction > 0);
  const isLinked = aside.some((node) => linked.has(node));
  const distance = (node) => Math.abs(node.y - selected.y) + Math.abs(node.x - selected.x);
  return aside.filter((node) => !isLinked || linked.has(node)).sort((one, other) => distance(one) - distance(other))[0];
}

const PANS = { ArrowUp: [0, -0.25], ArrowDown: [0, 0.25], ArrowLeft: [-0.25, 0], ArrowRight: [0.25, 0] };

function press(event) {
  if (event.shiftKey && event.key in PANS) {
    view.pan(...PANS[event.key]);
  } else if (event.key in PANS) {
    const next = neighbour(event.key);
    if (next) select(next);
  } else if (event.key === "Escape") {
    select(null);
  } else {
    return;
  }
  event.preventDefault();
}

function listen() {
  container.addEventListener("keydown", press);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    writeAddress();
    if (event.target.name === "kinds") load().catch(report);
    else if (event.target === onlyConnected || event.target.name === "arrange") drawAll();
  });
  searchBox.addEventListener("input", search);
  searchBox.addEventListener("keydown", (event) => {
    if (event.key === "Enter") selectMatch();
  });
  side.addEventListener("click", (event) => {
    if (event.target.closest("[data-close-node]")) select(null);
    const link = event.target.closest("[data-node-key]");
    if (!link) return;
    const node = graph.nodes.find((candidate) => candidate.key === link.dataset.nodeKey);
    event.preventDefault();
    if (node) select(node);
    else showDetails(link.dataset.nodeKey).catch(report);
  });
  document.getElementById("graph-full").addEventListener("click", () => {
    container.parentElement.requestFullscreen().catch(report);
    container.focus();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (!button) return;
    if (button.dataset.zoom === "all") view.showAll();
    else view.zoom(button.dataset.zoom === "in" ? 0.8 : 1.25);
  });
}

if (container) {
  view = new GraphView(container, (number) => select(graph.nodes[number]));
  listen();
  load().then(() => container.setAttribute("data-ready", "")).catch(report);
}
