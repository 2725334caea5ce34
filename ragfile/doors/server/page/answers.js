/* Answers: a question with the answer as it comes, its sources beside it, and the questions that
follow. Marks lead to the exact words of the file; what the answer says without them is shown as
such, and so is whatever could not be had. */

import { permalink } from "./address.js";
import { $, announce, copy, counted, h, icon } from "./dom.js";
import { blocks } from "./markdown.js";
import { card } from "./passages.js";
import { units } from "./text.js";

const REMEMBERED = 10; // earlier turns that are sent with a follow-up

export class Answers {
  constructor(page) {
    this.page = page;
    this.place = $("answers");
    this.turns = [];
  }

  /** Starts a conversation. */
  async ask(question) {
    this.leave();
    this.place.hidden = false;
    document.body.classList.add("is-asking");
    await this.turn(question);
  }

  /** Ends it and cancels the current answer. */
  leave() {
    this.stop?.abort();
    this.turns = [];
    this.place.hidden = true;
    this.place.replaceChildren();
    document.body.classList.remove("is-asking");
  }

  async turn(question) {
    const history = this.turns.slice(-REMEMBERED).flatMap((turn) => turn.said());
    const turn = new Turn(this.page, question);
    this.turns.push(turn);
    this.place.append(turn.element);
    if (this.turns.length > 1) turn.element.scrollIntoView({ block: "start" });
    this.follow?.remove();
    this.stop = new AbortController();
    await turn.run({ history, signal: this.stop.signal });
    if (this.turns.at(-1) !== turn) return;
    this.follow = this.followUp();
    this.place.append(this.follow);
    if (this.turns.length > 1) this.follow.firstChild.focus({ preventScroll: true });
  }

  followUp() {
    const input = h("input", { type: "text", "aria-label": "Follow-up question", autocomplete: "off",
      placeholder: "Ask a follow-up", maxLength: 4000 });
    const onsubmit = (event) => {
      event.preventDefault();
      if (input.value.trim()) this.turn(input.value.trim());
    };
    const send = h("button", { class: "primary", "aria-label": "Send" }, icon("up"));
    return h("form", { class: "follow", onsubmit }, input, send);
  }
}

/** One question and its answer. */
class Turn {
  constructor(page, question) {
    [this.page, this.question] = [page, question];
    this.sources = [];
    this.citations = [];
    this.text = "";
    this.keys = [];
    this.body = h("div", { class: "answer", "aria-busy": "true" }, waiting());
    this.notes = h("div", { class: "notes" });
    this.list = h("ol", {});
    this.panel = h("section", { class: "sources", "aria-label": "Sources", hidden: true },
      h("h3", {}, "Sources"), this.list);
    this.stop = h("button", { type: "button", class: "small", onclick: () => this.halted() }, icon("stop"), "Stop");
    this.element = h("section", { class: "turn", "aria-label": question }, h("h2", {}, question),
      h("div", { class: "said" }, this.body, this.stop, this.notes), this.panel);
  }

  /** Returns this turn as history for the next question. */
  said() {
    if (!this.answer?.text) return [];
    return [{ role: "user", content: this.question }, { role: "assistant", content: this.answer.text }];
  }

  async run({ history, signal }) {
    const { backend, collection } = this.page;
    this.halted = () => this.page.answers.stop.abort();
    try {
      for await (const event of backend.ask(collection, this.question, { history, signal, ...this.page.options() })) {
        this.take(event);
      }
      if (!this.answer) this.broken("The answer broke off.");
    } catch (error) {
      if (!this.answer) this.broken(signal.aborted ? "Stopped." : error.message, error);
    }
    this.stop.remove();
    this.body.removeAttribute("aria-busy");
    announce(this.text ? "The answer is complete" : "There is no answer");
  }

  take({ event, ...data }) {
    if (event === "sources") this.showSources(data.sources, data.excerpts ?? {});
    else if (event === "citation") this.citations.push(data);
    else if (event === "delta") this.text += data.text;
    else if (event === "done" || event === "error") return this.finish(data, event);
    if (event !== "sources") this.soon();
  }

  /** Draws with the next frame; slow drawing lowers the rate. */
  soon() {
    this.drawing ??= setTimeout(() => {
      const begun = performance.now();
      this.draw();
      this.pause = Math.max(30, 4 * (performance.now() - begun));
      this.drawing = null;
    }, this.pause ?? 0);
  }

