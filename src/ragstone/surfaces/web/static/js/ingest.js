// Adds documents to a collection: dropped or chosen files, each with its progress, and pasted texts.
import { request } from "./csrf.js";
import { showJob } from "./jobs.js";
import { toastFailure } from "./toast.js";

const AT_ONCE = 2;
const panel = document.getElementById("ingest");
const list = document.getElementById("uploads");
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
  return { row, state, bar };
}

function finish({ row, state, bar }, words, isFailed) {
  bar.max = 1;
  bar.value = 1;
  state.textContent = words;
  row.classList.toggle("upload-failed", isFailed);
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

function add(file, name = file.name) {
  open();
  waiting.push({ file, name, view: addRow(name) });
  work();
}

function addEntry(entry, prefix = "") {
  if (entry.isFile) {
    entry.file((file) => add(file, prefix + file.name));
    return;
  }
  const reader = entry.createReader();
  const readMore = () =>
    reader.readEntries((entries) => {
      for (const below of entries) addEntry(below, `${prefix}${entry.name}/`);
      if (entries.length) readMore(); // a browser gives a hundred at a time
    });
  readMore();
}

function takeDrop(event) {
  event.preventDefault();
  document.getElementById("drop").classList.remove("drop-over");
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length) entries.forEach((entry) => addEntry(entry));
  else [...event.dataTransfer.files].forEach((file) => add(file));
}

function takePaste(event) {
  if (event.target.closest("input, textarea")) return;
  const { files } = event.clipboardData;
  if (files.length) [...files].forEach((file) => add(file));
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
    [...event.target.files].forEach((file) => add(file));
    event.target.value = "";
  });
  document.addEventListener("documentsChanged", finishPaste);
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
