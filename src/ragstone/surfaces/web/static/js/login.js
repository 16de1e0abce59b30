// The login form: the key goes to the server once, in a header, and is exchanged for a cookie.
import { request } from "./csrf.js";

const form = document.getElementById("login");

function showFailure(failure) {
  const box = document.createElement("div");
  box.className = "notice notice-error";
  const text = document.createElement("strong");
  text.textContent = failure.status === 401 ? "This key is not valid here." : failure.message;
  box.append(text);
  document.getElementById("login-error").replaceChildren(box);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const key = form.elements.key.value.trim();
  try {
    // A header has only ASCII, and so do keys.
    const headers = { Authorization: `Bearer ${key.replace(/[^\x21-\x7e]/g, "?")}` };
    await request("/api/rag/session", { method: "POST", headers });
    location.reload();
  } catch (failure) {
    showFailure(failure);
    form.elements.key.select();
  }
});
