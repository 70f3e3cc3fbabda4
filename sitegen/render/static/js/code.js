/** Blocks of code: a button that copies. */
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

  /** @param {HTMLPreElement} block */
  function wire(block) {
    const frame = document.createElement("div");
    const button = document.createElement("button");
    frame.className = "code-block";
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copier";
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      button.textContent = (await copy(block)) ? "Copié" : "Copie refusée";
      setTimeout(() => { button.textContent = "Copier"; }, 2000);
    });
    block.replaceWith(frame);
    frame.append(button, block);
  }

  document.querySelectorAll("pre:has(> code)").forEach(wire);
})();
