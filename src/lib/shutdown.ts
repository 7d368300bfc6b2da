// Ends everything that parts of the program leave running, such as git processes. A command can end it without loading
// parts that it never used.
const ends: (() => Promise<void>)[] = []

/** Registers how to end what this part of the program starts. Call it when the part is loaded. */
export function atEnd(end: () => Promise<void>): void {
  ends.push(end)
}

/**
 * Ends everything that was registered, in reverse order, because later parts may use earlier ones. Everything can be
 * used again afterwards.
 */
export async function endAll(): Promise<void> {
  for (const end of [...ends].reverse()) await end()
}
