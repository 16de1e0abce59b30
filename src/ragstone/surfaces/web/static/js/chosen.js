// Documents that are chosen with their check boxes, and the question before they are deleted.

function boxes() {
  return [...document.querySelectorAll("[data-choose]")];
}

function question(chosen) {
  const count = chosen.length;
  const onDisk = chosen.filter((box) => "onDisk" in box.dataset).length;
  const title = `Delete ${count === 1 ? chosen[0].dataset.name : `${count} documents`} from the index?`;
  if (!onDisk) return title;
  if (count === 1) return `${title} The file on disk stays, and the next sync reads it again.`;
  if (onDisk === count) return `${title} The files on disk stay, and the next sync reads them again.`;
  return `${title} Files on disk stay, and the next sync reads them again: ${onDisk} of the ${count}.`;
}

function showChosen() {
  const all = boxes();
  const chosen = all.filter((box) => box.checked);
  const form = document.getElementById("chosen");
  if (!form) return;
  form.hidden = !chosen.length;
  form.setAttribute("hx-confirm", question(chosen));
  document.getElementById("chosen-count").textContent = `${chosen.length} chosen`;
  const head = document.querySelector("[data-choose-all]");
  head.checked = chosen.length === all.length;
  head.indeterminate = chosen.length > 0 && !head.checked;
}

function chooseAll(isChosen) {
  for (const box of boxes()) box.checked = isChosen;
  showChosen();
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-choose-all]")) chooseAll(target.checked);
  else if (target.matches("[data-choose]")) showChosen();
});
document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-choose-none]")) return;
  chooseAll(false);
  document.querySelector("[data-choose-all]").focus();
});
showChosen(); // a browser keeps check boxes when a page is loaded again
