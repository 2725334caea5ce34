/* Stemmers that are bundled. The package loads one on demand from stemmers/; a static site bundles the
stemmer of its file here, so that the first question does not wait for it. */

export const CARRIED = {};
