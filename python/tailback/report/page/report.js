// Draws the page's charts in the page's width and in its light or dark look.
const themes = JSON.parse(document.getElementById("themes").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map();
// What stands left of the panels of a concatenated chart: labels of y, then a little air.
const MARGIN = 68;

function fitted(element) {
  const spec = JSON.parse(document.getElementById(element.dataset.spec).textContent);
  const width = Math.max(element.clientWidth, spec.usermeta?.minWidth ?? 220);
  if (spec.vconcat) {
    for (const panel of spec.vconcat) panel.width = width - MARGIN;
  } else if (spec.spec) {
    // Panels side by side: with less room, fewer of them in a row.
    spec.columns = Math.max(1, Math.min(spec.columns, Math.floor(width / (spec.spec.width + 30))));
  } else {
    spec.width = width;
    spec.autosize = { type: "fit-x", contains: "padding" };
  }
  return spec;
}

async function draw(element) {
  const width = element.clientWidth;
  if (width === 0) return;
  drawn.get(element)?.view.finalize();
  const look = dark.matches ? themes.dark : themes.light;
  const { view } = await window.vegaEmbed(element, fitted(element), {
    config: look,
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    tooltip: { theme: dark.matches ? "dark" : "custom" },
  });
  drawn.set(element, { view, width });
}

async function drawAll(elements) {
  for (const element of elements) await draw(element);
}

const visible = () =>
  [...document.querySelectorAll(".chart")].filter((element) => element.clientWidth > 0);

for (const select of document.querySelectorAll("select[data-choice]")) {
  select.addEventListener("change", () => {
    const shown = `${select.dataset.choice}-${select.value}`;
    for (const option of document.querySelectorAll(`[data-option^="${select.dataset.choice}-"]`)) {
      option.hidden = option.dataset.option !== shown;
    }
    drawAll(visible().filter((element) => !drawn.has(element)));
  });
}

let pending;
addEventListener("resize", () => {
  clearTimeout(pending);
  pending = setTimeout(
    () => drawAll(visible().filter((element) => drawn.get(element)?.width !== element.clientWidth)),
    150,
  );
});
dark.addEventListener("change", () => drawAll(visible()));
await drawAll(visible());
document.documentElement.dataset.ready = "";
