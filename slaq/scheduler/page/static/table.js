// A table that is sorted by its headings and keeps its rows. Only cells whose text changed are touched, and only in rows
// that are in sight or were never filled: of a thousand rows most are below the edge of the screen.

import { h, put } from "./dom.js";

export class Table {
  // columns: {key, title, cell: row => text, sort: row => value, number, link: row => address, hide}
  constructor(caption, columns, sorted, least) {
    this.columns = columns;
    this.sorted = sorted;
    this.rows = new Map();
    this.body = h("tbody");
    this.least = least;
    this.heads = columns.map((column) =>
      h("th", { scope: "col", class: classes(column) }, h("button", { type: "button", onclick: () => this.sortBy(column.key) }, column.title)));
    this.element = h("div", { class: "scroll" }, h("table", {}, h("caption", { class: "sr" }, caption), h("thead", {}, h("tr", {}, this.heads)), this.body));
    this.changed = () => {};
    this.ordered = [];
    this.scrolled = () => this.paint();
    addEventListener("scroll", this.scrolled, { passive: true });
    addEventListener("resize", this.scrolled, { passive: true });
  }

  close() {
    removeEventListener("scroll", this.scrolled);
    removeEventListener("resize", this.scrolled);
  }

  sortBy(key) {
    this.sorted = this.sorted === key ? `-${key}` : key;
    this.changed();
  }

  show(rows) {
    const field = this.sorted.replace("-", "");
    const column = this.columns.find((each) => each.key === field);
    const sign = this.sorted.startsWith("-") ? -1 : 1;
    const value = column.sort ?? column.cell;
    const ordered = rows.map((row) => [value(row), row]).sort(([a, ra], [b, rb]) =>
      (a === null) - (b === null) || sign * (a < b ? -1 : a > b ? 1 : 0) || (ra.id < rb.id ? -1 : 1)).map(([, row]) => row);
    this.heads.forEach((head, place) => {
      const own = this.columns[place].key === field;
      head.setAttribute("aria-sort", own ? (sign > 0 ? "ascending" : "descending") : "none");
    });
    const seen = new Set();
    let before = null;
    for (const row of ordered) {
      seen.add(row.id);
      let kept = this.rows.get(row.id);
      if (!kept) {
        this.rows.set(row.id, (kept = this.make(row)));
        this.fill(kept, row);
      }
      if (before ? before.nextSibling !== kept.element : this.body.firstChild !== kept.element) {
        before ? before.after(kept.element) : this.body.prepend(kept.element);
      }
      before = kept.element;
    }
    for (const [id, kept] of this.rows) {
      if (!seen.has(id)) {
        kept.element.remove();
        this.rows.delete(id);
      }
    }
    this.ordered = ordered;
    this.paint();
  }

  paint() {
    if (!this.ordered.length || !this.body.isConnected) return;
    const { top, height } = this.body.getBoundingClientRect();
    const each = Math.max(height / this.ordered.length, 1);
    const first = Math.max(Math.floor(-top / each) - 10, 0);
    for (const row of this.ordered.slice(first, Math.ceil((innerHeight - top) / each) + 10)) this.fill(this.rows.get(row.id), row);
  }

  fill(kept, row) {
    this.columns.forEach((column, place) => {
      const text = column.cell(row);
      if (kept.texts[place] === text) return;
      kept.texts[place] = text;
      put(kept.places[place], text);
      if (column.mark) kept.places[place].dataset.mark = column.mark(row);
    });
  }

  make(row) {
    const places = [];
    const cells = this.columns.map((column, place) => {
      let inner = column.link ? h("a", { href: column.link(row) }) : h("span");
      places.push(inner);
      if (column.own) {
        const text = h("bdi", { class: "name" });
        inner.append(text);
        places[places.length - 1] = text;
      }
      if (column.mark) inner.className = "state";
      return h(place === 0 ? "th" : "td", { class: classes(column), scope: place === 0 ? "row" : null }, inner);
    });
    return { element: h("tr", {}, cells), places, texts: [] };
  }
}

const classes = (column) => [column.number && "number", column.wide && "wide", column.key].filter(Boolean).join(" ");
