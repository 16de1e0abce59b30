// hx-confirm="Delete it?" asks in a dialog of the page. data-confirm-label names the button.

document.addEventListener("htmx:confirm", (event) => {
  const { question, elt, issueRequest } = event.detail;
  if (!question) return;
  event.preventDefault();
  const dialog = document.getElementById("confirm");
  document.getElementById("confirm-question").textContent = question;
  dialog.querySelector('[value="yes"]').textContent = elt.dataset.confirmLabel || "Confirm";
  dialog.returnValue = "no";
  dialog.addEventListener(
    "close",
    () => {
      if (dialog.returnValue === "yes") issueRequest(true);
    },
    { once: true },
  );
  dialog.showModal();
});
