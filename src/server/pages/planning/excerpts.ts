// The lines of code that notes are about, to stand above the notes in a discussion.
import type { FilePatch } from '../../../text/diff.js'
import { excerptsOf, type LinePlace } from '../../../text/diff-excerpts.js'
import { excerptRows } from '../code/diff-rows.js'

interface Placed {
  readonly id: number
  readonly line: (LinePlace & { readonly path: string }) | null
}

/** Returns the rows of the lines by the ids of their notes, as HTML. Notes about lines that the changes do not show are missing. */
export function excerptsIn(
  patches: readonly Pick<FilePatch, 'newPath' | 'text'>[],
  notes: readonly Placed[]
): Map<number, string> {
  const found = new Map<number, string>()
  if (notes.every(({ line }) => line === null)) return found
  const texts = new Map(patches.map(({ newPath, text }) => [newPath, text]))
  for (const [path, some] of Map.groupBy(notes, ({ line }) => line?.path)) {
    const places = some.flatMap(({ line }) => line ?? [])
    const text = path === undefined ? undefined : texts.get(path)
    if (text === undefined) continue
    for (const [at, lines] of excerptsOf(text, places).entries()) {
      const id = some[at]?.id
      if (id !== undefined && lines.length > 0) found.set(id, excerptRows(lines))
    }
  }
  return found
}
