/** The options: read from the form, judged, written into it; which of them count. Rules come from the page's data. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const { parse } = window.FrenchNumbers;

  /** What is wrong with a count; empty when nothing is. @param {ReturnType<typeof parse>} read @param {object} rule */
  function countFault(read, { least, most }) {
    if (read.kind === "blank") return "Indiquez un nombre entier.";
    if (read.kind === "negative" || (read.kind === "number" && read.value < least)) return `Ce nombre doit être ${E.number(least)} ou plus.`;
    if (read.kind !== "number") return E.spaced("Ce n’est pas un nombre : écrivez par exemple 4 ou 2 048.");
    if (!Number.isInteger(read.value)) return "Il faut un nombre entier.";
    return read.value > most ? `Ce nombre dépasse ${E.number(most)}.` : "";
  }

  /** What is wrong with an amount of memory or of parameters. */
  function amountFault(read, { least, most, example }) {
    if (read.kind === "blank") return E.spaced(`Indiquez un nombre : par exemple ${example}.`);
    if (read.kind === "negative" || (read.kind === "number" && read.value < 0)) return "Ce nombre doit être zéro ou plus.";
    if (read.kind !== "number") return E.spaced(`Ce n’est pas un nombre : écrivez par exemple ${example}.`);
    if (read.value === 0 && least > 0) return "Ce nombre doit être plus grand que zéro.";
    return read.value > most ? `Ce nombre dépasse ${E.number(most)}.` : "";
  }

  /** Whether an option counts, given the values of the others. @param {object} rule @param {Record<string, string>} values */
  const relevant = (rule, values) => Object.entries(rule.when).every(([name, allowed]) => allowed.includes(values[name]));

  /**
   * A reader of the form.
   * @param {HTMLFormElement} form @param {Record<string, object>} rules
   * @param {Array<[string, string]>} named sets of modules, each with the name of its button
   */
  E.optionsOf = (form, rules, named) => {
    const names = Object.keys(rules);
    const controls = Object.fromEntries(names.map((name) => [name, form.elements[name]]));
    const boxes = Object.fromEntries(names.map((name) => [name, form.querySelector(`[data-option="${name}"]`)]));
    const radios = Object.fromEntries(names.filter((name) => rules[name].kind === "radio").map((name) => [name, E.chosenOf(controls[name])]));
    const targets = form.querySelector("[data-part=targets]");

    const chosen = () => Array.from(targets.querySelectorAll("input:checked"), (box) => box.value).join(",");

    /** The value of an option as a text, the way an address has it. */
    function text(name) {
      const rule = rules[name];
      if (rule.kind === "radio") return radios[name]();
      if (rule.kind === "switch") return String(controls[name].checked);
      if (rule.kind === "targets") return chosen();
      return rule.kind === "count" ? controls[name].value.trim() : controls[name].value;
    }

    /** Every option's text; a count as plain digits where it is one. */
    function texts() {
      const values = {};
      for (const name of names) values[name] = text(name);
      return values;
    }

    /** Show the options that count, hide the others. @param {Record<string, string>} values */
    function reveal(values) {
      for (const name of names) {
        const hidden = !relevant(rules[name], values);
        if (boxes[name].hidden !== hidden) boxes[name].hidden = hidden;
      }
    }

    /** What the form says: texts, faults by name (with their kind), and the options of the case. */
    function read() {
      const values = texts();
      const faults = {};
      const counts = {};
      for (const name of names) {
        if (!relevant(rules[name], values)) continue;
        if (rules[name].kind === "count") {
          const found = parse(values[name]);
          const message = countFault(found, rules[name]);
          counts[name] = found.value;
          if (message) faults[name] = { message, kind: found.kind };
        }
      }
      if (values.mode === "training" && counts.sequence_length === 1) {
        faults.sequence_length = { message: "Prédire le jeton suivant demande au moins 2 jetons.", kind: "number" };
      }
      if (relevant(rules.lora_targets, values) && !values.lora_targets) {
        faults.lora_targets = { message: "Choisissez au moins un module.", kind: "blank" };
      }
      return { values, faults, options: caseOf(values, counts, rules) };
    }

    /** Write options into the form; what is not given is left as it is. @param {Record<string, string>} values */
    function fill(values) {
      for (const [name, value] of Object.entries(values)) {
        const rule = rules[name];
        if (!rule || rule.kind === "targets") continue;
        if (rule.kind === "switch") controls[name].checked = value === "true";
        else if (rule.kind === "count") controls[name].value = value;
        else if (rule.choices[value]) controls[name].value = value;
      }
    }

    /**
     * Offer the modules of a family, and its named sets.
     * @param {Record<string, string[]>} sets @param {string[]} wanted those ticked; when the family has none of them, its first set
     */
    function offer(sets, wanted) {
      const widest = sets["all-linear"] ?? sets.attention;
      const modules = widest.filter((name) => !name.includes("."));
      const ticked = wanted.filter((name) => modules.includes(name));
      const checked = ticked.length ? ticked : sets["q-v"];
      targets.replaceChildren(...modules.map((module) => chip(module, checked.includes(module))));
      const whole = named.filter(([key]) => sets[key]?.every((name) => modules.includes(name)));
      targets.append(E.element("span", "sets", ...whole.map(([key, label]) => setButton(label, sets[key], targets))));
    }

    return { read, fill, offer, reveal, texts, controls, boxes };
  };

  /** A button that ticks a whole set. @param {string} label @param {string[]} names @param {HTMLElement} targets */
  function setButton(label, names, targets) {
    const button = E.element("button", "set", label);
    button.type = "button";
    button.addEventListener("click", () => {
      for (const box of targets.querySelectorAll("input")) box.checked = names.includes(box.value);
      targets.querySelector("input").dispatchEvent(new Event("input", { bubbles: true }));
    });
    return button;
  }

  /** A module to target, as a box to tick. */
  function chip(module, checked) {
    const box = E.element("input", "");
    Object.assign(box, { type: "checkbox", name: "lora_target", value: module, checked });
    const name = E.element("code", "", module);
    name.lang = "en";
    return E.element("label", "chip", box, name);
  }

  /** The case, under the names of the command line; what does not count has the value that changes nothing. */
  function caseOf(values, counts, rules) {
    const count = (name, other) => counts[name] ?? other;
    const on = (name) => values[name] === "true" && relevant(rules[name], values);
    const one = (name, other) => (relevant(rules[name], values) ? values[name] : other);
    const mixed = values.numbers === "mixed" && values.mode === "training";
    return {
      mode: values.mode,
      method: values.method,
      dtype: values.numbers === "mixed" ? "float32" : values.numbers,
      mixed_precision: mixed ? "bf16" : "none",
      optimizer: one("optimizer", "adamw"),
      foreach: on("foreach"),
      batch_size: count("batch_size", 1),
      sequence_length: count("sequence_length", 256),
      new_tokens: count("new_tokens", 32),
      gradient_checkpointing: on("gradient_checkpointing"),
      gradient_accumulation: count("gradient_accumulation", 1),
      attention: values.attention,
      loss: one("loss", "full"),
      logits: one("logits", "all"),
      zero_grad: one("zero_grad", "keep"),
      padding: on("padding"),
      lora_rank: count("lora_rank", 8),
      lora_targets: values.lora_targets.split(",").filter(Boolean),
      double_quant: on("double_quant"),
      allocator: one("allocator", "default"),
      device: values.device,
    };
  }

  Object.assign(E, { amountFault, relevant });
})();
