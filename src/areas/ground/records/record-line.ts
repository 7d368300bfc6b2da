/** Values that nobody may read from a file: encrypted ones, and hashes of tokens. */
const SECRET = /_encrypted$|token_hash$/

/** Returns a row as a line of JSON, without secrets and empty columns. Bytes are hexadecimal. */
export function lineOf(table: string, values: object, more: object = {}): string {
  const shown = Object.entries(values).filter(([name, value]) => value !== null && !SECRET.test(name))
  const plain = shown.map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value])
  return JSON.stringify({ table, row: Object.fromEntries(plain), ...more })
}