  /** Draws the answer; unchanged blocks keep their elements. */
  draw(doubtful = []) {
    const made = blocks(this.text, this.marks(), doubtful);
    const same = made.findIndex(({ key }, i) => key !== this.keys[i]);
    const first = same < 0 ? made.length : same;
    const kept = this.keys.length ? [...this.body.children].slice(0, first) : [];
    this.body.replaceChildren(...kept, ...made.slice(first).map(({ make }) => make()));
    this.keys = made.map(({ key }) => key);
  }

  /** Marks by their places. */
  marks() {
    const places = new Map(this.citations.map((each) => [units(this.text, each.at), each]));
    const inside = (from, to) => [...places.keys()].filter((at) => at >= from && at < to);
    return {
      known: (from, to) => inside(from, to).length,
      make: (at) => (places.has(at) ? this.mark(places.get(at)) : null),
    };
  }

  /** Returns a link, which can be opened in a new window, without line breaks around it. */
  mark(citation) {
    const { number, doc_id: id, start, end, checksum, text } = citation;
    const passage = { id, start, end, checksum: "" };
    const onclick = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.page.open(passage, link);
    };
    const href = permalink(this.page.collection, { ...passage, checksum });
    const link = h("a", { class: "cite", href, title: text, "aria-label": `Source ${number}`, onclick,
      onmouseenter: () => this.point(number, true), onmouseleave: () => this.point(number, false) },
      String(number));
    return link;
  }

  /** Highlights the source of a mark. */
  point(number, isOn) {
    this.list.children[number - 1]?.classList.toggle("is-meant", isOn);
  }

  showSources(sources, excerpts) {
    const { collection } = this.page;
    const open = (passage, link) => this.page.open(passage, link);
    this.sources = sources;
    this.list.replaceChildren(...sources.map((source) =>
      card(source, { collection, excerpt: excerpts[source.id], open, number: source.number, level: "h4" })));
    this.panel.hidden = !sources.length;
  }

  // -------------------------------------------------------------------------------------- the end ---

  finish(answer, event) {
    clearTimeout(this.drawing);
    this.answer = answer;
    [this.text, this.citations] = [answer.text, answer.citations];
    const doubtful = answer.unsupported.map(({ start, end }) => [units(answer.text, start), units(answer.text, end)]);
    this.draw(doubtful);
    if (!this.text) this.body.replaceChildren(h("p", { class: "none" }, "The passages do not answer this."));
    this.notes.replaceChildren(...this.remarks(answer, event), this.footer(answer));
  }

  remarks({ degraded, note, unsupported, unknown, finish }, event) {
    const said = [];
    if (event === "error") said.push(["alert", `The answer broke off: ${degraded}`]);
    else if (degraded) said.push(["alert", degraded]);
    if (finish === "extract" && note) said.push(["", "This is an extract of the file. Start the server with a model to get written answers."]);
    if (unsupported.length) said.push(["doubt", `${counted(unsupported.length, "sentence")} underlined: the sources do not bear that out.`]);
    if (unknown.length) said.push(["alert", `The model cited ${unknown.map((n) => `[${n}]`).join(", ")}, which does not exist.`]);
    return said.map(([kind, words]) => h("p", { class: `remark ${kind}` }, kind ? icon("alert") : null, words));
  }

  footer({ model, usage, timings, text }) {
    const tokens = usage.completion_tokens ?? usage.output_tokens;
    const facts = [model, tokens && counted(tokens, "token"), duration(timings.total)].filter(Boolean);
    const button = h("button", { type: "button", class: "small", onclick: () => copy(text, button) }, icon("copy"), "Copy");
    return h("p", { class: "footer" }, text ? button : null, facts.join(" · "));
  }

  /** Shows the partial text of an answer that failed. */
  broken(sentence, error = {}) {
    if (error.status === 401) return this.page.problem(error, () => this.page.ask(false));
    clearTimeout(this.drawing);
    if (this.text) this.draw();
    else this.body.replaceChildren();
    const again = h("button", { type: "button", class: "small", onclick: () => this.page.ask(false) }, "Ask again");
    this.notes.replaceChildren(h("p", { class: "remark alert", role: "alert" }, icon("alert"), sentence), again);
  }
}

const waiting = () => [h("p", { class: "waiting", "aria-label": "Waiting for the answer" }, h("i"), h("i"), h("i"))];

function duration(spent) {
  if (!(spent > 0)) return "";
  return spent < 1000 ? `${spent.toFixed(spent < 10 ? 1 : 0)} ms` : `${(spent / 1000).toFixed(1)} s`;
}
