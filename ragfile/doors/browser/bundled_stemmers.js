/* Bundled stemmers. Empty in the package, which loads a stemmer from stemmers/ on demand. For a static site,
doors/site/static_site.py writes the stemmer of its file here, so that the first question does not wait. */

export const BUNDLED = {};
