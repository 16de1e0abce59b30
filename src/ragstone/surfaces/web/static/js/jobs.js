// Shows a job of the server in an element: its stage, its counts, and its result.
import { followJob } from "./events.js";

const STAGES = { scan: "Looking at the folder", read: "Reading files", index: "Reading files", embed: "Making vectors", graph: "Updating the code graph" };

function showProgress(box, label, done, total, note) {
  box.querySelector(".progress-words span:first-child").textContent = label;
  box.querySelector(".progress-words .number").textContent = note;
  box.querySelector("progress").setAttribute("aria-label", label);
  showBar(box, done, total);
}

function showBar(box, done, total) {
  const bar = box.querySelector("progress");
  if (total) {
    bar.max = total;
    bar.value = done;
  } else {
    bar.removeAttribute("value");
  }
}

/** Follow the job until it is over; then call `onDone(job)`. With `keepLabel` the stage is shown at the right. */
export function showJob(box, id, onDone, { keepLabel = false } = {}) {
  return followJob(
    id,
    ({ progress: { stage, done, total }, status }) => {
      const label = status === "waiting" ? "Waiting for another job" : STAGES[stage] || stage || "Starting";
      if (keepLabel) {
        box.querySelector(".progress-words .number").textContent = label;
        showBar(box, done, total);
        return;
      }
      const note = total ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
      showProgress(box, label, done, total, note);
    },
    (job) => {
      showBar(box, 1, 1);
      onDone(job);
    },
  );
}
