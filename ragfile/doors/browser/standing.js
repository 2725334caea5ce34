/* How current and how trusted a document is, as words from its front matter: ragfile/records.py has the same. */

const FIELDS = ["generated", "verified", "stale_after"]; // of the Open Knowledge Format
const PERSON = "human:";

/** Such as "stale since 2026-09-23, human-reviewed"; "" for a document that does not tell. */
export function standingOf(metadata, today = new Date().toISOString().slice(0, 10)) {
  const { type, status } = metadata;
  const has = (name) => Object.hasOwn(metadata, name);
  if (typeof type !== "string" || !type || !FIELDS.some(has)) return "";
  const since = dayOf(metadata.stale_after);
  const actors = actorsOf(metadata.verified);
  const confirmed = actors.length ? "machine-confirmed" : "unverified";
  return [
    since !== null && today >= since ? `stale since ${since}` : "",
    status === "draft" || status === "deprecated" ? status : "",
    actors.some((one) => one.startsWith(PERSON)) ? "human-reviewed" : confirmed,
  ]
    .filter(Boolean)
    .join(", ");
}

/** The day of a date or a time, or null. */
function dayOf(value) {
  const day = typeof value === "string" ? value.slice(0, 10) : "";
  const read = /^\d{4}-\d\d-\d\d$/.test(day) && !day.startsWith("0000") ? new Date(`${day}T00:00Z`) : NaN;
  return Number.isNaN(Number(read)) || read.toISOString().slice(0, 10) !== day ? null : day;
}

/** Who confirmed a document; a single event needs no list. */
function actorsOf(verified) {
  const events = Array.isArray(verified) ? verified : [verified];
  return events.map((one) => one?.by).filter((by) => typeof by === "string" && by);
}
