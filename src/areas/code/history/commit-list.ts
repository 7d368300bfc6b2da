// Lists the commits of a branch, of a tag, or before a commit ("Commits").
import { BadRequest, NotFound } from '../../../errors.js'
import { listCommits } from '../../../git/history/log.js'
import { type Commit, DamagedRepository, readCommit } from '../../../git/objects/objects.js'
import { checkPath } from '../../../git/objects/path.js'
import { parseMoment } from '../../../lib/moment.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { commitOf } from '../repository/contents.js'

export interface CommitListQuery {
  readonly ref_name?: string
  readonly since?: string
  readonly until?: string
  readonly path?: string
  readonly page?: number
  readonly per_page?: number
}

export interface CommitListing {
  /** The id of the commit to begin with; null for a project without commits. */
  readonly tip: string | null
  readonly read: () => Promise<Commit[]>
}

const DEFAULT = 20
const MOST = 100

/** Finds the first commit of a list. Throws NotFound for an unknown ref, BadRequest for an invalid time, and InvalidPath. */
export async function findCommits(project: ProjectRow, query: CommitListQuery): Promise<CommitListing> {
  const since = secondsOf('since', query.since)
  const until = secondsOf('until', query.until)
  const path = pathOf(query.path)
  const name = query.ref_name || project.default_branch
  // Not specified: the commits of a project without any. We return an empty list, as for its tree.
  if (name === null) return { tip: null, read: async () => [] }
  const repository = repositoryPath(project)
  const commit = await commitOf(project, repository, name)
  // Decided: an unknown `ref_name` in a list of commits: 404 `404 Ref Not Found`.
  if (!commit) throw new NotFound('Ref')
  const tip = commit.id
  return {
    tip,
    read: async () =>
      readCommits(repository, await listCommits(repository, { tip, ...pagePosition(query), since, until, path }))
  }
}

/** Pages count from 0 here, but from 1 in all other lists. */
function pagePosition({ page = 0, per_page: perPage = DEFAULT }: CommitListQuery) {
  if (perPage < 0) throw new BadRequest('per_page is invalid')
  const count = perPage === 0 ? DEFAULT : Math.min(perPage, MOST)
  return { count, skip: Math.max(page, 0) * count }
}

function secondsOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const moment = parseMoment(text)
  if (!moment) throw new BadRequest(`"${name}" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ`)
  return Math.max(0, Math.floor(moment.getTime() / 1000))
}

/** Removes slashes at both ends, because git paths have none there. */
function pathOf(path = ''): string {
  const plain = path.replace(/^\//, '').replace(/\/+$/, '')
  if (plain !== '') checkPath(plain)
  return plain
}

/** Reads existing commits. */
export const readCommits = (repository: string, ids: readonly string[]): Promise<Commit[]> =>
  Promise.all(
    ids.map(async id => {
      const commit = await readCommit(repository, id)
      if (!commit) throw new DamagedRepository(repository, `the commit ${id} is missing`)
      return commit
    })
  )
