/* An encrypted file as a source of plain bytes: what is read is fetched as blocks and decrypted by the
browser's own AES-GCM. spec/parts/encryption.md has the layout.

A block that was changed reads as zeros; the checksums of the file inside, which are encrypted, then
refuse what was there. */

import { ArgumentError, EncryptionError } from "./errors.js";
import { encoded } from "./text.js";

const HEADER = 8192;
const HEAD = 48; // of a block: salt, nonce, length
const TAG = 16;
const SALT = 32;
const NONCE = 12;
const WRAPPED = 48;
const ENDING = 64;
const KEPT_KEYS = 1024; // one for each salt: a writer's

export const isEncrypted = (front) => new TextDecoder().decode(front.subarray(0, 8)) === "RAGCRYPT";

/** The 32 bytes of a key: bytes, their text in hexadecimal digits or base64, or a function that gives one of them. */
export async function keyBytes(key) {
  const given = typeof key === "function" ? await key() : key;
  const bytes = typeof given === "string" ? fromText(given.trim()) : asBytes(given);
  if (bytes?.length !== 32)
    throw new EncryptionError("the option key is no key: it needs 32 bytes, or their text");
  return bytes;
}

function asBytes(given) {
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (ArrayBuffer.isView(given))
    return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  return null;
}

function fromText(text) {
  if (/^[0-9a-fA-F]{64}$/.test(text))
    return Uint8Array.from({ length: 32 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null;
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(plain), (one) => one.charCodeAt(0));
}

export class EncryptedFile {
  /** Opens the file of an open source. `parts` are bytes that the source has sent already. */
  static async over(source, { size, parts }, core, key) {
    const file = new EncryptedFile(source, parts);
    const [front, ending] = [
      await file.stored(0, Math.min(HEADER, size)),
      await file.stored(Math.max(0, size - ENDING), Math.min(ENDING, size)),
    ];
    const layout = await layoutOf(core, front, ending, size);
    Object.assign(file, layout);
    file.dataKey = await unlocked(layout.slots, key, source.name);
    return file;
  }

  constructor(source, parts) {
    this.source = source;
    this.parts = parts;
    this.keys = new Map();
  }

  get name() {
    return this.source.name;
  }
  get requests() {
    return this.source.requests;
  }
  get received() {
    return this.source.received;
  }

  forget() {
    return this.source.forget?.();
  }

  close() {
    return this.source.close?.();
  }

  /** Bytes of the file as it is stored. */
  async stored(at, size) {
    const part = this.parts.find(([from, bytes]) => from <= at && at + size <= from + bytes.length);
    return part ? part[1].subarray(at - part[0], at - part[0] + size) : this.source.read(at, size);
  }

  async read(at, size) {
    const plain = new Uint8Array(size);
    if (!size) return plain;
    const payload = this.stride - HEAD - TAG;
    const [first, last] = [Math.floor(at / payload), Math.floor((at + size - 1) / payload)];
    const from = HEADER + first * this.stride;
    const to = Math.min(HEADER + (last + 1) * this.stride, this.blocks);
    const bytes = await this.stored(from, to - from);
    const decrypt = async (index) => {
      const block = bytes.subarray((index - first) * this.stride).subarray(0, this.stride);
      const found = await this.decrypted(block, index);
      const start = index * payload - at;
      const skipped = Math.max(0, -start);
      if (found) plain.set(found.subarray(skipped, size - start), start + skipped);
    };
    await Promise.all(Array.from({ length: last - first + 1 }, (_, i) => decrypt(first + i)));
    return plain;
  }

  /** The bytes of a block, or null if it is not right. */
  async decrypted(block, index) {
    if (block.length <= HEAD + TAG) return null;
    const length = new DataView(block.buffer, block.byteOffset).getUint32(44, true);
    if (length < 1 || length > block.length - HEAD - TAG) return null;
    const about = new Uint8Array(28);
    about.set(this.id);
    new DataView(about.buffer).setBigUint64(16, BigInt(index), true);
    new DataView(about.buffer).setUint32(24, length, true);
    const key = await this.keyOf(block.slice(0, SALT));
    const nonce = block.subarray(SALT, SALT + NONCE);
    return opened(key, nonce, block.subarray(HEAD, HEAD + length + TAG), about);
  }

  /** The key of a writer's salt. */
  keyOf(salt) {
    const name = salt.join(" ");
    if (!this.keys.has(name)) {
      if (this.keys.size >= KEPT_KEYS) this.keys.clear();
      this.keys.set(name, derived(this.dataKey, salt, "ragfile block 1"));
    }
    return this.keys.get(name);
  }
}

/** What the core reads of the header and the end: {stride, id, slots, blocks, size}. */
function layoutOf(core, front, ending, size) {
  return core.withRoom([front.length, ENDING], async (at, end) => {
    core.put(front, at);
    core.put(ending, end);
    const status = core.exports.encrypted_header(at, front.length);
    if (status) throw core.reason(status);
    const [stride, count, id, place] = core.answer(4);
    const each = SALT + NONCE + WRAPPED;
    const slots = Array.from({ length: count }, (_, i) => core.taken(place + i * each, each));
    core.exports.encrypted_size(end, size);
    const [blocks, inner] = core.answer(2);
    return { stride, id: core.taken(id, 16), slots, blocks, size: inner };
  });
}

/** The data key: that of the first slot which the key opens. */
async function unlocked(slots, key, name) {
  if (key == null)
    throw new EncryptionError(`${name}: the file is encrypted: give its key with the option key`);
  if (!globalThis.crypto?.subtle)
    throw new ArgumentError(`${name} is encrypted, and keys need a page over HTTPS`);
  const own = await base(await keyBytes(key));
  for (const slot of slots) {
    const [salt, nonce] = [slot.subarray(0, SALT), slot.subarray(SALT, SALT + NONCE)];
    const wrapping = await derived(own, salt, "ragfile slot 1");
    const data = encoded("ragfile data key 1");
    const found = await opened(wrapping, nonce, slot.subarray(SALT + NONCE), data);
    if (found) return base(found);
  }
  throw new EncryptionError(`${name}: the key does not open the file`);
}

const base = (bytes) => crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);

function derived(key, salt, info) {
  const how = { name: "HKDF", hash: "SHA-256", salt, info: encoded(info) };
  return crypto.subtle.deriveKey(how, key, { name: "AES-GCM", length: 256 }, false, ["decrypt"]);
}

/** The plain bytes, or null if the tag is not theirs. */
async function opened(key, iv, text, additionalData) {
  try {
    const how = { name: "AES-GCM", iv, additionalData, tagLength: 128 };
    return new Uint8Array(await crypto.subtle.decrypt(how, key, text));
  } catch (error) {
    if (error.name === "OperationError") return null;
    throw error;
  }
}
