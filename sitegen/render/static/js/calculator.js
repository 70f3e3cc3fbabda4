/**
 * The dialogue of a calculator with its reader: what was typed is read, refused beside its field, kept in the address; the result is
 * shown at once and announced when typing pauses. What is computed is a matter of `calculator-<key>.js`; fields, choices and their
 * words come from the page's data block.
 */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const { parse, format, typed: written } = window.FrenchNumbers;
  const { bar, line } = window.SitegenCalculator;
  const PAUSE_MS = 600;
  const NO_BREAK = "\u00a0";
  const FREE = "free";

  /** @param {string} text */
  const spaced = (text) => text.replaceAll(" :", `${NO_BREAK}:`);

  /**
   * What is wrong with a field, in French; an empty text when nothing is.
   * @param {{blank: string, zero: boolean, whole: boolean, largest: number}} rule @param {ReturnType<typeof parse>} read
   */
  function complaint(rule, read) {
    if (read.kind === "blank") return rule.blank;
    if (read.kind === "negative" || (!rule.zero && read.value === 0))
      return rule.zero ? "Ce nombre doit être zéro ou plus." : "Ce nombre doit être plus grand que zéro.";
    if (read.kind !== "number") return spaced("Ce n’est pas un nombre : écrivez par exemple 7 ou 1,5.");
    if (read.value > rule.largest) return `Ce nombre dépasse ${format(rule.largest)}.`;
    if (rule.whole && !Number.isInteger(read.value))
      return spaced("Ce nombre doit être entier : la virgule et le point séparent les décimales.");
    return "";
  }

  /** A calculator of the page. @param {HTMLElement} host */
  function start(host) {
    const data = JSON.parse(host.querySelector(".calculator-data").textContent);
    const kind = window.SitegenCalculators[host.dataset.calculator](data);
    const form = host.querySelector("form");
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const inputs = Object.fromEntries(Object.keys(data.fields).map((name) => [name, part(`input-${name}`)]));
    const boxes = (name) => [...form.querySelectorAll(`[type=checkbox][name="${name}"]`)];
    const choosers = Object.keys(data.choosers);
    const [first] = Object.keys(data.fields);
    let last = null;
    let timer = 0;

    /** What is chosen: one key a chooser, several a list of boxes. */
    function chosen() {
      const keys = choosers.map((name) => [name, form.elements[name].value]);
      const lists = Object.keys(data.checks).map((name) => [
        name,
        boxes(name).flatMap((box) => (box.checked ? [box.value] : [])),
      ]);
      return Object.fromEntries([...keys, ...lists]);
    }

    /** The name that a field or a list goes by. */
    const nameOf = (name) => (inputs[name]?.labels[0] ?? host.querySelector(`#calculateur-${name}`)).textContent;

    /** @param {string} name @param {string} message empty when the field is right */
    function complain(name, message) {
      part(`error-${name}`).textContent = message;
      for (const input of inputs[name] ? [inputs[name]] : boxes(name)) {
        if (message) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
    }

    function show(view) {
      part("value").classList.remove("is-empty");
      part("value").textContent = view.value;
      part("formula").textContent = view.formula;
      part("bar").replaceChildren(...bar(view.bar));
      part("bar").toggleAttribute("hidden", view.bar.length === 0);
      part("lines").replaceChildren(...view.lines.map(line));
      part("results").hidden = false;
    }

    /** Nothing to show yet. */
    function invite() {
      part("value").classList.add("is-empty");
      part("value").textContent = data.invitation;
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
    function keep(values, choices) {
      history.replaceState(null, "", `#${new URLSearchParams({ ...values, ...choices })}`);
    }

    /** After a pause: say what is still wrong and where, once, then the result, once. */
    function settle(faults) {
      Object.entries(faults).forEach(([name, { message }]) => complain(name, message));
      const wrong = Object.entries(faults).filter(([, { message }]) => message);
      const said = wrong.map(([name, { message }]) => spaced(`${nameOf(name)} : ${message}`));
      if (last) said.push(spaced(`${wrong.length ? "Dernier résultat valable" : data.result} : ${last.value}.`));
      announce(said.join(" "));
    }

    /** What is wrong, field by field, then between fields once each is right. */
    function faultsOf(read, choices) {
      const faults = {};
      for (const [name, rule] of Object.entries(data.fields))
        faults[name] = { message: complaint(rule, read[name]), kind: read[name].kind };
      for (const [name, blank] of Object.entries(data.checks))
        faults[name] = { message: choices[name].length ? "" : blank, kind: "list" };
      if (kind.check && Object.values(faults).every(({ message }) => !message)) {
        const between = kind.check(valuesOf(read));
        Object.entries(between).forEach(([name, message]) => Object.assign(faults[name], { message }));
      }
      if (!last && read[first].kind === "blank") faults[first].message = "";
      return faults;
    }

    const valuesOf = (read) => Object.fromEntries(Object.entries(read).map(([name, { value }]) => [name, value]));

    /** Read the fields again. @param {boolean} typed whether the reader caused it */
    function update(typed) {
      const read = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, parse(input.value)]));
      const choices = chosen();
      const faults = faultsOf(read, choices);
      for (const [name, { message, kind: state }] of Object.entries(faults)) {
        if (state !== "incomplete") complain(name, message);
      }
      const right = Object.values(faults).every(({ message }) => !message);
      if (right && read[first].kind === "number") {
        last = kind.view(valuesOf(read), choices);
        markStale(false);
        show(last);
        if (typed) keep(valuesOf(read), choices);
      } else if (last) markStale(true);
      else invite();
      clearTimeout(timer);
      if (typed && (last || !right)) timer = setTimeout(settle, PAUSE_MS, faults);
    }

    /** Whether the fields say what a choice would write into them. */
    const says = (values) => Object.entries(values).every(([name, value]) => inputs[name].value === written(value));

    /** Fill the fields from the address, else from the first values. */
    function restore() {
      const state = new URLSearchParams(location.hash.slice(1));
      const known = Object.keys(inputs).some((name) => state.has(name));
      for (const [name, input] of Object.entries(inputs)) {
        const given = state.get(name) ?? data.defaults[name];
        const value = Number(given);
        input.value = given.trim() !== "" && Number.isFinite(value) ? written(value) : given;
      }
      for (const name of choosers) {
        const key = known ? (state.get(name) ?? FREE) : data.defaults[name];
        const values = Object.hasOwn(data.choosers[name], key) ? data.choosers[name][key] : undefined;
        form.elements[name].value = values && says(values) ? key : FREE;
      }
      for (const name of Object.keys(data.checks)) {
        const list = (state.get(name) ?? data.defaults[name]).split(",");
        boxes(name).forEach((box) => {
          box.checked = list.includes(box.value);
        });
      }
    }

    /** A choice fills its fields; a field that is typed into leaves the choices that had filled it. */
    function follow({ name }) {
      for (const [chooser, choices] of Object.entries(data.choosers)) {
        if (chooser === name) {
          const values = choices[form.elements[name].value] ?? {};
          Object.entries(values).forEach(([filled, value]) => {
            inputs[filled].value = written(value);
          });
        } else if (Object.values(choices).some((values) => name in values)) form.elements[chooser].value = FREE;
      }
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      follow(event.target);
      update(true);
    });
    addEventListener("hashchange", () => {
      restore();
      update(false);
    });
    restore();
    update(false);
  }

  document.querySelectorAll("[data-calculator]").forEach(start);
});
