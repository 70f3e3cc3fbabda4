/** What to change first: each change is estimated, none is guessed. Then what they do together, and how far one can go. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const LONGEST = 1_048_576;
  const LARGEST = 65_536;

  const training = (o) => o.mode === "training";
  const half = (value) => Math.ceil(value / 2);

  /**
   * Every change: what it is called, what it costs, for which options it exists, and what it does to them (the form's values).
   * @type {{label: (o: object) => string, price: string, when: (o: object) => boolean, patch: (o: object) => Record<string, string>}[]}
   */
  const CHANGES = [
    {
      label: () => "Points de contrôle de gradient",
      price: "Les activations sont recalculées : chaque étape dure plus longtemps.",
      when: (o) => training(o) && !o.gradient_checkpointing,
      patch: () => ({ gradient_checkpointing: "true" }),
    },
    {
      label: () => "Passer à LoRA",
      price: "Seul un adaptateur apprend ; les poids restent gelés.",
      when: (o) => training(o) && o.method === "full",
      patch: () => ({ method: "lora" }),
    },
    {
      label: () => "Passer à QLoRA",
      price: "Poids gelés arrondis à 4 bits, dépliés à chaque couche : plus lent, un peu moins précis.",
      when: (o) => o.method !== "qlora",
      patch: () => ({ method: "qlora", double_quant: "true" }),
    },
    {
      label: () => "Tout en bfloat16",
      price: "Moins de chiffres, état de l’optimiseur compris : un entraînement complet y perd en stabilité.",
      when: (o) => o.dtype === "float32",
      patch: () => ({ numbers: "bfloat16" }),
    },
    {
      label: () => "Précision mixte",
      price: "Les calculs perdent des chiffres, les poids non.",
      when: (o) => training(o) && o.dtype === "float32" && o.mixed_precision === "none",
      patch: () => ({ numbers: "mixed" }),
    },
    {
      label: (o) => `Lot de ${E.number(half(o.batch_size))}, accumulation doublée`,
      price: "Le lot effectif reste le même ; les petits lots occupent moins bien la machine.",
      when: (o) => training(o) && o.batch_size > 1,
      patch: (o) => ({ batch_size: String(half(o.batch_size)), gradient_accumulation: String(2 * o.gradient_accumulation) }),
    },
    {
      label: (o) => `Lot de 1, accumulation de ${E.number(o.batch_size * o.gradient_accumulation)}`,
      price: "Le lot effectif reste le même ; un exemple à la fois est le plus lent.",
      when: (o) => training(o) && o.batch_size > 2,
      patch: (o) => ({ batch_size: "1", gradient_accumulation: String(o.batch_size * o.gradient_accumulation) }),
    },
    {
      label: (o) => `Lot de ${E.number(half(o.batch_size))}`,
      price: "Moins d’exemples traités à la fois.",
      when: (o) => !training(o) && o.batch_size > 1,
      patch: (o) => ({ batch_size: String(half(o.batch_size)) }),
    },
    {
      label: (o) => `Séquences de ${E.number(half(o.sequence_length))}`,
      price: "Exemples tronqués ou découpés : du contexte se perd.",
      when: (o) => o.sequence_length >= 128,
      patch: (o) => ({ sequence_length: String(half(o.sequence_length)) }),
    },
    {
      label: () => "AdamW 8 bits",
      price: "Moments arrondis par blocs ; demande bitsandbytes.",
      when: (o) => training(o) && o.optimizer === "adamw",
      patch: () => ({ optimizer: "adamw-8bit" }),
    },
    {
      label: () => "Adafactor",
      price: "Second moment résumé par lignes et colonnes : d’autres réglages à trouver.",
      when: (o) => training(o) && ["adamw", "adamw-8bit", "sgd-momentum"].includes(o.optimizer),
      patch: () => ({ optimizer: "adafactor" }),
    },
    {
      label: () => "Perte par morceaux",
      price: "Les logits de chaque morceau sont recalculés : un peu plus lent.",
      when: (o) => training(o) && o.loss === "full",
      patch: () => ({ loss: "chunked" }),
    },
    {
      label: () => "Libérer les gradients",
      price: "Rien : c’est le réglage usuel.",
      when: (o) => training(o) && o.zero_grad === "keep",
      patch: () => ({ zero_grad: "free" }),
    },
    {
      label: () => "Attention sdpa",
      price: "Rien : le même résultat, aux arrondis près.",
      when: (o) => o.attention === "eager",
      patch: () => ({ attention: "sdpa" }),
    },
    {
      label: () => "Sans remplissage",
      price: "Regrouper ou emballer les exemples de même longueur.",
      when: (o) => o.padding,
      patch: () => ({ padding: "false" }),
    },
    {
      label: () => "Mise à jour tenseur par tenseur",
      price: "Une mise à jour un peu plus lente (foreach=False).",
      when: (o) => o.foreach,
      patch: () => ({ foreach: "false" }),
    },
    {
      label: (o) => `Rang ${E.number(half(o.lora_rank))}`,
      price: "Un adaptateur moins expressif.",
      when: (o) => o.method !== "full" && o.lora_rank > 1,
      patch: (o) => ({ lora_rank: String(half(o.lora_rank)) }),
    },
    {
      label: () => "Double quantification",
      price: "Un arrondi de plus, sur les échelles.",
      when: (o) => o.method === "qlora" && !o.double_quant,
      patch: () => ({ double_quant: "true" }),
    },
    {
      label: () => "Logits de la dernière position",
      price: "Rien, si seul le jeton suivant compte.",
      when: (o) => o.mode === "inference" && o.logits === "all",
      patch: () => ({ logits: "last" }),
    },
    {
      label: () => "Allocateur à seuil fixe",
      price: "Un peu de temps : le système rend et redonne les pages.",
      when: (o) => o.device === "cpu" && o.allocator === "default",
      patch: () => ({ allocator: "fixed" }),
    },
  ];

  /** The case with the form's values changed. @param {object} options @param {Record<string, string>} patch */
  function patched(options, patch) {
    const changed = { ...options };
    for (const [name, value] of Object.entries(patch)) {
      if (name === "numbers") {
        changed.dtype = value === "mixed" ? "float32" : value;
        changed.mixed_precision = value === "mixed" ? "bf16" : "none";
      } else if (typeof options[name] === "boolean") changed[name] = value === "true";
      else changed[name] = typeof options[name] === "number" ? Number(value) : value;
    }
    if (!["adamw", "sgd", "sgd-momentum"].includes(changed.optimizer)) changed.foreach = false;
    return changed;
  }

  /** Estimate without failing: what cannot be estimated, or only by its fixed bill, is not proposed. */
  function tried(estimate, options, alone = false) {
    try {
      const result = estimate(options);
      return result.source === "fixed" && !alone ? null : result;
    } catch {
      return null;
    }
  }

  /** The changes that lower the top of the interval, the largest gain first. @param {(o: object) => object} estimate */
  function changes(estimate, options, now) {
    const [, top] = E.span(now);
    return CHANGES.filter((change) => change.when(options))
      .map((change) => {
        const patch = change.patch(options);
        const result = tried(estimate, patched(options, patch), now.source === "fixed");
        return { label: change.label(options), price: change.price, patch, result, gain: result ? top - E.span(result)[1] : 0 };
      })
      .filter(({ gain }) => gain > 0.001 * top)
      .sort((a, b) => b.gain - a.gain);
  }

  /** The fewest changes, each time the best one, that make it fit; `null` when none of them do. */
  function together(estimate, options, now, available) {
    const taken = [];
    let [current, result] = [options, now];
    while (taken.length < 6 && E.verdict(result, available) !== "fits") {
      const [best] = changes(estimate, current, result).filter(({ patch }) => !("lora_rank" in patch));
      if (!best) return null;
      taken.push(best);
      current = patched(current, best.patch);
      result = best.result;
    }
    return E.verdict(result, available) === "fits" ? { taken, result } : null;
  }

  /** The largest value of a count that fits, by bisection; 0 when not even the smallest does. */
  function largest(fits, least, most) {
    if (!fits(least)) return 0;
    let [low, high] = [least, least];
    while (high < most && fits(Math.min(most, high * 2))) high = Math.min(most, high * 2);
    [low, high] = [high, Math.min(most, high * 2)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (fits(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /** How far the batch and the length can go in `available` bytes. */
  function limits(estimate, options, available) {
    const fits = (changed) => {
      const result = tried(estimate, { ...options, ...changed });
      return result !== null && E.verdict(result, available) === "fits";
    };
    return {
      batch: largest((batch_size) => fits({ batch_size }), 1, LARGEST),
      length: largest((sequence_length) => fits({ sequence_length }), options.mode === "training" ? 2 : 1, LONGEST),
    };
  }

  Object.assign(E, { changes, together, limits, CHANGES, LARGEST, LONGEST });
})();
