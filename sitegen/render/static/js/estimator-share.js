/** Taking a case away: its address, the command that measures it, its settings elsewhere, a script of its own. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const { parse, typed: written } = window.FrenchNumbers;
  const LONGEST_CONFIG = 6000; // characters of a pasted configuration that an address can reasonably hold
  const NOT_OURS = /^(_|transformers_version|architectures|auto_map|torch_dtype$|id2label|label2id|quantization_config)/;

  /** What of a pasted configuration decides the memory. @param {object} config */
  const essential = (config) => Object.fromEntries(Object.entries(config).filter(([key, value]) => !NOT_OURS.test(key) && value !== null));

  /**
   * The state as the fragment of an address: what counts, and nothing else.
   * @param {Record<string, string>} values of the options @param {Record<string, object>} rules
   * @param {Record<string, string>} others model, card, memory in use
   */
  function fragment(values, rules, others) {
    const state = new URLSearchParams();
    for (const [name, value] of Object.entries(others)) if (value !== "") state.set(name, value);
    for (const [name, value] of Object.entries(values)) if (E.relevant(rules[name], values)) state.set(name, value);
    return state.toString().replaceAll("%2C", ",");
  }

  /** A pasted configuration for the address, or none when it is too long. @param {object} config */
  function packed(config) {
    const text = JSON.stringify(essential(config));
    return text.length <= LONGEST_CONFIG ? text : "";
  }

  /** The text of a configuration, laid out; as it is when it is none. @param {string} text */
  function indented(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  /** The state of the whole form, as an address. @param {HTMLFormElement} form @param {object} model */
  function address(form, model, values, rules) {
    const typed = (name) => form.elements[name].value.trim();
    const others = model.key ? { model: model.key } : model.config ? { config: packed(model.config) } : { parameters: written(model.parameters / E.BILLION) };
    others.card = typed("card");
    if (others.card === E.FREE) others.capacity = typed("capacity");
    if (typed("used") !== "0") others.used = typed("used");
    return fragment(values, rules, others);
  }

  const DEFAULTS = {
    mode: "training", method: "full", dtype: "float32", mixed_precision: "none", optimizer: "adamw", foreach: false, batch_size: 1,
    sequence_length: 256, new_tokens: 32, gradient_checkpointing: false, gradient_accumulation: 1, attention: "sdpa", loss: "full",
    logits: "all", zero_grad: "keep", padding: false, lora_rank: 8, lora_targets: "q_proj,v_proj", double_quant: false, allocator: "default",
  };
  const PLAIN = /^[\w.,/:=-]+$/;
  const quoted = (text) => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  /** The options that differ from the command line's own defaults. @param {object} options */
  function flags(options) {
    const words = [];
    for (const [name, usual] of Object.entries(DEFAULTS)) {
      if (options.method === "full" && name.startsWith("lora_")) continue;
      const value = name === "lora_targets" ? options[name].join(",") : options[name];
      if (value === usual) continue;
      const flag = `--${name.replaceAll("_", "-")}`;
      words.push(typeof usual === "boolean" ? flag : `${flag} ${quoted(String(value))}`);
    }
    return words;
  }

  /** The two commands: estimate anywhere, measure on a processor. @param {object} model @param {object} options @param {string} card */
  function commands(model, options, card) {
    const which = model.hub ? `--model ${quoted(model.hub)}` : "--config config.json";
    const own = flags(options);
    const line = (verb, words) => `sitegen ${verb} ${[which, ...words].join(" \\\n  ")}`;
    const estimate = line("estimate", [...own, ...(options.device === "cuda" ? ["--device cuda"] : []), ...(card ? [`--card ${card}`] : [])]);
    return options.device === "cuda" ? estimate : `${line("measure", own)}\n\n${estimate}`;
  }

  const DTYPES = { float32: "torch.float32", bfloat16: "torch.bfloat16", float16: "torch.float16" };
  const python = (value) => (typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value));

  /** One call, an argument a line. @param {string} name @param {string[]} words */
  const call = (name, words) => `${name}(\n${words.map((word) => `    ${word},`).join("\n")}\n)`;

  /** The same case in the words of TRL (or the Trainer), PEFT and transformers. @param {object} options @param {object} rules */
  function settings(options, rules) {
    const o = options;
    const parts = [];
    if (o.method === "qlora") {
      const words = ["load_in_4bit=True", 'bnb_4bit_quant_type="nf4"', `bnb_4bit_use_double_quant=${python(o.double_quant)}`, `bnb_4bit_compute_dtype=${DTYPES[o.dtype]}`];
      parts.push(call("quantization_config = BitsAndBytesConfig", words));
    }
    const loading = [`dtype=${DTYPES[o.dtype]}`, `attn_implementation=${python(o.attention)}`, ...(o.method === "qlora" ? ["quantization_config=quantization_config"] : [])];
    parts.push(call("model = AutoModelForCausalLM.from_pretrained", ["…", ...loading]));
    if (o.method !== "full") {
      parts.push(call("peft_config = LoraConfig", [`r=${o.lora_rank}`, `target_modules=[${o.lora_targets.map(python).join(", ")}]`, 'task_type="CAUSAL_LM"']));
    }
    if (o.mode === "training") {
      const words = [
        `per_device_train_batch_size=${o.batch_size}`,
        `gradient_accumulation_steps=${o.gradient_accumulation}`,
        `max_length=${o.sequence_length}`,
        `optim=${rules.optimizer.choices[o.optimizer].code}`,
        `gradient_checkpointing=${python(o.gradient_checkpointing)}`,
        `bf16=${python(o.mixed_precision === "bf16")}`,
      ];
      parts.push(`# Trainer : TrainingArguments, sans max_length\n${call("args = SFTConfig", words)}`);
    }
    if (o.mode === "generation") parts.push(`model.generate(…, max_new_tokens=${o.new_tokens})`);
    return parts.join("\n");
  }

  const OPTIMIZERS = {
    "adamw": (o) => `torch.optim.AdamW(entraines, lr=1e-4, foreach=${python(o.foreach)})`,
    "adamw-8bit": () => "bitsandbytes.optim.AdamW8bit(entraines, lr=1e-4)",
    "sgd": (o) => `torch.optim.SGD(entraines, lr=1e-4, foreach=${python(o.foreach)})`,
    "sgd-momentum": (o) => `torch.optim.SGD(entraines, lr=1e-4, momentum=0.9, foreach=${python(o.foreach)})`,
    "adafactor": () => "Adafactor(entraines, lr=1e-4, scale_parameter=False, relative_step=False)",
  };

  /** A value as Python writes it. @param {unknown} value @param {string} indent */
  function literal(value, indent = "") {
    const deeper = `${indent}    `;
    if (value === null) return "None";
    if (Array.isArray(value)) return `[${value.map((item) => literal(item, deeper)).join(", ")}]`;
    if (typeof value !== "object") return python(value);
    const lines = Object.entries(value).map(([key, item]) => `${deeper}${python(key)}: ${literal(item, deeper)},`);
    return lines.length ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
  }

  /** The packages that the script imports. */
  function packages(o) {
    const extra = [];
    if (o.method !== "full") extra.push("peft");
    if (o.method === "qlora" || o.optimizer === "adamw-8bit") extra.push("bitsandbytes");
    return ["torch", "transformers", ...(o.method === "qlora" ? ["accelerate"] : []), ...extra].join(" ");
  }

  /** What stands in the holes of the script. */
  function holes(model, o, title) {
    return {
      ...Object.fromEntries(Object.entries(o).map(([key, value]) => [key, typeof value === "string" ? value : python(value)])),
      title: title.replace(/[\u00a0\u202f]/g, " "),
      packages: packages(o),
      configuration: literal(essential(model.config)),
      dtype: DTYPES[o.dtype],
      optimizer_call: OPTIMIZERS[o.optimizer](o),
      lora_alpha: 2 * o.lora_rank,
      set_to_none: python(o.zero_grad === "free"),
      logits_to_keep: o.logits === "last" ? 1 : 0,
      lora_targets: `[${o.lora_targets.map(python).join(", ")}]`,
    };
  }

  /**
   * The script of this very case: of the template, the blocks whose conditions hold (`#@ name=value,value`, up to `#@end`).
   * @param {string} template
   */
  function script(template, model, options, title) {
    const filling = holes(model, options, title);
    const kept = [];
    const open = []; // whether each block that we are in is kept
    const holds = (condition) => {
      const [name, allowed] = condition.split("=");
      return allowed.split(",").includes(String(options[name]));
    };
    for (const line of template.split("\n")) {
      if (line.startsWith("#@end")) open.pop();
      else if (line.startsWith("#@ ")) open.push(line.slice(3).trim().split(" ").every(holds));
      else if (open.every(Boolean)) kept.push(line.replace(/\{\{(\w+)\}\}/g, (_, name) => String(filling[name])));
    }
    return kept.join("\n").replace(/^"""\n\n+/m, '"""\n\n').replace(/\n{4,}/g, "\n\n\n");
  }

  /** Hand a text over as a file. @param {string} name @param {string} text */
  function download(name, text) {
    const link = E.element("a", "");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/x-python" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  /** What can be taken away, shown. @param {HTMLElement} host @param {object} data of the page */
  function takeaway(host, data) {
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const section = host.querySelector(".verify");
    const nodes = Object.fromEntries(["command-lead", "command", "settings", "script", "printed"].map((name) => [name, part(name)]));

    /** Every option that counts, for paper, where the form is not. */
    function printed(values) {
      const counting = data.order.filter((name) => E.relevant(data.options[name], values));
      return E.spaced(`${counting.map((name) => `${data.options[name].label} : ${spoken(data.options[name], values[name])}`).join(" · ")}.`);
    }

    /** The value of an option as it is read. */
    function spoken(rule, value) {
      if (rule.kind === "switch") return value === "true" ? "oui" : "non";
      if (rule.kind === "count") {
        const count = parse(value).value;
        return rule.unit ? E.counted(count, rule.unit.replace(/s$/, "")) : E.number(count);
      }
      return rule.choices[value]?.label ?? value.replaceAll(",", ", ");
    }

    return ({ model, asked, values, place }) => {
      E.write(nodes.printed, printed(values));
      section.hidden = !model.config;
      if (!model.config) return;
      const lead = asked.device === "cuda" ? "La trace du cas ; le script ci-contre le mesure sur le GPU." : "La mesure, puis l’estimation du même cas.";
      E.write(nodes["command-lead"], E.spaced(model.hub ? lead : `${lead} Enregistrez d’abord la configuration sous le nom config.json.`));
      E.write(nodes.command, commands(model, asked, place.card?.key ?? ""));
      E.write(nodes.settings, settings(asked, data.options));
      E.write(nodes.script, script(data.script, model, asked, E.recap(model, asked, values, data)));
    };
  }

  Object.assign(E, { address, indented, takeaway, download });
})();
