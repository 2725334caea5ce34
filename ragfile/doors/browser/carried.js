/* Stemmers that are here already. A package loads one where a file needs it (stemmers/); a site has that of its
file in this place, so that a first question does not wait for it. */

export const CARRIED = {};
