/* The documents of a collection: a list to open them from, and, where the backend takes changes,
files that are dropped on the page and documents that are taken out. */

import { $, announce, counted, h, icon, iconButton } from "./dom.js";
import { Upload } from "./uploads.js";

const PAGE = 50; // documents that are loaded at a time

export class Files {
  constructor(page) {
    this.page = page;
    this.list = h("ul", { class: "documents" });
    this.said = h("p", { class: "note" });
    this.more = h("button", { type: "button", class: "more", onclick: () => this.load() }, "Show more");
    this.dialog = this.made();
    this.uploads = h("div", { id: "uploads", "aria-label": "Uploads", role: "region", hidden: true });
    this.cover = h("div", { class: "cover", hidden: true });
    document.body.append(this.dialog, this.uploads, this.cover);
    this.listen();
  }

  made() {
    const find = h("input", { type: "search", class: "finder", placeholder: "Find by id prefix",
      "aria-label": "Find documents", oninput: () => this.begin() });
    const choose = h("input", { type: "file", multiple: true, hidden: true, onchange: () => this.chosen() });
    const add = h("button", { type: "button", class: "small add", onclick: () => choose.click() }, icon("up"), "Add files");
    const close = iconButton("close", "Close", () => this.dialog.close());
    [this.find, this.choose, this.add] = [find, choose, add];
    return h("dialog", { id: "files", "aria-label": "Documents" },
      h("header", {}, h("h2", {}, "Documents"), add, choose, close), find, this.said, this.list, this.more);
  }

  listen() {
    const button = $("documents");
    button.hidden = false;
    button.addEventListener("click", () => this.open());
    this.dialog.addEventListener("click", ({ target }) => target === this.dialog && this.dialog.close());
    for (const [name, act] of Object.entries({ dragover: this.over, dragleave: this.left, drop: this.dropped })) {
      document.addEventListener(name, (event) => act.call(this, event));
    }
  }

  /** Adapts to the collection that is shown. */
  enter({ writes }) {
    this.writes = writes && Boolean(this.page.backend.upload);
    this.add.hidden = !this.writes;
    this.removes = writes && Boolean(this.page.backend.remove);
  }

  // -------------------------------------------------------------------------------------- the list ---

  open() {
    this.dialog.showModal();
    this.begin();
  }

  begin() {
    this.after = "";
    return this.load();
  }

  async load() {
    const call = (this.last = Symbol("call")), { backend, collection } = this.page;
    try {
      const asked = { prefix: this.find.value, after: this.after, limit: PAGE };
      const { documents, total, next } = await backend.documents(collection, asked);
      if (call !== this.last) return;
      const items = documents.map((document) => this.item(document));
      this.list.replaceChildren(...(this.after ? this.list.children : []), ...items);
      this.said.textContent = counted(total, "document");
      [this.after, this.more.hidden] = [next ?? "", !next];
    } catch (error) {
      this.said.textContent = error.message;
    }
  }

  item({ id, source, chunks, metadata = {} }) {
    const title = typeof metadata.title === "string" && metadata.title ? metadata.title : source || id;
    const open = () => {
      this.dialog.close();
      this.page.open({ id, start: -1, end: -1, checksum: "" }, $("documents"));
    };
    const remove = this.removes ? iconButton("trash", `Delete ${id}`, () => this.confirm(item, id)) : null;
    const item = h("li", {}, h("button", { type: "button", class: "entry", onclick: open },
      h("span", { class: "title" }, title), h("span", { class: "place" }, `${id} · ${counted(chunks, "passage")}`)), remove);
    return item;
  }

  /** Asks for confirmation: a deletion is a commit and cannot be undone here. */
  confirm(item, id) {
    const kept = [...item.childNodes];
    const back = () => item.replaceChildren(...kept);
    const yes = h("button", { type: "button", class: "small danger", onclick: () => this.remove(id, item, back) }, "Delete");
    const no = h("button", { type: "button", class: "small", onclick: back }, "Keep");
    item.replaceChildren(h("span", { class: "entry" }, `Delete ${id} from the file?`), yes, no);
    yes.focus();
  }

  async remove(id, item, back) {
    try {
      await this.page.backend.remove(this.page.collection, id);
      announce(`${id} is deleted`);
      item.remove();
      await this.page.refresh();
      this.begin();
    } catch (error) {
      back();
      this.said.textContent = error.message;
    }
  }

  // ------------------------------------------------------------------------------------- dropping ---

  over(event) {
    if (!this.writes || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.cover.replaceChildren(h("div", {}, icon("up"), `Drop to add to ${this.page.collection}`));
    this.cover.hidden = false;
  }

  left(event) {
    if (!event.relatedTarget) this.cover.hidden = true;
  }

  dropped(event) {
    this.cover.hidden = true;
    if (!this.writes || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    this.take([...event.dataTransfer.files]);
  }

  chosen() {
    this.dialog.close();
    this.take([...this.choose.files]);
    this.choose.value = "";
  }

  /** Sends files one after the other, as the server writes one at a time. */
  async take(files) {
    this.uploads.hidden = false;
    const uploads = files.map((file) => new Upload(this.page, file, () => this.settled()));
    this.uploads.append(...uploads.map((upload) => upload.element));
    for (const upload of uploads) await upload.run();
    await this.page.refresh();
  }

  settled() {
    this.uploads.hidden = !this.uploads.childElementCount;
  }
}
