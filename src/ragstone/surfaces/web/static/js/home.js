// The first page: follows the sync and shows the new state when it is over.
import { showJob } from "./jobs.js";
import { showPlots } from "./plots.js";
import { toast, toastFailure } from "./toast.js";

const region = document.getElementById("job");

function describe(report) {
  const words = [`${report.indexed.toLocaleString("en")} indexed`, `${report.unchanged.toLocaleString("en")} unchanged`];
  if (report.removed) words.push(`${report.removed.toLocaleString("en")} removed`);
  if (report.skipped.length) words.push(`${report.skipped.length.toLocaleString("en")} skipped`);
  if (report.failed.length) words.push(`${report.failed.length.toLocaleString("en")} failed`);
  return `Synced: ${words.join(", ")}.`;
}

function setButtons(isRunning) {
  for (const button of document.querySelectorAll('[hx-post^="/overview/sync"]')) button.disabled = isRunning;
}

function finish(job) {
  region.replaceChildren();
  setButtons(false);
  document.getElementById("plots").hidden = false;
  showPlots();
  if (job.status === "done") toast(describe(job.result), { hint: job.result.notes.join(" ") });
  else toastFailure(job.error);
  window.htmx.ajax("GET", location.pathname, { target: "#overview", select: "#overview", swap: "outerHTML" });
}

function start() {
  const box = region.querySelector("[data-job]");
  if (!box) return;
  setButtons(true);
  showJob(box, box.dataset.job, finish);
}

document.addEventListener("submit", (event) => {
  if (event.target.matches(".home-search")) sessionStorage.setItem("searched at home", "yes");
});
region.addEventListener("htmx:afterSwap", start);
start();
