/** A stand-in for estimator-core.js, for tests of the page alone: rough sums with the answers' shape, faults on demand. Never shipped. */
window.Sitegen = (() => {
  "use strict";

  const FAMILIES = ["llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text", "phi3", "olmo2", "smollm3", "granite", "gpt2", "gpt_neox", "mixtral", "qwen3_moe", "gpt_oss"];
  const BYTES = { float32: 4, bfloat16: 2, float16: 2 };
  const STATE = { "adamw": 2, "adamw-8bit": 0, "sgd": 0, "sgd-momentum": 1, "adafactor": 0.01 };

  function need(config, ...keys) {
    const key = keys.find((each) => config[each] !== undefined && config[each] !== null);
    if (key === undefined) throw { code: "missing-field", field: keys[0] };
    if (!Number.isInteger(config[key]) || config[key] < 1) throw { code: "bad-field", field: key, detail: JSON.stringify(config[key]) };
    return config[key];
  }

  function dimensions(given) {
    const notes = [];
    let config = given;
    if (config.text_config) {
      config = { ...config.text_config, model_type: config.text_config.model_type ?? config.model_type };
      notes.push("nested-text-config");
    } else if (config.vision_config || config.image_size) throw { code: "vision-only" };
    if (!FAMILIES.includes(config.model_type)) throw { code: "unknown-family", field: "model_type", detail: config.model_type };
    if (config.torch_dtype && config.dtype && config.torch_dtype !== config.dtype) notes.push("dtype-conflict");
    const L = need(config, "num_hidden_layers", "n_layer");
    if (L > 1000) throw { code: "too-many-layers", field: "num_hidden_layers", detail: L };
    const h = need(config, "hidden_size", "n_embd");
    const H = need(config, "num_attention_heads", "n_head");
    const V = need(config, "vocab_size");
    const i = config.intermediate_size ?? 4 * h;
    const K = config.num_key_value_heads ?? H;
    const d = config.head_dim ?? h / H;
    const tied = config.tie_word_embeddings ?? false;
    if (tied && config.contradiction) throw { code: "contradictory-tie", field: "tie_word_embeddings", detail: config.contradiction };
    const experts = config.num_local_experts ?? config.num_experts;
    const parameters = L * (h * (H + K) * d * 2 + 3 * h * i * (experts ?? 1) + 2 * h) + h + V * h * (tied ? 1 : 2);
    return { family: config.model_type, variant: tied ? "tied" : "untied", dimensions: { L, h, i, V, H, K, d, ...(experts ? { E: experts, k: config.num_experts_per_tok } : {}) }, parameters, notes };
  }

  function bill(model, o) {
    const { parameters: P, dimensions: D } = model;
    const size = BYTES[o.dtype];
    const trainable = o.mode !== "training" ? 0 : o.method === "full" ? P : D ? o.lora_rank * o.lora_targets.length * D.L * 2 * D.h : 0;
    const trained = o.method === "full" ? size : 4;
    const weights = P * (o.method === "qlora" ? 0.53 : size) + (o.method === "full" ? 0 : 4 * trainable);
    const state = STATE[o.optimizer] * trained * trainable + (o.optimizer === "adamw-8bit" ? 2 * trainable : 0);
    return { weights, gradients: trained * trainable, state };
  }

  const added = (components) => Object.values(components).reduce((sum, bytes) => sum + bytes, 0);
  const phase = (step, name, components) => ({ step, name, peak_bytes: added(components), components });

  function phases(model, o) {
    const { weights, gradients, state } = bill(model, o);
    const D = model.dimensions ?? { L: 0, h: 0, i: 0, V: 0, H: 0, K: 0, d: 0 };
    const tokens = o.batch_size * o.sequence_length;
    const size = o.mixed_precision === "bf16" ? 2 : BYTES[o.dtype];
    const scores = o.attention === "eager" ? o.batch_size * D.H * o.sequence_length ** 2 * size * 2 : 0;
    const layer = tokens * (16 * D.h + 4 * D.i) * size * 0.6 + scores;
    const saved = o.gradient_checkpointing ? D.L * tokens * D.h * size + layer : D.L * layer;
    const logits = tokens * D.V * (o.loss === "chunked" ? 0.05 : 1) * 8;
    const base = { weights, gradients: 0, optimizer_state: 0, saved_activations: 0, logits_and_loss: 0, kv_cache: 0, temporaries: 0 };
    if (o.mode === "inference") return [phase(1, "forward", { ...base, logits_and_loss: (o.logits === "last" ? o.batch_size : tokens) * D.V * size, temporaries: layer * 0.4 })];
    if (o.mode === "generation") {
      const cache = (length) => 2 * o.batch_size * length * D.L * D.K * D.d * size;
      return [
        phase(1, "prefill", { ...base, kv_cache: cache(o.sequence_length), temporaries: layer * 0.4 }),
        phase(1, "decode", { ...base, kv_cache: cache(o.sequence_length + o.new_tokens), temporaries: layer / o.sequence_length }),
      ];
    }
    return [1, 2].flatMap((step) => {
      const now = { ...base, optimizer_state: step > 1 ? state : 0, gradients: step > 1 && o.zero_grad === "keep" ? gradients : 0 };
      return [
        phase(step, "forward", { ...now, saved_activations: saved, logits_and_loss: logits }),
        phase(step, "backward", { ...now, gradients: now.gradients || gradients * 0.1, saved_activations: saved, logits_and_loss: 1.5 * logits }),
        phase(step, "optimizer_step", { ...now, gradients, optimizer_state: state, temporaries: o.foreach ? gradients : gradients / 100 }),
      ];
    });
  }

  function estimate(model, options) {
    if (model.family === "gemma2" && options.attention === "sdpa") throw { code: "needs-eager", field: "attention" };
    const all = phases(model, options).map((each) => ({ ...each, peak_bytes: Math.round(each.peak_bytes) }));
    const peak = all.reduce((most, each) => (each.peak_bytes > most.peak_bytes ? each : most));
    const source = model.dimensions ? (options.padding ? "bound" : "polynomial") : "fixed";
    const interval_bytes = [Math.round(0.99 * peak.peak_bytes), Math.round(1.01 * peak.peak_bytes)];
    const cuda = { allocated_interval_bytes: interval_bytes, reserved_interval_bytes: [peak.peak_bytes, Math.round(1.2 * peak.peak_bytes)], device_interval_bytes: [Math.round(1.01 * peak.peak_bytes), Math.round(1.2 * peak.peak_bytes + 9e8)] };
    return {
      source, exact: source === "polynomial", peak_bytes: peak.peak_bytes, interval_bytes, load_peak_bytes: Math.round(all[0].components.weights),
      phase: { step: peak.step, name: peak.name }, phases: all, components: peak.components, reasons: source === "bound" ? ["padding"] : [],
      ...(options.device === "cuda" && model.dimensions ? { cuda } : {}),
    };
  }

  return { families: FAMILIES.map((family) => ({ family })), tables: {}, dimensions, estimate };
})();
