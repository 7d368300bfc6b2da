/** Returns the name that a mistyped word most likely means; undefined when none is near. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3))
  const found = names
    .map(name => ({ name, distance: distance(word, name) }))
    .reduce<{ name: string; distance: number } | undefined>(
      (best, next) => (best && best.distance <= next.distance ? best : next),
      undefined
    )
  return found && found.distance <= most ? found.name : undefined
}

/** How many letters must be added, left out, changed or swapped with the next one to make one word of the other. */
function distance(one: string, other: string): number {
  let older: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1] ? 0 : 1
      const least = Math.min((last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + same)
      const swapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]
      next.push(swapped ? Math.min(least, (older[at - 2] ?? 0) + 1) : least)
    }
    older = last
    last = next
  }
  return last[other.length] ?? 0
}
