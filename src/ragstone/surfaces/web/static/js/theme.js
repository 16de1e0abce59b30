// The button "Light or dark". The server reads the cookie, so a page never changes its colours after it is shown.

const YEAR = 365 * 24 * 3600;

export function isDark() {
  const theme = document.documentElement.dataset.theme;
  if (theme !== "auto") return theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Call back when the colours change: by the button or by the system. */
export function onThemeChange(callback) {
  document.addEventListener("themechange", callback);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
}

/** Return the value of a colour of tokens.css, such as "accent". */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-toggle]")) return;
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  document.cookie = `ragstone_theme=${theme}; path=/; max-age=${YEAR}; samesite=lax`;
  document.dispatchEvent(new Event("themechange"));
});
