/** The estimator's French: sizes, sentences, and what is said of each fault. Nothing here touches the page. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const NO_BREAK = "\u00a0";
  const locale = document.documentElement.dataset.locale;
  const canadian = locale === "fr-CA";
  const GIGA = 1e9;
  const MEGA = 1e6;

  /** Formatters by number of decimals: making one costs more than using it. */
  const formatters = [0, 1, 2, 3].map(
    (digits) => new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  );

  /** @param {number} value @param {number} [digits] @returns {string} exactly that many decimals, a true minus sign */
  const number = (value, digits = 0) => formatters[digits].format(value).replace("-", "\u2212");

  /** Spaces that do not break before : ; ! ? and inside guillemets, in the site's locale. @param {string} text */
  const spaced = (text) =>
    text
      .replaceAll(" :", `${NO_BREAK}:`)
      .replace(/ ([;!?])/g, canadian ? "$1" : "\u202f$1")
      .replaceAll("« ", `«${NO_BREAK}`)
      .replaceAll(" »", `${NO_BREAK}»`);

  /** A size as the whole site writes it: Mo, Go from 2 Go on, Ko below 1 Mo. @param {number} bytes */
  function size(bytes) {
    if (bytes !== 0 && Math.abs(bytes) < MEGA) return `${number(bytes / 1000)}${NO_BREAK}Ko`;
    return Math.abs(bytes) >= 2 * GIGA
      ? `${number(bytes / GIGA, 2)}${NO_BREAK}Go`
      : `${number(bytes / MEGA)}${NO_BREAK}Mo`;
  }

  /** A size in Go without its unit, for columns. @param {number} bytes */
  const gigabytes = (bytes) => number(bytes / GIGA, Math.abs(bytes) < 100 * GIGA ? 2 : 1);

  /** @param {number} share @param {number} [digits] */
  const percent = (share, digits = 0) => `${number(100 * share, digits)}${NO_BREAK}%`;

  /** @param {number} count @param {string} word @param {string} [many] */
  const counted = (count, word, many = `${word}s`) => `${number(count)}${NO_BREAK}${count < 2 ? word : many}`;

  /** What each code of `Sitegen.dimensions` and `Sitegen.estimate` means; `{field}` and `{detail}` are theirs. */
  const FAULTS = {
    "not-json": "Ce texte n’est pas du JSON : {detail} Copiez le fichier config.json entier, accolades comprises.",
    "not-an-object": "Ce JSON n’est pas un objet : un config.json commence par une accolade.",
    "too-large": "Ce fichier pèse {detail} : un config.json en pèse quelques kilo-octets. Est-ce le bon fichier ?",
    "unreadable": "Ce fichier n’a pas pu être lu.",
    "unknown-family": "L’architecture « {detail} » n’est pas de celles qui ont été tracées. « Paramètres » en donne la facture fixe, et sitegen estimate la trace.",
    "missing-field": "Il manque « {field} » à cette configuration, ou sa valeur est nulle.",
    "bad-field": "La valeur de « {field} » ne convient pas : {detail}.",
    "too-many-layers": "« {field} » vaut {detail} : aucun modèle n’a tant de couches.",
    "vision-only": "Cette configuration est celle d’un modèle de vision, sans modèle de langage à entraîner.",
    "contradictory-tie": "« tie_word_embeddings » n’a pas la même valeur ici et dans « text_config ». Gardez l’une des deux.",
    "tied-with-a-head": "« tie_word_embeddings » vaut true, et les poids ont pourtant une matrice de sortie à part (lm_head.weight). Corrigez la clé.",
    "untied-without-a-head": "« tie_word_embeddings » vaut false, et les poids n’ont pourtant pas de matrice de sortie (lm_head.weight). Corrigez la clé.",
    "dtype-conflict": "« torch_dtype » et « dtype » diffèrent : ce sont deux noms du même réglage. Gardez l’une des deux clés.",
    "quantised": "Ces poids sont déjà quantifiés (« quantization_config »). Donnez la configuration du modèle d’origine : la méthode QLoRA le quantifie elle-même.",
    "needs-eager": "Cette architecture demande l’attention « eager » : « sdpa » ne calcule pas le plafonnement de ses scores. Choisissez eager.",
    "no-table": "Les tables de cette architecture n’ont pas pu être chargées : seule la facture fixe est montrée.",
    "unknown-target": "Cette architecture n’a pas de module « {detail} ».",
  };

  /** What is worth knowing of a model that is accepted. */
  const NOTES = {
    "nested-text-config": "Le modèle de langage est celui de « text_config » ; la partie visuelle n’est pas comptée.",
  };

  /** Why an estimate is no exact trace: of what the tables say nothing, or not quite. */
  const REASONS = {
    "parameters-alone": "Sans la configuration du modèle, seule la facture fixe est connue.",
    "no-table": "Ce cas n’a pas été tracé : seule la facture fixe est connue. La commande sitegen estimate le trace.",
    "unsupported-configuration": "Cette configuration a des réglages que les traces ne connaissent pas.",
    "other-variant": "Cette variante de l’architecture n’a pas été tracée ; le calcul part de la plus proche.",
    "padding": "Le remplissage n’a pas été tracé.",
    "chunked-loss": "La perte par morceaux n’a pas été tracée.",
    "mixed-precision": "La précision mixte n’a pas été tracée.",
    "optimizer": "Cet optimiseur n’a pas été tracé.",
    "attention": "Cette attention n’a pas été tracée pour cette architecture.",
    "adapter": "L’adaptateur n’a pas été tracé hors entraînement.",
    "small-tensors": "De si petits tenseurs restent en partie dans le tas du système, ce que seule une trace compte.",
    "window-cache": "Le cache d’une attention à fenêtre glissante n’a pas été tracé.",
    "float16": "Le format float16 n’a pas été tracé ; bfloat16 l’a été.",
    "no-table-targets": "Ces modules ciblés n’ont pas été tracés ensemble.",
    "no-table-logits": "Ces logits n’ont pas été tracés.",
    "no-table-beyond-window": "Des séquences plus longues que la fenêtre glissante n’ont pas été tracées ici.",
    "no-table-double-quant": "La double quantification n’a pas été tracée ici.",
    "no-table-one-sequence": "Le lot de cette taille n’a pas été tracé ici.",
    "no-table-dimension": "Les tables ne descendent pas à une dimension aussi petite.",
    "no-table-depth": "Ce nombre de couches n’a pas été tracé ici.",
    "reentrant": "L’ancienne variante des points de contrôle n’a pas été tracée.",
    "modules-to-save": "Les modules entraînés en entier à côté de l’adaptateur n’ont pas été tracés.",
    "no-table-dtype": "Ce format de nombres n’a pas été tracé ici.",
  };

  /** A text with its holes filled. @param {string} text @param {{field?: string, detail?: unknown}} with_ */
  const filled = (text, { field = "", detail = "" }) => text.replaceAll("{field}", field).replaceAll("{detail}", String(detail));

  /** @param {{code?: string, field?: string, detail?: unknown}} fault @returns {string} one sentence or two */
  function complaint(fault) {
    return spaced(filled(FAULTS[fault.code] ?? "Cette configuration n’a pas pu être lue : {detail}.", fault));
  }

  /** @param {string} code */
  const note = (code) => (NOTES[code] ? spaced(NOTES[code]) : "");
  /** @param {string} code */
  const reason = (code) => spaced(REASONS[code] ?? `Ce cas n’a pas été tracé (${code}).`);

  const { where, coexisting, methods, weighty } = window.Sitegen.data.words;

  /** What coexists at the peak, from what is there. @param {string} phase @param {Record<string, number>} at bytes by component */
  function together(phase, at, peak, options) {
    const weighs = (name) => (at[name] ?? 0) > weighty * peak;
    if (phase === "optimizer_step") return "step";
    if (phase === "backward") return weighs("logits_and_loss") ? "loss" : options.gradient_checkpointing ? "recompute" : "backward";
    if (options.mode === "training") return "kept";
    return weighs("kv_cache") ? "cache" : "layer";
  }

  /** The phase that peaks, and why, in one sentence; then the heaviest component. */
  function why(result, options, names) {
    const at = result.components;
    const [heaviest, bytes] = Object.entries(at).reduce((most, entry) => (entry[1] > most[1] ? entry : most), ["weights", 0]);
    const step = options.mode === "training" && result.phase.step ? `, étape ${result.phase.step}` : "";
    const sentence = `Le pic survient ${where[result.phase.name]}${step} : ${coexisting[together(result.phase.name, at, result.peak_bytes, options)]}.`;
    return spaced(`${sentence} Le poste le plus lourd : ${names[heaviest].toLowerCase()}, ${percent(bytes / result.peak_bytes)}.`);
  }

  /** One line for what is estimated. @param {object} model @param {object} o @param {Record<string, string>} values @param {object} data */
  function recap(model, o, values, data) {
    const words = [model.name];
    const trains = o.mode === "training";
    if (!trains) words.push(data.modes[o.mode].toLowerCase());
    if (trains || o.method !== "full") words.push(methods[o.method]);
    if (o.method !== "full") words.push(`rang ${o.lora_rank}`);
    words.push(values.numbers === "mixed" ? "précision mixte" : o.dtype);
    words.push(`${number(o.batch_size)}${NO_BREAK}× ${number(o.sequence_length)}${NO_BREAK}jetons`);
    if (trains && o.optimizer !== "adamw") words.push(data.optimizers[o.optimizer]);
    if (o.gradient_checkpointing) words.push("points de contrôle");
    return words.join(" · ");
  }

  Object.assign(E, { recap, NO_BREAK, number, spaced, size, gigabytes, percent, counted, complaint, note, reason, why });
})();
