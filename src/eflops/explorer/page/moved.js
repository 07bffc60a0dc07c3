"use strict";
// What moved between two runs of the pipeline: verdicts, conclusions, and cells in units of their spread.
(() => {
  const { h } = Explorer;

  // The cell that a move is about; moves name their row by its keys in words.
  const cellOf = (index, place, row, column) => {
    const product = index.products.find((each) => each.file === place);
    const at = product ? product.rows.findIndex((values) => product.keys.map((key, key_at) => `${key} ${values[key_at] ?? "nan"}`).join(", ") === row || matches(product, values, row)) : -1;
    return at < 0 || !product.columns.includes(column) ? null : Explorer.cellAddress(product, at, product.columns.indexOf(column));
  };

  const matches = (product, values, row) => {
    const words = row.split(", ");
    return words.length === product.keys.length && words.every((word, place) => word.startsWith(`${product.keys[place]} `) && Explorer.same(values[place], word.slice(product.keys[place].length + 1)));
  };

  Explorer.views.moved = async () => {
    const [index, moved] = await Promise.all([Explorer.part("index"), Explorer.part("moved")]);
    const moves = moved.moves.map(([place, row, column, before, after, spreads]) => ({ place, row, column, before, after, spreads, address: cellOf(index, place, row, column) }));
    const changes = (name, title) => (moved[name].length ? [h("h2", {}, `${title} (${moved[name].length})`), Explorer.table({ caption: title, rows: moved[name], columns: [
      { name: "where", head: true, value: (change) => change.name, show: (change) => (name === "verdicts" ? h("a", { href: Explorer.address("scorecard", { line: change.name }) }, change.name) : change.name) },
      { name: "before", value: (change) => change.before, show: (change) => (name === "verdicts" ? Explorer.badge(change.before) : change.before) },
      { name: "after", value: (change) => change.after, show: (change) => (name === "verdicts" ? Explorer.badge(change.after) : change.after) }] })] : []);
    const method = Object.keys(index.methods)[0];
    const points = moves.filter((move) => move.spreads !== null).slice(0, 3000).map((move) => ({ x: move.place.replace(".csv", ""), y: move.spreads, method, href: move.address ?? undefined, title: `${move.place}: ${move.row}, ${move.column}: ${Explorer.number(move.before)} to ${Explorer.number(move.after)}` }));
    return [Explorer.trail(["Changes"]), h("h1", {}, "Changes"), h("p", {}, "From ", h("code", {}, moved.before), " to ", h("code", {}, moved.after), ". ", moved.summary),
      ...changes("verdicts", "Verdicts that changed"), ...changes("conclusions", "Conclusions that changed"),
      points.length ? h("h2", {}, "Moves in units of the cell's spread") : null, points.length ? Explorer.spreads(points) : null,
      moves.length ? h("h2", {}, `Cells that moved (${moves.length})`) : h("p", {}, "No cell moved."),
      moves.length ? Explorer.table({ caption: "The largest moves first", rows: moves, columns: [
        { name: "file", head: true, value: (move) => move.place }, { name: "row", value: (move) => move.row }, { name: "column", value: (move) => move.column, show: (move) => (move.address ? h("a", { href: move.address }, move.column) : move.column) },
        { name: "before", number: true, value: (move) => move.before }, { name: "after", number: true, value: (move) => move.after }, { name: "in spreads", number: true, value: (move) => move.spreads }] }) : null,
      ...changes("presence", "Added and removed")];
  };
})();
