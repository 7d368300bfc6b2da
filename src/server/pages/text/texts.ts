// Texts of users as HTML: Markdown whose references lead to what the reader may see.
import type { Actor } from '../../../access/actor.js'
import { findReferenced, keyOfGap, type Referenced } from '../../../areas/planning/discussion/referenced.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import type { Gap } from '../../../text/page-html.js'
import type { TextContext } from '../../../text/page-links.js'
import { pageTexts } from '../../../text/page-texts.js'
import { escaped, label } from '../components.js'

/** The project and the reader: a request has both. */
interface Reading {
  /** The project of the texts. */
  readonly project?: ProjectRow | null
  readonly actor: Actor
}

/**
 * Returns Markdown texts as HTML that is safe to show, in their order. Call it once for all texts of a page: it looks up all their
 * references with a fixed number of statements. `file` is the place of a file in a repository, where its links begin.
 */
export async function textsHtml(
  texts: readonly (string | null)[],
  { project, actor }: Reading,
  file?: TextContext['file']
): Promise<string[]> {
  const context = { project: project ? `${project.namespace_path}/${project.path}` : null, ...(file ? { file } : {}) }
  const pieces = await pageTexts(
    texts.map(text => text ?? ''),
    context
  )
  const references = pieces.flatMap(({ gaps }) => gaps.map(({ reference }) => reference))
  const found = await findReferenced(references, project ?? null, actor)
  return pieces.map(({ parts, gaps }) => parts.map((part, at) => part + fill(gaps[at], found)).join(''))
}

function fill(gap: Gap | undefined, found: ReadonlyMap<string, Referenced>): string {
  if (!gap) return ''
  const to = found.get(keyOfGap(gap.reference))
  if (!to) return gap.words
  if (gap.reference.kind === 'label') return label(to.title, to.color, to.path)
  // The id of a commit says no more with all its digits.
  const words = gap.reference.kind === 'commit' ? gap.words.replace(/([0-9a-f]{8})[0-9a-f]{32}$/, '$1') : gap.words
  return `<a href="${escaped(to.path)}" title="${escaped(to.title)}">${words}</a>`
}
