// Adds documents to a collection: dropped or chosen files, each with its progress, and pasted texts.
import { ask } from "./confirm.js";
import { request } from "./csrf.js";
import { nameFiles, readDropped } from "./dropped_files.js";
import { showJob } from "./jobs.js";
import { toastFailure } from "./toast.js";

const AT_ONCE = 2;
const panel = document.getElementById("ingest");
const list = document.getElementById("uploads");
const clear = document.getElementById("clear-uploads");
const waiting = [];
let running = 0;

function open() {
  panel.hidden = false;
  panel.scrollIntoView({ block: "nearest" });
}

/** Show the new documents, and their number in the heading. */
async function refreshDocuments() {
  const answer = await request(location.href, { headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const selector of [".page-header-words", "#documents"]) {
    const part = document.importNode(fresh.querySelector(selector), true);
    document.querySelector(selector).replaceWith(part);
    window.htmx.process(part);
  }
}

function addRow(name) {
  const row = document.createElement("li");
  row.className = "progress";
  const words = document.createElement("div");
  words.className = "progress-words";
  const label = document.createElement("span");
  label.className = "path";
  label.textContent = name;
  const state = document.createElement("span");
  state.className = "number";
  state.textContent = "Waiting";
  words.append(label, state);
  const bar = document.createElement("progress");
  bar.className = "bar";
  bar.setAttribute("aria-label", name);
  bar.max = 1;
  bar.value = 0;
  row.append(words, bar);
  list.prepend(row);
  clear.hidden = true;
  return { row, state, bar, label };
}

function finish({ row, state, bar, label }, words, isFailed) {
  bar.max = 1;
  bar.value = 1;
  state.textContent = words;
  row.classList.add("upload-done");
  row.classList.toggle("upload-failed", isFailed);
  clear.hidden = list.querySelector("li:not(.upload-done)") !== null;
  if (!isFailed) linkDocument(label);
}

/** Make a link of the name of a stored file. */
function linkDocument(label) {
  const link = document.createElement("a");
  const place = new URLSearchParams({ collection: panel.dataset.name, uri: label.textContent });
  link.href = `/documents?${place}`;
  link.textContent = label.textContent;
  label.replaceChildren(link);
}

function describe(result) {
  const [failure] = result.failed;
  if (failure) return [failure.reason, true];
  const [stored] = result.documents;
  const chunks = stored.chunks_added + stored.chunks_skipped;
  const remark = stored.replaced ? "Replaced the document of this name · " : "";
  return [`${remark}${chunks} ${chunks === 1 ? "chunk" : "chunks"}`, false];
}

async function upload({ file, name, view }) {
  const form = new FormData();
  form.append("files", file, name);
  view.state.textContent = "Sending";
  const address = `/api/rag/collections/${panel.dataset.collection}/files`;
  const { job } = await (await request(address, { method: "POST", body: form })).json();
  const box = view.row;
  await new Promise((resolve) => {
    const onDone = ({ status, result, error }) => {
      if (status === "done") finish(view, ...describe(result));
      else finish(view, error.message, true);
      resolve();
    };
    showJob(box, job.id, onDone, { keepLabel: true });
  });
}

async function work() {
  if (running >= AT_ONCE || !waiting.length) return;
  running += 1;
  const task = waiting.shift();
  try {
    await upload(task);
  } catch (failure) {
    finish(task.view, failure.message, true);
  }
  running -= 1;
  if (!running && !waiting.length) refreshDocuments().catch(toastFailure);
  work();
}

/** Return the names of documents that the collection has already. */
async function findExisting(names) {
  const address = `/documents/existing?collection=${panel.dataset.collection}`;
  const headers = { "Content-Type": "application/json" };
  const answer = await request(address, { method: "POST", headers, body: JSON.stringify(names) });
  return new Set((await answer.json()).existing);
}

/** Ask before files replace documents; return whether they may. */
function askToReplace(names) {
  const [first, ...others] = names;
  const more = others.length ? ` and ${others.length.toLocaleString("en")} more` : "";
  return ask(`The collection has ${first}${more} already. Replace?`, "Replace");
}

/** Send files, each with its name; files that would replace documents are sent only if the person agrees. */
async function addAll(files) {
  open();
  if (!files.length) return;
  const existing = await findExisting(files.map(({ name }) => name));
  const mayReplace = !existing.size || (await askToReplace([...existing]));
  for (const { file, name } of files) {
    const view = addRow(name);
    if (existing.has(name) && !mayReplace) finish(view, "Left out: there is a document of this name", false);
    else waiting.push({ file, name, view });
  }
  for (let count = 0; count < AT_ONCE; count += 1) work();
}

function addFiles(files) {
  addAll(nameFiles(files)).catch(toastFailure);
}

function takeDrop(event) {
  event.preventDefault();
  document.getElementById("drop").classList.remove("drop-over");
  readDropped(event.dataTransfer).then(addAll).catch(toastFailure);
}

function takePaste(event) {
  if (event.target.closest("input, textarea")) return;
  const { files } = event.clipboardData;
  if (files.length) addFiles(files);
  else {
    open();
    document.getElementById("paste-text").value = event.clipboardData.getData("text");
    document.getElementById("paste-name").focus();
  }
}

/** The server has stored the pasted text. */
function finishPaste() {
  document.getElementById("paste").reset();
  document.getElementById("paste-answer").replaceChildren();
  refreshDocuments().catch(toastFailure);
}

if (panel) {
  document.querySelector("[data-open-ingest]").addEventListener("click", () => {
    open();
    document.getElementById("files").focus();
  });
  document.getElementById("files").addEventListener("change", (event) => {
    addFiles(event.target.files);
    event.target.value = "";
  });
  clear.addEventListener("click", () => {
    list.replaceChildren();
    clear.hidden = true;
  });
  document.addEventListener("textAdded", finishPaste);
  document.addEventListener("documentsChanged", () => refreshDocuments().catch(toastFailure));
  document.addEventListener("paste", takePaste);
  document.addEventListener("drop", takeDrop);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    open();
    document.getElementById("drop").classList.add("drop-over");
  });
  document.addEventListener("dragleave", (event) => {
    const isOutside = !event.relatedTarget; // the pointer left the window
    if (isOutside) document.getElementById("drop").classList.remove("drop-over");
  });
}
