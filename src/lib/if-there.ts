/** Returns what `look` gives, or undefined when it throws: for files of /proc, whose processes may end at any moment. */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
