/**
 * The search of the whole site, without a server: the index is a script of this site, loaded when the field is first used. Accents and
 * case do not matter; every word typed must begin a word of what is found.
 */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const form = document.querySelector("[data-search]");
  if (!form) return;
  const [field, list, status] = ["input", "[data-search-results]", "[role=status]"].map((part) => form.querySelector(part));
  const { root, index } = form.dataset;
  const MOST = 8;
  const AROUND = 70;
  const PAUSE_MS = 500;
  const WEIGHTS = [12, 5, 1]; // a word of the page's title, of the section's, of the text
  let pages = null;
  let loading = null;
  let timer = 0;

  /** @param {string} text @returns {string} as it is compared: no accents, no capitals */
  const plain = (text) =>
    text
      .toLowerCase()
      .replaceAll("œ", "oe")
      .replaceAll("æ", "ae")
      .normalize("NFD")
      .replace(/\p{M}/gu, "");
  const wordsOf = (text) => plain(text).match(/[\p{L}\p{N}]+/gu) ?? [];

  /** Load the index once; a failed load may be tried again. @returns {Promise<void>} */
  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = index;
      script.addEventListener("load", () => {
        pages = window.SitegenIndex.flatMap(([href, title, sections]) =>
          sections.map(([anchor, heading, text]) => ({
            href: anchor ? `${href}#${anchor}` : href,
            texts: [title, heading, text],
            words: [title, heading, text].map(wordsOf),
          })),
        );
        resolve();
      });
      script.addEventListener("error", () => {
        loading = null;
        script.remove();
        reject(new Error("search"));
      });
      document.head.append(script);
    });
    return loading;
  }

  /** How well a section answers: 0 when a word is missing. @param {string[]} asked */
  function score({ words }, asked) {
    let total = 0;
    for (const word of asked) {
      const found = words.map((list) => list.some((each) => each.startsWith(word)));
      if (!found.some(Boolean)) return 0;
      total += found.reduce((sum, here, place) => sum + (here ? WEIGHTS[place] : 0), 0);
      if (words[0].includes(word) || words[1].includes(word)) total += 2;
    }
    return total;
  }

  /** The best answers; of two that are as good, the one that comes first on the site. @param {string[]} asked */
  function answers(asked) {
    return pages
      .map((section) => ({ section, score: score(section, asked) }))
      .filter((each) => each.score > 0)
      .sort((one, other) => other.score - one.score)
      .map((each) => each.section);
  }

  /** Where the first word asked begins in a text; 0 when it is not there. */
  function place(text, asked) {
    const match = [...text.matchAll(/[\p{L}\p{N}]+/gu)].find(([word]) => asked.some((each) => plain(word).startsWith(each)));
    return match ? match.index : 0;
  }

  /** Some words around what was found. */
  function excerpt(text, asked) {
    const start = Math.max(0, place(text, asked) - AROUND);
    const end = start + 3 * AROUND;
    const cut = text.slice(start, end);
    const from = start ? `… ${cut.replace(/^\S*\s/u, "")}` : cut;
    return end < text.length ? `${from.replace(/\s\S*$/u, "")} …` : from;
  }

  function item({ href, texts: [title, heading, text] }, asked) {
    const link = document.createElement("a");
    link.href = root + href;
    const name = document.createElement("span");
    name.className = "search-name";
    name.textContent = heading ? `${title} › ${heading}` : title;
    const words = document.createElement("span");
    words.className = "search-text";
    words.textContent = excerpt(text, asked);
    link.append(name, words);
    const line = document.createElement("li");
    line.append(link);
    return line;
  }

  function say(message) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      status.textContent = message;
    }, PAUSE_MS);
  }

  const counted = (count) => (count === 0 ? "Aucun résultat." : count === 1 ? "Un résultat." : `${count} résultats.`);

  function close() {
    list.hidden = true;
    say("");
  }

  function message(text) {
    const line = document.createElement("li");
    line.className = "search-none";
    line.textContent = text;
    list.replaceChildren(line);
    list.hidden = false;
  }

  async function search() {
    const typed = field.value;
    const asked = wordsOf(typed);
    if (asked.length === 0) return close();
    try {
      await load();
    } catch {
      return message("L’index n’a pas pu être chargé.");
    }
    if (typed !== field.value) return undefined;
    const found = answers(asked);
    list.replaceChildren(...found.slice(0, MOST).map((section) => item(section, asked)));
    if (found.length === 0) message("Aucun résultat.");
    list.hidden = false;
    return say(counted(Math.min(found.length, MOST)));
  }

  /** Up and down through the field and the answers. */
  function move(event) {
    const stops = [field, ...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const here = stops.indexOf(document.activeElement);
    if (step && !list.hidden && here >= 0) {
      event.preventDefault();
      stops[Math.max(0, Math.min(stops.length - 1, here + step))].focus();
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
      field.focus();
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("keydown", move);
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) close();
  });
  field.addEventListener("focus", () => {
    load().catch(() => {});
    if (field.value) search();
  });
  field.addEventListener("input", search);
});
