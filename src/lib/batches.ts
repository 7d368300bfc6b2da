/** The list in parts of at most `size`, in order: for statements that name many rows, which take 65,535 values at most. */
export function batches<T>(list: readonly T[], size: number): T[][] {
  const count = Math.ceil(list.length / size)
  return Array.from({ length: count }, (_, at) => list.slice(at * size, (at + 1) * size))
}
