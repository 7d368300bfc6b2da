/** Returns the list in parts of at most `size`, in order. For statements with many rows, which take at most 65,535 values. */
export function batches<T>(list: readonly T[], size: number): T[][] {
  const count = Math.ceil(list.length / size)
  return Array.from({ length: count }, (_, at) => list.slice(at * size, (at + 1) * size))
}
