/* How words become terms, as the file records it: stop words and a stemmer, once a word. In a file of
several languages a word of a language has its code before it, and its own stop words and stemmer. */

import { BUNDLED } from "./bundled_stemmers.js";
import { VersionError } from "./errors.js";

// Their rules for the core: the second gives pieces of identifiers, the third also single characters.
const ANALYZERS = { "rag-words-1": 0, "rag-words-2": 2, "rag-words-3": 6 };
const STRIP = 1;
export const CLUSTERS = 4;
const [FOLD, FOREIGN] = [2, 3]; // rules for accents, beside 0 (left out of texts) and 1 (kept)
const TABLE = "1"; // of languages
const ENGLISH_1 =
  "a an and are as at be but by eg for i if in into is it no not of on or such that the" +
  " their then there these they this to was will with";
const STOP_WORDS = { none: "", "english-1": ENGLISH_1 };
const NAMES = new Set(
  (
    "arabic armenian basque catalan czech danish dutch dutch_porter english" +
    " esperanto estonian finnish french german greek hindi hungarian indonesian irish italian" +
    " lithuanian nepali norwegian persian polish porter portuguese romanian russian serbian sesotho" +
    " spanish swedish tamil turkish yiddish"
  ).split(" "),
);

/** The analysis of the configuration that a lexicon keeps. `languages` gives the numbers of the languages of
the file, and `table` the lines of the core's table of languages. */
export async function analysisOf(config, languages, table) {
  const values = Object.fromEntries(
    config
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)];
      }),
  );
  if (!(values.analyzer in ANALYZERS))
    refuse(
      `the file needs the analyzer '${values.analyzer}'; this version has ${Object.keys(ANALYZERS)
        .map((name) => `'${name}'`)
        .join(" and ")}`,
    );
  const isSeveral = values.languages !== undefined;
  if (isSeveral && values.languages !== TABLE)
    refuse(`the file needs the table of languages '${values.languages}'`);
  const listed = values.stop_words ?? "none";
  const accents = values.accents ?? "keep";
  if (accents !== "keep" && accents !== "strip")
    refuse(`accents are kept or stripped, not '${accents}'`);
  if (!listed.startsWith("=") && !(listed in STOP_WORDS)) refuse(`no stop word list '${listed}'`);
  const stopped = new Set(
    (listed.startsWith("=") ? listed.slice(1) : STOP_WORDS[listed]).split(" "),
  );
  const stem = await stemmer(values.stemmer ?? "none");
  const plain = (word) => (stopped.has(word) ? "" : stem(word));
  const numbers = isSeveral ? await languages() : [];
  const known = await Promise.all(numbers.map((number) => language(number, table()[number])));
  const byMark = new Map(known.map((one) => [one.mark, one]));
  const rules = ANALYZERS[values.analyzer] + (accents === "strip" ? STRIP : 0);
  return {
    rules,
    among: numbers.reduce((bits, number) => bits | (1 << number), 0),
    /** The rules and the mark of each language, for the words of a text. */
    readings: [
      { rules, mark: "" },
      ...known.map(({ mark }) => ({ rules: rules & ~STRIP, mark })),
    ],
    terms: (words) =>
      words.map((word) => {
        const at = known.length ? word.indexOf(":") + 1 : 0;
        return at ? byMark.get(word.slice(0, at)).term(word.slice(at)) : plain(word);
      }),
  };
}

const MOST = 255; // bytes of a term

/** A word with the mark of a language, as the core has it. */
export function marked({ word, dense }, mark) {
  const isShort = new TextEncoder().encode(word).length + mark.length <= MOST;
  return mark && !dense && isShort ? mark + word : word;
}

/** {mark, term(word)} of a line of the table of languages. */
async function language(number, line) {
  const [code, name, accents, letters, words] = line.split("\t");
  const [mark, stem, rule] = [`${code}:`, await stemmer(name), Number(accents)];
  const stopped = new Set(words.split(" "));
  const folded = (word) =>
    [...word].map((one) => (letters.includes(one) ? one : bare(one))).join("");
  return {
    mark,
    term: (word) => {
      if (stopped.has(word)) return "";
      const found = stem(rule === FOREIGN ? folded(word) : word);
      const term = rule === FOLD ? folded(found) : found;
      return term && mark + term;
    },
  };
}

/** A Latin letter without its accents; any other as it is. */
function bare(letter) {
  const [first, ...marks] = letter.normalize("NFD");
  const isLatin = first >= "a" && first <= "z" && marks.every((one) => /[\u0300-\u036f]/.test(one));
  return isLatin ? first : letter;
}

function refuse(why) {
  throw new VersionError(`rag.terms: ${why}`, { at: 128, section: "rag.terms" });
}

async function stemmer(name) {
  if (name === "none") return (word) => word;
  if (!NAMES.has(name)) refuse(`no stemmer '${name}'`);
  const Stemmer = BUNDLED[name] ?? (await loaded(name));
  const one = new Stemmer();
  return (word) => one.stem(word);
}

/** Load a stemmer. Each is imported by its literal name, which bundlers need. */
async function loaded(name) {
  const { STEMMERS } = await import("./stemmers/index.js");
  return (await STEMMERS[name]()).default;
}
