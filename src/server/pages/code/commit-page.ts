// The page of one commit: its message, its statuses, its changes with the comments on their lines, and all comments.
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { listCommitStatuses } from '../../../areas/ci/pipelines/statuses/commit-statuses.queries.js'
import { refsAt } from '../../../areas/code/browsing/branch-pages.js'
import { readDiff } from '../../../areas/code/history/commit-diff.js'
import { readCommitOf } from '../../../areas/code/repository/contents.js'
import { repositoryPath } from '../../../areas/projects/projects/repositories.js'
import type { DiffLine, ShownFile } from '../../../text/diff.js'
import { commitTitle } from '../components.js'
import { renderPart } from '../page.js'
import { formToken } from '../page-routes.js'
import { projectPath } from '../place.js'
import { type Discussion, readCommitDiscussion } from '../planning/discussion.js'
import { excerptsIn } from '../planning/excerpts.js'
import { type DiffPlace, type DiffQuery, diffPart } from './diff.js'
import { lineId } from './diff-rows.js'
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
  const diff = await diffPart(changes, query, {
    repository: repositoryPath(project),
    page: `${base}/commit/${id}?`,
    raw: `${base}/commit/${id}.diff`,
    fileAt: ({ path, oldPath }, side) =>
      side === 'new' ? codePath(base, 'blob', id, path) : parent ? codePath(base, 'blob', parent, oldPath) : null,
    ...lineNotes(request, discussion, query)
  })
  const mayReadBuilds = may(actor, 'build.read', project)
  const pick = may(actor, 'commit.write', project) && { branch: '' }
  return {
    pick,
    ...{ title: commitTitle(commit.message), base, commit, stats, refs, diff, statuses, mayReadBuilds },
    discussion: { ...discussion, excerpts: excerptsIn(changes.patches, discussion.notes) }
  }
}

interface LinePlace {
  readonly path: string
  readonly number: number | null
  readonly side: string
}

const placeOf = ({ path }: ShownFile, { kind, old, new: young }: DiffLine): LinePlace =>
  kind === 'removed' ? { path, number: old, side: 'old' } : { path, number: young, side: 'new' }

const keyOf = ({ number, side }: Omit<LinePlace, 'path'>): string => `${side} ${number}`

/** Shows comments below their lines, and a form below the line that the query names. Only changed lines can have comments. */
function lineNotes(
  request: FastifyRequest,
  { base, mayWrite, notes }: Discussion,
  query: CommitPageQuery
): Pick<DiffPlace, 'notesOf' | 'noted'> {
  const byFile = Map.groupBy(
    notes.filter(({ line }) => line !== null),
    ({ line }) => line?.path
  )
  const asked = mayWrite ? query.note : undefined
  const notesOf = (file: ShownFile) => {
    const all = byFile.get(file.path) ?? []
    if (all.length === 0 && !asked?.startsWith(file.anchor)) return null
    const placed = Map.groupBy(all, ({ line }) => keyOf(line as LinePlace))
    return (line: DiffLine): string => {
      const place = placeOf(file, line)
      const here = placed.get(keyOf(place)) ?? []
      const isAsked = line.kind !== 'same' && asked === lineId(file, line)
      if (here.length === 0 && !isAsked) return ''
      const form = isAsked ? { action: base, place, token: formToken(request) } : null
      return renderPart('code/line-notes', { notes: here, form })
    }
  }
  return { notesOf, ...(mayWrite && { noted: 'changed' }) }
}
