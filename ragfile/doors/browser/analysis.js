/* How words become terms, as the file records it: stop words and a stemmer, once a word. */

import { BUNDLED } from "./bundled_stemmers.js";
import { VersionError } from "./errors.js";

const ANALYZERS = ["rag-words-1", "rag-words-2"]; // the second gives pieces of identifiers
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

/** {rules, terms(words)} of the configuration that a lexicon keeps. */
export async function analysisOf(config) {
  const values = Object.fromEntries(
    config
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)];
      }),
  );
  if (!ANALYZERS.includes(values.analyzer))
    refuse(
      `the file needs the analyzer '${values.analyzer}'; this version has ${ANALYZERS.map((name) => `'${name}'`).join(" and ")}`,
    );
  const listed = values.stop_words ?? "none";
  const accents = values.accents ?? "keep";
  if (accents !== "keep" && accents !== "strip")
    refuse(`accents are kept or stripped, not '${accents}'`);
  if (!listed.startsWith("=") && !(listed in STOP_WORDS)) refuse(`no stop word list '${listed}'`);
  const stopped = new Set(
    (listed.startsWith("=") ? listed.slice(1) : STOP_WORDS[listed]).split(" "),
  );
  const stem = await stemmer(values.stemmer ?? "none");
  return {
    rules: (accents === "strip" ? 1 : 0) + (values.analyzer === ANALYZERS[1] ? 2 : 0),
    terms: (words) => words.map((word) => (stopped.has(word) ? "" : stem(word))),
  };
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
