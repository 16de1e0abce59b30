// Server-sent events.

/** Call `handlers[name](data)` for each event; return a function that ends the stream. */
export function follow(address, handlers) {
  const stream = new EventSource(address);
  for (const [name, handle] of Object.entries(handlers)) {
    if (name === "failure") continue;
    stream.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  stream.addEventListener("error", () => {
    // The browser connects again by itself, unless the server refused.
    if (stream.readyState === EventSource.CLOSED && handlers.failure) handlers.failure();
  });
  const close = () => stream.close();
  addEventListener("pagehide", close, { once: true });
  return close;
}

/** Follow a job of the server until it is over: `onProgress(job)`, then `onDone(job)`. */
export function followJob(id, onProgress, onDone) {
  const close = follow(`/api/rag/jobs/${encodeURIComponent(id)}/events`, {
    progress: onProgress,
    done: (job) => {
      close();
      onDone(job);
    },
  });
  return close;
}
