/** The seal of a record (sitegen/records/store.py): the SHA-256 of its canonical JSON without the seal, and a newline. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\]]/g;
  const SEAL = "content_sha256";

  /**
   * A JSON text as Python writes it: keys sorted, two spaces a level. Numbers stay as the text has them, for 1.0 is not 1 there.
   * @param {string} text sound JSON @param {string} without a key of the whole to leave out
   */
  function canonical(text, without) {
    const tokens = text.match(TOKEN);
    let place = 0;
    const quoted = (token) => JSON.stringify(JSON.parse(token));
    const enclosed = ([open, close], lines, indent) => (lines.length ? `${open}\n${lines.map((line) => `${indent}  ${line}`).join(",\n")}\n${indent}${close}` : open + close);

    function object(indent) {
      const members = new Map();
      while (tokens[place] !== "}") {
        const key = JSON.parse(tokens[place++]);
        members.set(key, value(`${indent}  `));
      }
      place += 1;
      if (indent === "") members.delete(without);
      return enclosed("{}", [...members.keys()].sort().map((key) => `${JSON.stringify(key)}: ${members.get(key)}`), indent);
    }

    function list(indent) {
      const items = [];
      while (tokens[place] !== "]") items.push(value(`${indent}  `));
      place += 1;
      return enclosed("[]", items, indent);
    }

    function value(indent) {
      const token = tokens[place++];
      if (token === "{") return object(indent);
      if (token === "[") return list(indent);
      return token.startsWith('"') ? quoted(token) : token;
    }

    return value("");
  }

  /**
   * Whether a record is as it was written.
   * @param {string} text of the file @returns {Promise<boolean | undefined>} `undefined` where the browser computes no hash: on a page
   *   that came neither by https nor from a disk
   */
  async function isSealed(text) {
    if (!window.crypto?.subtle) return undefined;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${canonical(text, SEAL)}\n`));
    const hash = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hash === JSON.parse(text)[SEAL];
  }

  Object.assign(E, { isSealed });
})();
