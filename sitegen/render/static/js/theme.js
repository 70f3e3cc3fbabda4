/**
 * The reader's theme. This script runs before the first paint, so that a remembered choice never flashes; the button itself
 * is wired once the document is there.
 */
(() => {
  "use strict";

  const KEY = "sitegen-theme";
  const CHOICES = ["auto", "light", "dark"];
  const NAMES = { auto: "automatique", light: "clair", dark: "sombre" };
  const root = document.documentElement;

  /** The remembered choice; storage may be refused, and the page must work without it. */
  function remembered() {
    try {
      const choice = localStorage.getItem(KEY);
      return CHOICES.includes(choice) ? choice : "auto";
    } catch {
      return "auto";
    }
  }

  /** @param {string} choice one of CHOICES */
  function remember(choice) {
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // The choice then lasts as long as the page.
    }
  }

  /** @param {string} choice one of CHOICES */
  function apply(choice) {
    if (choice === "auto") delete root.dataset.theme;
    else root.dataset.theme = choice;
  }

  /** Show the button and let it go round the three choices. */
  function wire() {
    const button = document.querySelector("[data-theme-toggle]");
    let choice = remembered();
    const show = () => {
      button.querySelector("[data-theme-name]").textContent = NAMES[choice];
    };
    show();
    button.hidden = false;
    button.addEventListener("click", () => {
      choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
      apply(choice);
      remember(choice);
      show();
    });
  }

  root.dataset.js = "";
  apply(remembered());
  document.addEventListener("DOMContentLoaded", wire);
})();
