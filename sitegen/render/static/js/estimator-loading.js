/** What comes from outside the form: the tables of a family, on demand, and files that are picked, dropped or pasted. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});

  /**
   * The tables of the families: classic scripts, so that they load from a disk too.
   * @param {Record<string, string>} addresses from the site's root, by family and variant @param {string} root
   */
  E.tables = (addresses, root) => {
    const loading = new Map();
    const settled = new Set();

    /** The script of a model's variant, or of another one of its family. @param {object} model */
    const named = ({ family, variant }) =>
      [`${family}-${variant}`, ...Object.keys(addresses).filter((name) => name.startsWith(`${family}-`))].find((name) => addresses[name]);

    /** Load a model's tables once; a failure leaves the estimate without them. @param {object} model @returns {Promise<void>} */
    function load(model) {
      const name = named(model);
      if (!name) return Promise.resolve();
      if (!loading.has(name)) loading.set(name, inserted(root + addresses[name]).then(() => void settled.add(name)));
      return loading.get(name);
    }

    /** Whether a model's tables are on their way. @param {object} model */
    const waits = (model) => Boolean(named(model)) && !settled.has(named(model)) && !of(model)?.[model.variant];

    function inserted(address) {
      return new Promise((resolve) => {
        const script = document.createElement("script");
        script.src = address;
        script.addEventListener("load", () => resolve());
        script.addEventListener("error", () => resolve());
        document.head.append(script);
      });
    }

    /** What `Sitegen.estimate` is given. @param {object} model */
    const of = (model) => window.Sitegen.tables?.[model.family];
    return { load, of, waits };
  };

  /**
   * Wire a zone that takes files.
   * @param {HTMLElement} host @param {string} name of the zone @param {(files: File[]) => void} take
   * @param {(text: string) => void} [read] a text dropped in place of a file
   */
  E.dropping = (host, name, take, read = () => {}) => {
    const zone = host.querySelector(`[data-drop="${name}"]`);
    const picker = host.querySelector(`[data-pick="${name}"]`);
    picker.addEventListener("change", () => {
      take([...picker.files]);
      picker.value = ""; // the same file may be chosen again
    });
    zone.addEventListener("dragover", (event) => {
      event.preventDefault();
      zone.classList.add("is-over");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("is-over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("is-over");
      if (event.dataTransfer.files.length) take([...event.dataTransfer.files]);
      else read(event.dataTransfer.getData("text"));
    });
  };

  const MOST_INDEX_BYTES = 20_000_000; // that of a mixture of hundreds of experts has some millions

  /** The names of the tensors that an index of weights (model.safetensors.index.json) lists; none when it is no index. */
  async function tensorsOf(file) {
    if (!file || file.size > MOST_INDEX_BYTES) return [];
    try {
      return Object.keys(JSON.parse(await file.text()).weight_map);
    } catch {
      return [];
    }
  }

  /**
   * The configuration's field: what is typed, pasted, picked or dropped, and never a text too large for the page.
   * @param {HTMLTextAreaElement} field
   * @param {(text: string, tensors?: string[]) => void} accept @param {(code: string, detail?: string) => void} refuse
   */
  E.configuring = (host, field, accept, refuse) => {
    const judge = (text) => (text.length > E.MOST_CHARACTERS ? refuse("too-large", E.size(text.length)) : accept(text));

    async function take(files) {
      const index = files.find((file) => file.name.endsWith(".index.json"));
      const [file] = files.filter((each) => each !== index);
      if (!file) return;
      if (file.size > E.MOST_CHARACTERS) return void refuse("too-large", E.size(file.size));
      const tensors = await tensorsOf(index);
      await file.text().then((text) => accept(text, tensors), () => refuse("unreadable"));
    }

    E.dropping(host, "config", take, judge);
    field.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text") ?? "";
      if (text.length <= E.MOST_CHARACTERS) return; // the field takes it itself
      event.preventDefault();
      judge(text);
    });
    field.addEventListener("input", (event) => {
      if (field.value.length <= E.MOST_CHARACTERS) return;
      event.stopPropagation(); // what typing cannot have done
      const text = field.value;
      field.value = "";
      judge(text);
    });
  };
})();
