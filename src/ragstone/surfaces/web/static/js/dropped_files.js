// The files of a drop, each with its name: the path below the dropped folder.

/** Return files with their own names. */
export function nameFiles(files) {
  return [...files].map((file) => ({ file, name: file.name }));
}

/** Return the dropped files, and the files of dropped folders. */
export async function readDropped(transfer) {
  // A browser keeps the entries only until the handler of the event has returned.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return nameFiles(transfer.files);
  const found = await Promise.all(entries.map((entry) => readEntry(entry, "")));
  return found.flat();
}

async function readEntry(entry, prefix) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
    return [{ file, name: prefix + file.name }];
  }
  const entries = await listFolder(entry.createReader());
  const found = await Promise.all(entries.map((below) => readEntry(below, `${prefix}${entry.name}/`)));
  return found.flat();
}

async function listFolder(reader) {
  const entries = [];
  for (;;) {
    const more = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (!more.length) return entries; // a browser gives a hundred at a time
    entries.push(...more);
  }
}
