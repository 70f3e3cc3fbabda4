/**
 * Interactive charts, on demand. Each figure already holds a static picture, a table and the chart's specification as JSON. The
 * first use of a chart loads plotly.js (one file of this site), then lays the chart over the picture, at the same size.
 */
(() => {
  "use strict";

  const NARROW_PX = 480; // as in the style sheet
  const DETAIL = " <span"; // what a name is followed by, in a specification
  const VARIABLE = /var\(--[a-z_-]+\)/g;
  const root = document.documentElement;
  const coarse = matchMedia("(pointer: coarse)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const live = new Map();
  let library = null;

  /** Load plotly.js once; a failed load may be tried again. @returns {Promise<void>} */
  function loadLibrary() {
    library ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root.dataset.plotly;
      script.addEventListener("load", () => resolve());
      script.addEventListener("error", () => {
        library = null;
        script.remove();
        reject(new Error("plotly.js"));
      });
      document.head.append(script);
    });
    return library;
  }

  /**
   * The specification with every `var(--name)` replaced by the colour it has now: Plotly draws with colours, not with variables.
   * @param {unknown} value @param {(name: string) => string} colour
   */
  function resolved(value, colour) {
    if (typeof value === "string") return value.replace(VARIABLE, colour);
    if (Array.isArray(value)) return value.map((item) => resolved(item, colour));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, colour)]));
  }

  /** The specification in the colours of the current theme. @param {HTMLElement} figure */
  function themed(figure) {
    const spec = JSON.parse(figure.querySelector(".chart-spec").textContent);
    const probe = document.createElement("span");
    figure.append(probe);
    const colour = (name) => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    };
    const built = resolved(spec, colour);
    built.layout.font.family = getComputedStyle(figure.querySelector(".chart-picture")).fontFamily;
    probe.remove();
    if (coarse.matches) built.layout.dragmode = false; // a finger that scrolls must not zoom
    if (figure.clientWidth < NARROW_PX) shorten(built.layout.annotations);
    return built;
  }

  /** Drop the details of names where there is no room for them, as the picture does. @param {{text: string}[]} annotations */
  function shorten(annotations) {
    for (const annotation of annotations) annotation.text = annotation.text.split(DETAIL)[0];
  }

  /** Draw, or draw again in another theme. @param {HTMLElement} figure */
  async function draw(figure) {
    const { data, layout, config } = themed(figure);
    const plot = figure.querySelector(".chart-plot");
    await window.Plotly.react(plot, data, layout, config);
    plot.querySelectorAll("svg").forEach((drawing) => drawing.setAttribute("aria-hidden", "true")); // the group is described
  }

  /** The buttons that only a live chart has. @param {HTMLElement} figure @returns {HTMLElement[]} */
  function liveButtons(figure) {
    const plot = figure.querySelector(".chart-plot");
    const actions = {
      "Vue entière": () => draw(figure),
      "Enregistrer l’image": () =>
        window.Plotly.downloadImage(plot, {
          format: "png", filename: figure.id, width: plot.clientWidth, height: plot.clientHeight, scale: 2,
        }),
    };
    return Object.entries(actions).map(([name, act]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.setAttribute("aria-describedby", `${figure.id}-title`);
      button.addEventListener("click", act);
      return button;
    });
  }

  /** Say what has become of a figure; a failure is seen as well. @param {HTMLElement} figure @param {string} message */
  function say(figure, message, failed = false) {
    const status = figure.querySelector(".chart-status");
    status.classList.toggle("visually-hidden", !failed);
    status.textContent = message;
  }

  /** Lay the chart over its picture. The button is never disabled: it would lose the focus. @param {HTMLElement} figure */
  async function explore(figure) {
    const button = figure.querySelector("[data-explore]");
    const plot = figure.querySelector(".chart-plot");
    button.setAttribute("aria-disabled", "true");
    button.textContent = "Chargement…";
    try {
      await loadLibrary();
      plot.hidden = false;
      await draw(figure);
      show(figure);
    } catch {
      plot.hidden = true;
      button.textContent = "Réessayer";
      say(figure, "Le graphique interactif n’a pas pu être chargé. L’image et les données restent là.", true);
    }
    button.removeAttribute("aria-disabled");
  }

  /** Make the drawn chart the one that is seen. @param {HTMLElement} figure */
  function show(figure) {
    const button = figure.querySelector("[data-explore]");
    const plot = figure.querySelector(".chart-plot");
    const buttons = liveButtons(figure);
    const watch = new ResizeObserver(() => plot.clientWidth && window.Plotly.Plots.resize(plot));
    watch.observe(plot);
    live.set(figure, { buttons, watch });
    figure.classList.add("is-live");
    say(figure, "Graphique interactif affiché.");
    button.textContent = "Revenir à l’image";
    button.after(...buttons);
  }

  /** Give the picture back. @param {HTMLElement} figure */
  function restore(figure) {
    const { buttons, watch } = live.get(figure);
    const plot = figure.querySelector(".chart-plot");
    live.delete(figure);
    watch.disconnect();
    buttons.forEach((button) => button.remove());
    figure.classList.remove("is-live");
    window.Plotly.purge(plot);
    plot.hidden = true;
    figure.querySelector("[data-explore]").textContent = "Explorer le graphique";
    say(figure, "Image rétablie.");
  }

  /** Wire one figure: its button, and a click on its picture. @param {HTMLElement} figure */
  function wire(figure) {
    const button = figure.querySelector("[data-explore]");
    button.hidden = false;
    const busy = () => button.getAttribute("aria-disabled") === "true";
    button.addEventListener("click", () => {
      if (!busy()) (live.has(figure) ? restore : explore)(figure);
    });
    figure.querySelector(".chart-picture").addEventListener("click", () => {
      if (!busy() && !live.has(figure)) explore(figure);
    });
  }

  const redraw = () => live.forEach((_, figure) => draw(figure));
  document.querySelectorAll("[data-chart]").forEach(wire);
  dark.addEventListener("change", redraw);
  new MutationObserver(redraw).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
})();
