// The page of one commit: its message, its statuses, its changes with the comments on their lines, and all comments.
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { listCommitStatuses } from '../../../areas/ci/pipelines/statuses/commit-statuses.queries.js'
import { refsAt } from '../../../areas/code/browsing/branch-pages.js'
import { readDiff } from '../../../areas/code/history/commit-diff.js'
import { readCommitOf } from '../../../areas/code/repository/contents.js'
import type { DiffLine, ShownFile } from '../../../text/diff.js'
import { commitTitle } from '../components.js'
import { renderPart } from '../page.js'
import { formToken } from '../page-routes.js'
import { projectPath } from '../place.js'
import { type Discussion, readCommitDiscussion } from '../planning/discussion.js'
import { type DiffQuery, diffPart } from './diff.js'
import type { LineNotes } from './diff-rows.js'
import { codePath } from './places.js'

/** Statuses that the page lists. */
const MOST_STATUSES = 50

export interface CommitPageQuery extends DiffQuery {
  /** The id of the line that gets a comment. */
  readonly note?: string
}

export async function readCommitPage(request: FastifyRequest, id: string, query: CommitPageQuery) {
  const { project, actor } = request
  const base = projectPath(project)
  const [{ commit, stats }, changes, statuses, discussion, refs] = await Promise.all([
    readCommitOf(project, id),
    readDiff(project, id),
    listCommitStatuses(project.id, id, { per_page: MOST_STATUSES }),
    readCommitDiscussion(request, id),
    refsAt(project, id, { branches: may(actor, 'branch.read', project) })
  ])
  const [parent] = commit.parentIds
  const diff = diffPart(changes, query, {
    page: `${base}/commit/${id}?`,
    raw: `${base}/commit/${id}.diff`,
    fileAt: ({ path, oldPath }, side) =>
      side === 'new' ? codePath(base, 'blob', id, path) : parent ? codePath(base, 'blob', parent, oldPath) : null,
    ...lineNotes(request, discussion, query)
  })
  const mayReadBuilds = may(actor, 'build.read', project)
  return { title: commitTitle(commit.message), base, commit, stats, refs, diff, statuses, discussion, mayReadBuilds }
}

interface LinePlace {
  readonly path: string
  readonly number: number | null
  readonly side: string
}

const placeOf = ({ path }: ShownFile, { kind, old, new: young }: DiffLine): LinePlace =>
  kind === 'removed' ? { path, number: old, side: 'old' } : { path, number: young, side: 'new' }

const keyOf = ({ path, number, side }: LinePlace): string => `${side} ${number} ${path}`

const idOf = (file: ShownFile, line: DiffLine): string => {
  const { number, side } = placeOf(file, line)
  return `${file.anchor}-${side === 'old' ? 'L' : 'R'}${number}`
}

/** Shows comments below their lines, and a form below the line that the query names. Only changed lines can have comments. */
function lineNotes(request: FastifyRequest, discussion: Discussion, query: CommitPageQuery): LineNotes {
  const { base, mayWrite } = discussion
  const placed = Map.groupBy(
    discussion.notes.filter(({ line }) => line !== null),
    ({ line }) => keyOf(line as LinePlace)
  )
  const notesAt = (file: ShownFile, line: DiffLine): string => {
    const place = placeOf(file, line)
    const notes = placed.get(keyOf(place)) ?? []
    const isAsked = mayWrite && line.kind !== 'same' && query.note === idOf(file, line)
    if (notes.length === 0 && !isAsked) return ''
    const form = isAsked ? { action: base, place, token: formToken(request) } : null
    return renderPart('code/line-notes', { notes, form })
  }
  return {
    // It would run for each line, and most commits have no such comments.
    ...((placed.size > 0 || query.note !== undefined) && { notesAt }),
    ...(mayWrite && { noteFormAt: formLinks(query) })
  }
}

/** Returns the link of a changed line to its form. It is short, because every changed line has one. */
function formLinks({ view, file, skip }: DiffQuery): (file: ShownFile, line: DiffLine) => string | null {
  const kept = { ...(view && { view }), ...(file !== undefined && { file }), ...(skip && { skip: String(skip) }) }
  const start = `?${new URLSearchParams({ ...kept, note: '' })}`
  return (shown, line) => {
    if (line.kind === 'same') return null
    const id = idOf(shown, line)
    return `${start}${id}#${id}`
  }
}
