/** Importing this module defines <ragfile-search>; see element.js for its attributes. */
export class RagfileSearch extends HTMLElement {}

/** What the event "ragfile-select" carries in `detail`: the passage that was chosen. */
export type { Hit } from "./index.js";

declare global {
  interface HTMLElementTagNameMap {
    "ragfile-search": RagfileSearch;
  }
}
