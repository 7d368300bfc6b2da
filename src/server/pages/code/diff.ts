// What templates/web/code/diff.eta needs to show changes: the changes themselves, and where its links lead.
import { type Static, Type } from '../../../lib/type.js'
import { type FilePatch, type ShownDiff, type ShownFile, shownDiff } from '../../../text/diff.js'
import { limitedLinks } from '../file-links.js'
import { type LineNotes, rowsOf } from './diff-rows.js'

/** The parameters of a page with changes. */
export const DiffQuery = {
  view: Type.Optional(Type.Enum(['inline', 'parallel'], { description: 'one column or two' })),
  file: Type.Optional(Type.String({ maxLength: 4096, description: 'the only file to show, whole' })),
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, description: 'the number of files to skip' }))
}
const Query = Type.Object(DiffQuery)
export type DiffQuery = Static<typeof Query>

/** Where the links of the changes lead, and what other parts of a page add to them. */
export interface DiffPlace extends LineNotes {
  /** The path of the page, with a question mark at its end, or with other parameters and an ampersand. */
  readonly page: string
  /** Where the whole diff is as text. */
  readonly raw?: string
  /** Returns the page of the whole file before or after the change; null without a page. */
  readonly fileAt?: (file: ShownFile, side: 'old' | 'new') => string | null
}

export interface DiffPart extends DiffPlace {
  readonly diff: ShownDiff
  readonly view: 'inline' | 'parallel'
  readonly only: string | undefined
  /** Returns the address of the page with other parameters. */
  readonly at: (query: DiffQuery) => string
  /** Returns the address of the page of one file; null when its path is too long for a link. */
  readonly wholeAt: (file: ShownFile) => string | null
  /** Returns the rows of a file as HTML. */
  readonly rowsOf: (file: ShownFile) => string
}

/** Returns the part of a page that shows changes: `include('/code/diff', part)`. */
export function diffPart(
  { patches, isCut }: { readonly patches: readonly FilePatch[]; readonly isCut: boolean },
  { view = 'inline', file, skip }: DiffQuery,
  place: DiffPlace
): DiffPart {
  const at = (query: DiffQuery) => place.page + queryOf({ ...(view === 'parallel' && { view }), ...query })
  const wholeAt = limitedLinks(path => at({ file: path }))
  const fileAt = limitedLinks((_path, file: ShownFile, side: 'old' | 'new') => place.fileAt?.(file, side) ?? '')
  return {
    ...place,
    fileAt: (file, side) => fileAt(side === 'new' ? file.path : file.oldPath, file, side) || null,
    diff: shownDiff(patches, { isCut, ...(skip !== undefined && { skip }), ...(file !== undefined && { only: file }) }),
    view,
    only: file,
    at,
    wholeAt: file => wholeAt(file.path),
    rowsOf: file => rowsOf(file, view, place)
  }
}

/** Returns the parameters that show the same part of the changes in the same way. */
export const queryOf = ({ view, file, skip }: DiffQuery): string =>
  new URLSearchParams({
    ...(view === 'parallel' && { view }),
    ...(file !== undefined && { file }),
    ...(skip !== undefined && { skip: String(skip) })
  }).toString()
