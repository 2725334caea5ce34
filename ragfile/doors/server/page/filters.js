/* Filters from the facets of a collection: its tags and metadata fields. */

import { h, icon } from "./dom.js";

const SEARCHED = 10; // a list with this many values gets a search box
const MOST = 6; // fields
const TIME = /^\d{4}-\d\d-\d\dT\d\d:/;
const RANGE = /^(-?[\d.e+]*)\.\.(-?[\d.e+]*)$/;

export class Filters {
  /** `changed` is called after each choice. */
  constructor(place, changed) {
    this.place = place;
    this.changed = changed;
    this.facets = { tags: [], fields: [] };
    this.tags = [];
    this.fields = Object.create(null);
    document.addEventListener("click", (event) => this.shut(event.target));
    place.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.escape(event);
    });
  }

  /** Sets the facets of a collection and the chosen values. */
  set(facets, { documents, chunks }, { tags, fields }) {
    const useful = facets.fields.filter((field) => isUseful(field, documents) || fields[field.name]);
    const hasTags = facets.tags.some((tag) => tag.chunks < chunks) || tags.length > 0;
    this.facets = { tags: hasTags ? facets.tags : [], fields: useful.slice(0, MOST) };
    [this.tags, this.fields] = [tags, Object.assign(Object.create(null), fields)];
    this.draw();
  }

  get isActive() {
    return this.tags.length > 0 || Object.values(this.fields).some((values) => values.length);
  }

  /** Returns the `where` filter of a search, or undefined. */
  where() {
    const asked = Object.entries(this.fields).filter(([, values]) => values.length);
    const all = asked.map(([name, values]) => [name, this.condition(name, values)]);
    return all.length ? Object.fromEntries(all) : undefined;
  }

  condition(name, values) {
    const range = values.length === 1 && values[0].match(RANGE);
    if (range) return between(range[1], range[2]);
    const known = this.facets.fields.find((field) => field.name === name)?.values ?? [];
    const typed = new Map(known.map(({ value }) => [String(value), value]));
    return { $in: values.map((value) => typed.get(value) ?? value) };
  }

  clear() {
    [this.tags, this.fields] = [[], Object.create(null)];
    this.draw();
    this.changed();
  }

  // ------------------------------------------------------------------------------------- drawing ---

  draw() {
    const menus = this.facets.fields.map((field) =>
      field.values ? this.list(field.name, field.values) : this.range(field));
    if (this.facets.tags.length) menus.unshift(this.tagList());
    const clear = h("button", { type: "button", class: "clear", onclick: () => this.clear() }, "Clear");
    this.place.replaceChildren(...menus, ...(this.isActive ? [clear] : []));
    this.place.hidden = !menus.length;
  }

  tagList() {
    return this.menu("Tags", this.tags, this.facets.tags, (values) => (this.tags = values));
  }

  list(name, values) {
    return this.menu(name, this.fields[name] ?? [], values, (chosen) => (this.fields[name] = chosen));
  }

  /** Returns a menu of values with checkboxes. */
  menu(name, chosen, values, take) {
    const boxes = values.map(({ value, chunks }) => this.box(String(value), chunks, chosen));
    const list = h("div", { class: "choices", role: "group", "aria-label": name }, boxes);
    list.addEventListener("change", () => {
      take([...list.querySelectorAll(":checked")].map((box) => box.value));
      this.summarise(menu, name, [...list.querySelectorAll(":checked")].map((box) => box.value));
      this.changed();
    });
    const menu = h("details", { class: "menu" }, h("summary", {}),
      h("div", { class: "sheet" }, values.length > SEARCHED ? this.finder(name, list) : null, list));
    this.summarise(menu, name, chosen);
    return menu;
  }

  box(value, count, chosen) {
    const input = h("input", { type: "checkbox", value, checked: chosen.includes(value) });
    return h("label", {}, input, h("span", { class: "value" }, value || "(empty)"), " ",
      h("span", { class: "count" }, count.toLocaleString()));
  }

  finder(name, list) {
    const find = ({ target }) => {
      for (const label of list.children) {
        label.hidden = !label.textContent.toLowerCase().includes(target.value.toLowerCase());
      }
    };
    return h("input", { type: "search", class: "finder", placeholder: "Find …",
      "aria-label": `Find a value of ${name}`, oninput: find });
  }

  range({ name, least, most }) {
    const [, from = "", to = ""] = this.fields[name]?.[0]?.match(RANGE) ?? [];
    const input = (label, value, placeholder) => h("label", {}, h("span", {}, label),
      h("input", { type: "number", step: "any", value, placeholder: String(placeholder) }));
    const sheet = h("div", { class: "sheet range" }, input("From", from, least), input("To", to, most));
    const menu = h("details", { class: "menu" }, h("summary", {}), sheet);
    sheet.addEventListener("change", () => {
      const [low, high] = [...sheet.querySelectorAll("input")].map((each) => each.value);
      this.fields[name] = low || high ? [`${low}..${high}`] : [];
      this.summarise(menu, name, this.fields[name]);
      this.changed();
    });
    this.summarise(menu, name, this.fields[name] ?? []);
    return menu;
  }

  summarise(menu, name, chosen) {
    const said = chosen.length > 1 ? `${chosen[0]} +${chosen.length - 1}` : chosen[0];
    menu.classList.toggle("is-chosen", chosen.length > 0);
    const parts = chosen.length ? [`${name}: `, h("b", {}, said)] : [name];
    menu.firstChild.replaceChildren(...parts, icon("down"));
  }

  shut(target) {
    for (const menu of this.place.querySelectorAll("details[open]")) {
      if (!menu.contains(target)) menu.open = false;
    }
  }

  escape(event) {
    const menu = event.target.closest("details[open]");
    if (!menu) return;
    event.stopPropagation();
    menu.open = false;
    menu.firstChild.focus();
  }
}

/** Whether a field narrows a search: titles and checksums have a value for each document, and the
second when a file was made is not what people choose. */
function isUseful({ distinct, values, least }, documents) {
  if (distinct < 2 || values?.every(({ value }) => TIME.test(value))) return false;
  return values ? distinct <= Math.max(2, documents / 2) : least !== undefined;
}

function between(least, most) {
  const bounds = {};
  if (least) bounds.$gte = Number(least);
  if (most) bounds.$lte = Number(most);
  return bounds;
}
