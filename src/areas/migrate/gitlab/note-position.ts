// The place of a comment on a line of the changes of a merge request.
import { type Static, Type } from '../../../lib/type.js'
import { count, maybe, text } from '../sources/shapes.js'

/** A line that was moved or kept has both numbers. */
export const Position = Type.Object({
  position_type: maybe(text(100)),
  new_path: maybe(text(65_535)),
  old_path: maybe(text(65_535)),
  new_line: maybe(count),
  old_line: maybe(count)
})

/** A line is part of the changes, on the new side unless it was removed. Places in images have no line. */
export function placeOf(position: Static<typeof Position> | null | undefined) {
  const path = position?.new_path || position?.old_path
  const line = position?.new_line ?? position?.old_line ?? null
  if (!position || !path || line === null || (position.position_type ?? 'text') !== 'text') return {}
  return { path, line, line_type: position.new_line ? 'new' : 'old' }
}
