// Sends the token of the page with every request of htmx and of our own scripts.

export function pageToken() {
  return document.querySelector('meta[name="csrf-token"]').content;
}

/** Like fetch, with the token; a failure rejects with an Error that has the server's `message` and `hint`. */
export async function request(address, options = {}) {
  const headers = { "X-CSRF-Token": pageToken(), "Accept": "application/json", ...options.headers };
  const answer = await fetch(address, { ...options, headers, credentials: "same-origin" });
  if (!answer.ok) throw await failureOf(answer);
  return answer;
}

async function failureOf(answer) {
  const failure = new Error(`the server answered ${answer.status}`);
  failure.status = answer.status;
  failure.hint = "";
  try {
    const { error } = await answer.json();
    failure.message = error.message;
    failure.hint = error.hint;
  } catch {
    // The answer is no JSON; its status says enough.
  }
  return failure;
}

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRF-Token"] = pageToken();
});
