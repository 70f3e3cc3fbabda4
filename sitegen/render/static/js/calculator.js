/**
 * The calculator « VRAM d’entraînement »: V = M + A, M = N × B. The two formulas are printed by the build into
 * `SitegenFormulas`; names, presets and default values come from the page's data block; here is the dialogue with the reader.
 */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const { parse, format, exact, typed: written } = window.FrenchNumbers;
  const { model_gb: modelOf, total_gb: totalOf } = window.SitegenFormulas;
  const PAUSE_MS = 600;
  const LARGEST = 1e6;
  const NO_BREAK = "\u00a0";

  const ABOVE_ZERO = "Ce nombre doit être plus grand que zéro.";

  /** The rules of each field: what it says when it is blank, whether zero is refused, and what it says of too small a number. */
  const FIELDS = {
    n: { blank: "Indiquez le nombre de paramètres, en milliards : par exemple 7.", positive: true, least: ABOVE_ZERO },
    b: { blank: "Indiquez les octets par paramètre : par exemple 16.", positive: true, least: ABOVE_ZERO },
    a: { blank: "Indiquez les activations, en Go : 0 si elles ne comptent pas.", positive: false, least: "Ce nombre doit être zéro ou plus." },
  };

  /** @param {string} text */
  const spaced = (text) => text.replaceAll(" :", `${NO_BREAK}:`);
  /** @param {number} value in Go */
  const size = (value) => `${format(value)}${NO_BREAK}Go`;

  /** @param {number} value @returns {string} the sign before it, once it is written with few decimals */
  const equals = (value) => (format(value) === exact(value) ? "=" : "≈");

  /**
   * What is wrong with a field, in French; an empty text when nothing is.
   * @param {string} name @param {ReturnType<typeof parse>} read
   */
  function complaint(name, read) {
    const rule = FIELDS[name];
    if (read.kind === "blank") return spaced(rule.blank);
    if (read.kind === "negative" || (rule.positive && read.value === 0)) return rule.least;
    if (read.kind !== "number") return spaced("Ce n’est pas un nombre : écrivez par exemple 7 ou 1,5.");
    return read.value > LARGEST ? `Ce nombre dépasse ${format(LARGEST)}.` : "";
  }

  /** @param {string} tag @param {string} className @param {...(Node|string)} children */
  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  /** A piece of the picture, filled with the texture of its component. */
  function piece(component, attributes) {
    const rectangle = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const all = { fill: `url(#p-${component})`, y: 0, height: "100%", ...attributes };
    Object.entries(all).forEach(([name, value]) => rectangle.setAttribute(name, value));
    return rectangle;
  }

  /** A calculator of the page. @param {HTMLElement} host */
  function start(host) {
    const data = JSON.parse(host.querySelector(".calculator-data").textContent);
    const form = host.querySelector("form");
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const inputs = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, part(`input-${name}`)]));
    let last = null;
    let timer = 0;

    const chosen = () => form.elements.preset.value;
    const preset = (key) => data.presets.find((candidate) => candidate.key === key);

    /** @param {string} name @param {string} message empty when the field is right */
    function complain(name, message) {
      part(`error-${name}`).textContent = message;
      if (message) inputs[name].setAttribute("aria-invalid", "true");
      else inputs[name].removeAttribute("aria-invalid");
    }

    /** The lines of the details: what each component takes, in Go. */
    function lines(bill) {
      const shares = preset(bill.preset)?.shares ?? [{ component: "phase", label: "Modèle et états", bytes: bill.b }];
      const rows = shares.map((share) => ({ ...share, size: modelOf(bill.n, share.bytes) }));
      return bill.a > 0 ? [...rows, { component: "activations", label: "Activations, A", size: bill.a }] : rows;
    }

    function drawBar(rows, total) {
      let left = 0;
      const pieces = rows.map((row) => {
        const drawn = piece(row.component, { x: `${left}%`, width: `${(100 * row.size) / total}%` });
        left += (100 * row.size) / total;
        return drawn;
      });
      part("bar").replaceChildren(...pieces);
    }

    function detail({ component, label, bytes, size: value }, className = "") {
      const heading = element("th", "", label);
      heading.scope = "row";
      if (component) {
        const swatch = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        swatch.setAttribute("class", "swatch");
        swatch.setAttribute("aria-hidden", "true");
        swatch.append(piece(component, { width: "100%" }));
        heading.prepend(swatch);
      }
      const each = element("td", "numeric", bytes === undefined ? "" : format(bytes));
      return element("tr", className, heading, each, element("td", "numeric", format(value)));
    }

    function show(bill) {
      const rows = lines(bill);
      part("value").classList.remove("is-empty");
      part("value").textContent = size(bill.v);
      part("formula").textContent =
        `V = N × B + A = ${exact(bill.n)} × ${exact(bill.b)} + ${exact(bill.a)} ${equals(bill.v)} ${size(bill.v)}`;
      drawBar(rows, bill.v);
      const model = rows.filter((row) => row.bytes !== undefined).map((row) => detail(row));
      const totals = [
        detail({ label: "M, modèle et états", bytes: bill.b, size: bill.m }, "total"),
        detail({ label: "A, activations", component: bill.a > 0 ? "activations" : undefined, size: bill.a }),
        detail({ label: "V, total", size: bill.v }, "total"),
      ];
      part("lines").replaceChildren(...model, ...totals);
      part("results").hidden = false;
    }

    /** Nothing to show yet. */
    function invite() {
      part("value").classList.add("is-empty");
      part("value").textContent = "Indiquez le nombre de paramètres du modèle, N, pour obtenir sa mémoire d’entraînement.";
      part("results").hidden = true;
    }

    function markStale(stale) {
      part("panel").classList.toggle("is-stale", stale);
      part("stale").hidden = !stale;
    }

    function announce(message) {
      if (part("status").textContent !== message) part("status").textContent = message;
    }

    /** The address keeps the state, so that a link does. */
    function keep(bill) {
      const state = new URLSearchParams({ n: bill.n, b: bill.b, a: bill.a, preset: bill.preset });
      history.replaceState(null, "", `#${state}`);
    }

    function accept(bill, typed) {
      last = bill;
      markStale(false);
      show(bill);
      if (typed) keep(bill);
    }

    /** After a pause: say what is still wrong and where, once, then the result, once. */
    function settle(faults) {
      Object.entries(faults).forEach(([name, { message }]) => complain(name, message));
      const wrong = Object.entries(faults).filter(([, { message }]) => message);
      const said = wrong.map(([name, { message }]) => spaced(`${inputs[name].labels[0].textContent} : ${message}`));
      if (last) said.push(spaced(`${wrong.length ? "Dernier résultat valable" : "VRAM d’entraînement"} : ${size(last.v)}.`));
      announce(said.join(" "));
    }

    /** Read the fields again. @param {boolean} typed whether the reader caused it */
    function update(typed) {
      const read = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, parse(input.value)]));
      const faults = Object.fromEntries(
        Object.keys(FIELDS).map((name) => [name, { message: complaint(name, read[name]), kind: read[name].kind }]),
      );
      if (!last && read.n.kind === "blank") faults.n.message = "";
      for (const [name, { message, kind }] of Object.entries(faults)) {
        if (kind !== "incomplete") complain(name, message);
      }
      const right = Object.values(faults).every(({ message }) => !message);
      if (right && read.n.kind === "number") {
        const [n, b, a] = [read.n.value, read.b.value, read.a.value];
        const m = modelOf(n, b);
        accept({ n, b, a, m, v: totalOf(m, a), preset: chosen() }, typed);
      } else if (last) markStale(true);
      else invite();
      clearTimeout(timer);
      if (typed && (last || !right)) timer = setTimeout(settle, PAUSE_MS, faults);
    }

    /** Fill the fields from the address, else from the defaults. */
    function restore() {
      const state = new URLSearchParams(location.hash.slice(1));
      const known = Object.keys(FIELDS).some((name) => state.has(name));
      for (const [name, input] of Object.entries(inputs)) {
        const given = state.get(name) ?? data.defaults[name];
        const value = Number(given);
        input.value = given.trim() !== "" && Number.isFinite(value) ? written(value) : given;
      }
      const key = known ? (state.get("preset") ?? "free") : data.defaults.preset;
      const same = preset(key) && written(preset(key).bytes) === inputs.b.value;
      form.elements.preset.value = same ? key : "free";
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      if (event.target.name === "preset" && preset(chosen())) inputs.b.value = written(preset(chosen()).bytes);
      if (event.target === inputs.b) form.elements.preset.value = "free";
      update(true);
    });
    addEventListener("hashchange", () => {
      restore();
      update(false);
    });
    restore();
    host.querySelector(".calculator-fallback").hidden = true;
    form.hidden = false;
    update(false);
  }

  document.querySelectorAll("[data-calculator]").forEach(start);
});
