/* The questions that were asked here. They stay in this browser: nothing is sent or synchronised,
and one button forgets them. */

const NAME = "ragfile.recent", MOST = 40;

/** The questions asked of a collection, the newest first. */
export function recent(collection) {
  return all().filter((each) => each.c === collection).map((each) => each.q);
}

/** Keeps a question. A browser that keeps nothing, as in a private window, is no reason to fail. */
export function remember(collection, question) {
  const rest = all().filter((each) => each.c !== collection || each.q !== question);
  save([{ c: collection, q: question }, ...rest].slice(0, MOST));
}

/** Forgets the questions asked of a collection. */
export function forget(collection) {
  save(all().filter((each) => each.c !== collection));
}

function all() {
  try {
    const known = JSON.parse(localStorage.getItem(NAME) ?? "[]");
    return Array.isArray(known) ? known.filter((each) => typeof each?.q === "string") : [];
  } catch {
    return [];
  }
}

function save(questions) {
  try {
    localStorage.setItem(NAME, JSON.stringify(questions));
  } catch {
    return;
  }
}
