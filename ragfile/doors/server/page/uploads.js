/* One file on its way into a collection: sent, queued, indexed, or refused with the reason. */

import { announce, h, icon, iconButton } from "./dom.js";

const LOOK = 300, LINGER = 6000; // milliseconds between two looks; that a file which went well is shown

export class Upload {
  /** gone() is called when the file is no longer shown. */
  constructor(page, file, gone) {
    [this.page, this.file, this.gone] = [page, file, gone];
    this.stop = new AbortController();
    this.bar = h("progress", { max: 1, value: 0, "aria-label": `Sending ${file.name}` });
    this.said = h("span", { class: "state" }, "Waiting");
    const close = iconButton("close", `Dismiss ${file.name}`, () => this.dismiss());
    this.element = h("div", { class: "upload" }, h("span", { class: "name" }, file.name), close, this.bar, this.said);
  }

  async run() {
    const { backend, collection } = this.page;
    if (this.stop.signal.aborted) return;
    try {
      this.say("Sending");
      const progress = (share) => (this.bar.value = share);
      const sent = await backend.upload(collection, this.file, { progress, signal: this.stop.signal });
      this.bar.value = 1;
      await this.indexed(collection, sent);
    } catch (error) {
      if (error.name !== "AbortError") this.failed(error.message);
    }
  }

  /** Looks after a file until it is in the collection or was refused. */
  async indexed(collection, known) {
    while (known.state === "queued" && this.page.backend.file) {
      this.say("Indexing");
      this.bar.removeAttribute("value");
      await new Promise((resolve) => setTimeout(resolve, LOOK));
      known = await this.page.backend.file(collection, known.id);
    }
    if (known.state === "error") return this.failed(known.error);
    this.element.classList.add("is-done");
    this.bar.remove();
    this.say("Added", "check");
    announce(`${this.file.name} is added`);
    setTimeout(() => this.dismiss(), LINGER);
  }

  failed(reason) {
    this.element.classList.add("is-bad");
    this.bar.remove();
    this.say(reason || "It could not be read", "alert");
    announce(`${this.file.name}: ${reason}`);
  }

  say(words, picture = null) {
    this.said.replaceChildren(...(picture ? [icon(picture)] : []), words);
  }

  dismiss() {
    this.stop.abort();
    this.element.remove();
    this.gone();
  }
}
