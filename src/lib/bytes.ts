const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Returns a readable number of bytes, such as `1.4 GiB`. */
export function bytesText(bytes: number): string {
  const at = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** at
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[at]}`
}

/** Returns the bytes of a text in memory: two for each character if one of them is beyond Latin-1. */
export const memoryOf = (text: string): number => (/[\u0100-\uffff]/.test(text) ? 2 : 1) * text.length
