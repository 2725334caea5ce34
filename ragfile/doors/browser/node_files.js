/* Files of the disk, in node and Deno. A bundle for browsers has no_node_files.js instead ("browser" in
package.json). */

export { open, readFile } from "node:fs/promises";
