// The button "Sign out".
import { request } from "./csrf.js";
import { toastFailure } from "./toast.js";

document.addEventListener("click", async (event) => {
  if (!event.target.closest("[data-sign-out]")) return;
  try {
    await request("/api/rag/session", { method: "DELETE" });
    location.reload();
  } catch (failure) {
    toastFailure(failure);
  }
});
