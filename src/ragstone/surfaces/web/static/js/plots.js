// Plots: each element with data-plot="address" shows the JSON of that address with uPlot.
//   {"x": [seconds], "series": [{"label": "…", "values": […], "kind": "line" | "bars"}], "unit": "ms"}
import { request } from "./csrf.js";
import { colour, onThemeChange } from "./theme.js";

const COLOURS = ["accent", "border-strong"];
const HEIGHT = 180;
const shown = new Map(); // element → { plot, data }
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

function formatValue(value, unit) {
  const number = Math.abs(value) >= 10 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1);
  return `${Number(number).toLocaleString("en")}${unit ? ` ${unit}` : ""}`;
}

function seriesOptions(series, index, unit) {
  const stroke = colour(COLOURS[index % COLOURS.length]);
  const options = {
    label: series.label,
    stroke,
    width: 1.5,
    spanGaps: true,
    points: { show: series.values.filter((value) => value !== null).length < 3, size: 6, fill: stroke },
    value: (_, value) => (value === null ? "" : formatValue(value, unit)),
  };
  if (series.kind === "bars") {
    options.paths = window.uPlot.paths.bars({ size: [0.7, 24] });
    options.fill = stroke;
    options.points = { show: false };
  }
  return options;
}

/** Return a range of at least two hours, so that a single point has a sensible axis. */
function timeRange(_, low, high) {
  const missing = Math.max(0, 7200 - (high - low)) / 2;
  return [low - missing, high + missing];
}

function axisOptions(unit) {
  const shared = {
    stroke: colour("text-faint"),
    font: `11px ${colour("sans")}`,
    grid: { stroke: colour("border"), width: 1 },
    ticks: { show: false },
  };
  const values = (_, marks) => marks.map((value) => formatValue(value, unit));
  const incrs = unit ? undefined : WHOLE; // counts are whole numbers
  return [{ ...shared, grid: { show: false } }, { ...shared, values, incrs, size: 56 }];
}

/** A bar of height 0 is left out. */
function plottedValues(series) {
  return series.kind === "bars" ? series.values.map((value) => value || null) : series.values;
}

function tooltip(element, data) {
  const box = document.createElement("div");
  box.className = "plot-tip";
  box.hidden = true;
  element.append(box);
  return (plot) => {
    const { idx: index, left } = plot.cursor;
    box.hidden = index === null || index === undefined || left < 0;
    if (box.hidden) return;
    const when = new Date(data.x[index] * 1000).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
    const parts = data.series.map((series) => {
      const value = series.values[index];
      return `${series.label} ${value === null ? "none" : formatValue(value, data.unit)}`;
    });
    box.textContent = [when, ...parts].join(" · ");
  };
}

function draw(element, data) {
  element.replaceChildren();
  const show = tooltip(element, data);
  const options = {
    width: element.clientWidth,
    height: HEIGHT,
    series: [{}, ...data.series.map((series, index) => seriesOptions(series, index, data.unit))],
    axes: axisOptions(data.unit),
    scales: { x: { range: timeRange }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.15 : 1] } },
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { setCursor: [show] },
  };
  const values = [data.x, ...data.series.map(plottedValues)];
  return new window.uPlot(options, values, element);
}

async function show(element) {
  const data = await (await request(element.dataset.plot)).json();
  if (!data.x.length) {
    element.textContent = element.dataset.empty || "Nothing yet.";
    element.classList.add("plot-empty");
    return;
  }
  element.classList.remove("plot-empty");
  const earlier = shown.get(element);
  if (earlier) earlier.plot.destroy();
  shown.set(element, { plot: draw(element, data), data });
  if (!earlier) watch(element);
}

/** Draw a plot again in other colours or in another width. */
function watch(element) {
  onThemeChange(() => {
    const entry = shown.get(element);
    entry.plot.destroy();
    entry.plot = draw(element, entry.data);
  });
  const resize = () => shown.get(element).plot.setSize({ width: element.clientWidth, height: HEIGHT });
  new ResizeObserver(resize).observe(element);
}

/** Show all plots of the page with the data of now. */
export function showPlots() {
  for (const element of document.querySelectorAll("[data-plot]")) {
    show(element).catch(() => {
      element.textContent = "This plot could not be loaded.";
      element.classList.add("plot-empty");
    });
  }
}

showPlots();
