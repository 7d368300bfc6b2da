/**
 * The name that differs from `word` by the fewest edits; undefined when it differs by more than a typing error would.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  if (word.length > 40) return undefined
  const limit = word.length < 5 ? 1 : 2
  let best: string | undefined
  let least = limit + 1
  for (const name of names) {
    if (Math.abs(name.length - word.length) > limit) continue
    const distance = editDistance(word.toLowerCase(), name)
    if (distance < least) {
      best = name
      least = distance
    }
  }
  return best
}

/** How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1)
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1)
      current.push(least)
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
