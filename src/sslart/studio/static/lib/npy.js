// Reads .npy files: little endian, C order.
const KINDS = {
  i1: Int8Array, u1: Uint8Array, b1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
  f4: Float32Array, f8: Float64Array, i8: BigInt64Array,
};

/** Return { shape, data } of a file, with data as a typed array that shares its memory. */
export function readNpy(buffer) {
  const bytes = new Uint8Array(buffer);
  if (bytes[0] !== 0x93 || new TextDecoder().decode(bytes.subarray(1, 6)) !== "NUMPY") {
    throw new Error("This is no .npy file.");
  }
  const view = new DataView(buffer);
  const [size, at] = bytes[6] === 1 ? [view.getUint16(8, true), 10] : [view.getUint32(8, true), 12];
  const header = new TextDecoder().decode(bytes.subarray(at, at + size));
  const kind = /'descr':\s*'[<|=]?(\w+)'/.exec(header)?.[1];
  const shape = (/'shape':\s*\(([^)]*)\)/.exec(header)?.[1] ?? "").split(",").filter((one) => one.trim()).map(Number);
  const Kind = KINDS[kind];
  if (!Kind || /'fortran_order':\s*True/.test(header)) throw new Error(`Arrays as ${header.trim()} cannot be read.`);
  const n = shape.reduce((product, one) => product * one, 1);
  const start = at + size;
  const data = start % Kind.BYTES_PER_ELEMENT === 0
    ? new Kind(buffer, start, n)
    : new Kind(buffer.slice(start, start + n * Kind.BYTES_PER_ELEMENT));
  return { shape, data };
}
