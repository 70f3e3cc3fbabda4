/** Blocks of code: a button that copies, and says so. */
(() => {
  "use strict";

  /** Copy through a selection, where the clipboard is not offered. @param {HTMLElement} block */
  function copySelection(block) {
    const selection = getSelection();
    selection.selectAllChildren(block);
    const done = document.execCommand("copy");
    selection.removeAllRanges();
    return done;
  }

  /** @param {HTMLElement} block @returns {Promise<boolean>} whether the text is in the clipboard */
  async function copy(block) {
    try {
      await navigator.clipboard.writeText(block.textContent);
      return true;
    } catch {
      return copySelection(block);
    }
  }

  /** What a block is, after the verb. @param {HTMLElement} block */
  function named(block) {
    const language = block.querySelector("code").className.replace("language-", "");
    return { sh: "la commande", python: "le script" }[language] ?? "le texte";
  }

  /** @param {string} tag @param {string} className @param {string} text */
  function element(tag, className, text) {
    const made = document.createElement(tag);
    made.className = className;
    made.textContent = text;
    return made;
  }

  /** @param {HTMLPreElement} block */
  function wire(block) {
    const frame = element("div", "code-block", "");
    const button = element("button", "copy", "");
    const status = element("span", "visually-hidden", "");
    const offer = () => button.replaceChildren("Copier", element("span", "visually-hidden", ` ${named(block)}`));
    button.type = "button";
    status.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      button.textContent = (await copy(block)) ? "Copié" : "Copie refusée";
      status.textContent = button.textContent;
      setTimeout(() => {
        offer();
        status.textContent = "";
      }, 2000);
    });
    offer();
    block.replaceWith(frame);
    frame.append(button, status, block);
  }

  document.querySelectorAll("pre:has(> code)").forEach(wire);
})();
