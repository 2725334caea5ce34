/* In place of node_files.js in a bundle for browsers: pages have no files of the disk. */

import { ArgumentError } from "./errors.js";

export async function open(url) {
  throw new ArgumentError(`${url} is a file: a page reads files behind http: and https: URLs`);
}

export const readFile = open;
