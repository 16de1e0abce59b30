// Texts with code between backticks.

/** Show a text in an element; the parts between backticks become code. */
export function showProse(element, text) {
  const parts = text.split("`").map((part, number) => {
    if (number % 2 === 0) return part;
    const code = document.createElement("code");
    code.className = "command";
    code.textContent = part;
    return code;
  });
  element.replaceChildren(...parts);
}
