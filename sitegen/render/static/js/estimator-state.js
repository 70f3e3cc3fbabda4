/** The state of the form: from an address into its fields, and what is said of each of them. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});

  /** The errors of a form by field, and how to write one. @param {HTMLFormElement} form */
  E.complaints = (form) => {
    const errors = Object.fromEntries(Array.from(form.querySelectorAll("[data-error]"), (error) => [error.dataset.error, error]));
    const said = {}; // of each field, now

    /** @param {string} name @param {string} message empty when the field is right */
    function complain(name, message) {
      const error = errors[name];
      if (!error || (said[name] ?? "") === message) return;
      said[name] = message;
      error.textContent = message;
      const controls = form.querySelectorAll(`[aria-describedby~="${error.id}"]`);
      controls.forEach((control) => (message ? control.setAttribute("aria-invalid", "true") : control.removeAttribute("aria-invalid")));
    }
    return { errors, complain };
  };

  /** The state that an address holds: all of it, or what it changes of the start. @param {Record<string, string>} start */
  function stateOf(start) {
    const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const known = ["model", "config", "parameters"].some((name) => name in given);
    return known ? given : { ...start, ...given };
  }

  /** Where the model comes from. @param {Record<string, string>} state */
  function originOf(form, state) {
    const from = state.config ? "config" : state.parameters ? "parameters" : "catalogue";
    form.elements.source.value = from;
    if (state.config) form.elements.config.value = E.indented(state.config);
    if (state.parameters) form.elements.parameters.value = state.parameters;
    return from;
  }

  /** Where it must fit. */
  function placed(form, state, choice) {
    const device = form.elements.device.value;
    choice.offer(device);
    if (state.card) form.elements.card.value = state.card;
    if (form.elements.card.selectedIndex < 0) choice.offer(device);
    form.elements.capacity.value = state.capacity ?? "24";
    form.elements.used.value = state.used ?? "0";
  }

  /**
   * Set the form from the address, else from the start.
   * @param {HTMLFormElement} form @param {object} data of the page @param {{options: object, choice: object, box: object}} parts
   * @returns {object | null} the model of the catalogue
   */
  E.restored = (form, data, { options, choice, box }) => {
    const state = stateOf(data.start);
    const usual = Object.fromEntries(Object.entries(data.options).map(([name, rule]) => [name, rule.default]));
    options.fill({ ...usual, foreach: String((state.device ?? usual.device) === "cuda"), ...state });
    const from = originOf(form, state);
    placed(form, state, choice);
    const entry = E.named(data.models, state.model ?? data.start.model) ?? null;
    box.settle(entry ? entry.name : (state.model ?? ""));
    const family = entry && from === "catalogue" ? entry.config.model_type : "";
    options.offer(data.targets[family] ?? data.targets.llama, (state.lora_targets ?? "").split(","));
    return entry;
  };
})();
