/** The search in the catalogue: a text field and the list of what matches, by keyboard and by pointer (ARIA combobox pattern). */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});

  /**
   * @param {HTMLInputElement} input @param {HTMLUListElement} list
   * @param {object[]} models @param {(model: object) => void} choose called when the reader picks one
   */
  E.combobox = (input, list, models, choose) => {
    let shown = [];
    let active = -1;
    let settled = ""; // the text of the last choice: typing begins from there

    const option = (model, index) => {
      const made = E.element("li", "", E.element("span", "", model.name), E.element("span", "count", `${E.number(model.parameters / E.BILLION, 2)}${E.NO_BREAK}Md`));
      made.id = `${list.id}-${index}`;
      made.setAttribute("role", "option");
      made.setAttribute("aria-selected", "false");
      return made;
    };

    function mark(index) {
      list.children[active]?.setAttribute("aria-selected", "false");
      active = index;
      const chosen = list.children[index];
      if (!chosen) return input.removeAttribute("aria-activedescendant");
      chosen.setAttribute("aria-selected", "true");
      chosen.scrollIntoView({ block: "nearest" });
      return input.setAttribute("aria-activedescendant", chosen.id);
    }

    function close() {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      mark(-1);
    }

    function open(text) {
      shown = E.matching(models, text);
      list.replaceChildren(...shown.map(option));
      list.hidden = shown.length === 0;
      input.setAttribute("aria-expanded", String(shown.length > 0));
      active = -1;
      input.removeAttribute("aria-activedescendant");
    }

    function pick(index) {
      const model = shown[index];
      if (!model) return;
      settle(model.name);
      choose(model);
    }

    /** Show a name without opening the list. @param {string} name */
    function settle(name) {
      settled = name;
      input.value = name;
      close();
    }

    const KEYS = {
      ArrowDown: () => (list.hidden ? open("") : mark((active + 1) % shown.length)),
      ArrowUp: () => (list.hidden ? open("") : mark((active - 1 + shown.length) % shown.length)),
      Enter: () => pick(active < 0 && shown.length === 1 ? 0 : active),
      Escape: () => (list.hidden ? settle("") : close()),
    };

    input.addEventListener("keydown", (event) => {
      if (!KEYS[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Enter" && list.hidden) return;
      KEYS[event.key]();
      event.preventDefault();
    });
    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", () => list.hidden && open(input.value === settled ? "" : input.value));
    input.addEventListener("input", () => open(input.value));
    input.addEventListener("blur", close);
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      pick([...list.children].indexOf(event.target.closest("li")));
    });
    return { settle };
  };
})();
