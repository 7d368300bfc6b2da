// What templates/web/code/diff.eta needs to show changes: the changes themselves, and where its links lead.
import { type Static, Type } from '../../../lib/type.js'
import { type FilePatch, type ShownDiff, type ShownFile, shownDiff } from '../../../text/diff.js'
import { limitedLinks } from '../file-links.js'
import type { LineForms } from './diff-rows.js'
import { contextOf, readTables, type Table, type TableOptions } from './diff-tables.js'

/** The parameters of a page with changes. */
export const DiffQuery = {
  view: Type.Optional(Type.Enum(['inline', 'parallel'], { description: 'one column or two' })),
  file: Type.Optional(Type.String({ maxLength: 4096, description: 'the only file to show, whole' })),
  context: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 5000, description: 'more lines to show around each change of this file' })
  ),
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, description: 'the number of files to skip' }))
}
const Query = Type.Object(DiffQuery)
export type DiffQuery = Static<typeof Query>

/** Where the links of the changes lead, and what other parts of a page add to them. */
export interface DiffPlace extends Pick<TableOptions, 'repository' | 'notesOf'> {
  /** The path of the page, with a question mark at its end, or with other parameters and an ampersand. */
  readonly page: string
  /** Where the whole diff is as text. */
  readonly raw?: string
  /** Returns the page of the whole file before or after the change; null without a page. */
  readonly fileAt?: (file: ShownFile, side: 'old' | 'new') => string | null
  /** The lines whose numbers lead to a form for a note; nothing without forms. */
  readonly noted?: LineForms['lines'] | undefined
}

export interface DiffPart extends DiffPlace {
  readonly diff: ShownDiff
  readonly view: 'inline' | 'parallel'
  readonly only: string | undefined
  readonly tables: ReadonlyMap<ShownFile, Table>
  /** Returns the address of the page with other parameters. */
  readonly at: (query: DiffQuery) => string
  /** Returns the address of the page of one file, with more lines around its changes; null when its path is too long for a link. */
  readonly wholeAt: (file: ShownFile, context?: number) => string | null
}

/** Characters of the beginning of a link that each line of a page has. */
const LONGEST_START = 1000

/** Returns the part of a page that shows changes: `include('/code/diff', part)`. */
export async function diffPart(
  { patches, isCut }: { readonly patches: readonly FilePatch[]; readonly isCut: boolean },
  query: DiffQuery,
  place: DiffPlace
): Promise<DiffPart> {
  const { view = 'inline', file, skip } = query
  const at = (query: DiffQuery) => place.page + queryOf({ ...(view === 'parallel' && { view }), ...query })
  const wholeAt = limitedLinks((path, context: number) => at({ file: path, ...(context > 0 && { context }) }))
  const fileAt = limitedLinks((_path, file: ShownFile, side: 'old' | 'new') => place.fileAt?.(file, side) ?? '')
  const diff = shownDiff(patches, {
    isCut,
    ...(skip !== undefined && { skip }),
    ...(file !== undefined && { only: file })
  })
  const same = queryOf(query)
  const start = `?${same && `${same}&`}note=`
  const forms = place.noted && start.length <= LONGEST_START ? { lines: place.noted, start } : null
  const context = file === undefined ? 0 : contextOf(query.context)
  const { repository, notesOf } = place
  return {
    ...place,
    fileAt: (file, side) => fileAt(side === 'new' ? file.path : file.oldPath, file, side) || null,
    diff,
    view,
    only: file,
    tables: await readTables(diff.files, { repository, view, context, forms, notesOf }),
    at,
    wholeAt: (file, context = 0) => wholeAt(file.path, context)
  }
}

/** Returns the parameters that show the same part of the changes in the same way. */
export const queryOf = ({ view, file, context, skip }: DiffQuery): string =>
  new URLSearchParams({
    ...(view === 'parallel' && { view }),
    ...(file !== undefined && { file }),
    ...(context && { context: String(context) }),
    ...(skip && { skip: String(skip) })
  }).toString()
