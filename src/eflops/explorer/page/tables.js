"use strict";
// Tables: real ones, sorted by the buttons in their heads, long ones cut with a button for the rest.
(() => {
  const { h } = Explorer;
  const MOST = 200;

  const compare = (one, other) => {
    if (one === null || one === undefined) return 1;
    if (other === null || other === undefined) return -1;
    return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
  };

  // columns: {name, value(row), show(row) -> node or text, number}; a column with `head` is the row's heading.
  Explorer.table = ({ caption, columns, rows, dense = true, most = MOST }) => {
    let order = rows.slice();
    let shown = most;
    const body = h("tbody");
    const cell = (column, row) => {
      const inner = column.show ? column.show(row) : Explorer.number(column.value(row));
      return column.head ? h("th", { scope: "row" }, inner) : h("td", { class: column.number ? "number" : null }, inner);
    };
    const more = h("button", { type: "button", click: () => { shown = Infinity; fill(); } });
    const fill = () => {
      body.replaceChildren(...order.slice(0, shown).map((row) => h("tr", {}, columns.map((column) => cell(column, row)))));
      more.hidden = order.length <= shown;
      more.textContent = `Show all ${order.length.toLocaleString("en")} rows`;
    };
    const heads = columns.map((column) => {
      const head = h("th", { scope: "col", class: column.number ? "number" : null }, h("button", { type: "button", click: () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        order = rows.slice().sort((one, other) => (down ? -1 : 1) * compare(column.value(one), column.value(other)));
        fill();
      } }, column.name));
      return head;
    });
    fill();
    return h("div", {}, h("div", { class: "grid", tabindex: "0", role: "region", "aria-label": caption },
      h("table", { class: dense ? "dense" : null }, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body)), more);
  };

  // How many times each value stands in a list; runs with the same settings share one object.
  const tally = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  };
  const add = (counts, text, count) => counts.set(text, (counts.get(text) ?? 0) + count);

  // What all runs share and what differs between them, by name.
  Explorer.facts = (runs, members, name) => {
    const tallies = new Map();
    for (const [settings, count] of tally(members.map((place) => Explorer.at(runs[name], place)))) {
      for (const [key, value] of Object.entries(settings)) {
        add(tallies.get(key) ?? tallies.set(key, new Map()).get(key), Explorer.number(value), count);
      }
    }
    const complete = (counts) => counts.size === 1 && [...counts.values()][0] === members.length;
    const shared = [...tallies].filter(([, counts]) => complete(counts)).map(([key, counts]) => [Explorer.words(key), [...counts.keys()][0]]);
    const apart = [...tallies].filter(([, counts]) => !complete(counts))
      .map(([key, counts]) => [Explorer.words(key), [...counts].map(([text, count]) => `${text} (${count} runs)`).join(", ")]);
    return { shared, apart };
  };

  // Distinct values among runs as text, with how many runs have each.
  Explorer.distinct = (places, read) => {
    const counts = new Map();
    for (const [value, count] of tally(places.map(read))) {
      add(counts, typeof value === "object" && value !== null ? Object.entries(value).map(([key, each]) => `${key} ${each}`).join(", ") : String(value), count);
    }
    return [...counts];
  };
})();
