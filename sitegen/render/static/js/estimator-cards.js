/** The verdict on every card, and the choice of one. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const OF_DEVICE = { cuda: ["consumer", "workstation", "data-centre"], cpu: ["ram", "apple"] };
  const FREE = "autre";

  /** Cards that a device can be, the smallest first. */
  const cardsOf = (cards, device) => cards.filter((card) => OF_DEVICE[device].includes(card.kind)).sort((a, b) => a.bytes - b.bytes);

  /** The choice of a card, grouped by kind. @param {HTMLSelectElement} select */
  E.cardChoice = (select, { cards, kinds }) => {
    /** Offer the cards of a device; keep the one chosen when it is among them. @param {string} device */
    function offer(device) {
      const before = select.value;
      const groups = OF_DEVICE[device].map((kind) => {
        const group = document.createElement("optgroup");
        group.label = kinds[kind];
        const own = cards.filter((card) => card.kind === kind);
        group.append(...own.map((card) => new Option(`${card.name} · ${E.size(card.bytes)}`, card.key)));
        return group;
      });
      select.replaceChildren(...groups, new Option("Autre capacité", FREE));
      select.value = before;
      if (select.selectedIndex < 0) select.value = device === "cuda" ? "rtx-4090" : "ram-16";
    }

    /** The card chosen, or none when the capacity is typed. */
    const chosen = () => cards.find((card) => card.key === select.value);
    return { offer, chosen };
  };

  /** The table of verdicts. */
  E.cardTable = (host, { cards, kinds }) => {
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const [body, lead, filter] = [part("cards"), part("cards-lead"), part("filter")];
    const rows = new Map(cards.map((card) => [card, row(card)]));
    let shown = "";
    let kind = "all";
    let latest = null;

    function row(card) {
      const heading = E.element("th", "", card.name);
      heading.scope = "row";
      if (card.note) heading.append(E.element("small", "card-note", E.spaced(card.note.replaceAll("'", "’"))));
      const capacity = E.element("td", "numeric", `${card.exact ? "" : "≈ "}${E.number(card.bytes / E.BILLION, 1)}`);
      const rest = E.element("td", "numeric");
      const told = E.told("unknown");
      return { line: E.element("tr", "", heading, capacity, rest, E.element("td", "", told)), rest, told };
    }

    /** The filter's choices follow the device. */
    function offer(device) {
      const choices = [["all", "Toutes"], ...OF_DEVICE[device].map((key) => [key, kinds[key]])];
      filter.replaceChildren(
        ...choices.map(([key, name], index) => {
          const input = E.element("input", "");
          Object.assign(input, { type: "radio", name: "kind", value: key, checked: index === 0 });
          return E.element("label", "segment", input, E.element("span", "", name));
        }),
      );
      kind = "all";
    }

    function lay(device) {
      const listed = cardsOf(cards, device).filter((card) => kind === "all" || card.kind === kind);
      body.replaceChildren(...listed.map((card) => rows.get(card).line));
    }

    /** Write the verdicts. @param {object} result @param {{used: number, card?: object}} place @param {string} device */
    function update(result, place, device) {
      latest = [result, place, device];
      if (shown !== device) {
        shown = device;
        offer(device);
        lay(device);
      }
      const [, high] = E.span(result);
      let smallest = null;
      for (const card of cardsOf(cards, device)) {
        const { line, rest, told } = rows.get(card);
        const available = card.bytes - place.used;
        const key = E.verdict(result, available);
        if (key === "fits") smallest ??= card;
        E.retell(told, key);
        E.write(rest, E.number((available - high) / E.BILLION, 1));
        line.classList.toggle("chosen", card === place.card);
      }
      E.write(lead, E.spaced(sentence(result, smallest)));
    }

    function sentence(result, smallest) {
      if (result.source === "fixed") return "La facture fixe est un plancher : elle écarte des cartes, elle n’en promet aucune.";
      if (smallest) return `La plus petite où cela tient : ${smallest.name}, ${E.size(smallest.bytes)}.`;
      return "Cela ne tient sur aucune de ces cartes : il faut changer quelque chose, ou partager entre plusieurs cartes.";
    }

    filter.addEventListener("change", (event) => {
      kind = event.target.value;
      lay(shown);
      if (latest) update(...latest);
    });
    return { update };
  };

  Object.assign(E, { FREE });
})();
