// What a part of the program leaves running, such as git processes. A command ends it without loading parts that it never
// used.
const ends: (() => Promise<void>)[] = []

/** Notes how to end what this part of the program starts. Call it when the part is loaded. */
export function atEnd(end: () => Promise<void>): void {
  ends.push(end)
}

/** Ends everything that was noted, the last part first: it may use earlier ones. All can be used again afterwards. */
export async function endAll(): Promise<void> {
  for (const end of [...ends].reverse()) await end()
}
