// The commits that one page or job names, wherever their repositories are. Each other machine gets one question, about all of its
// repositories.
import {
  MOST_COMMITS,
  type NamedCommit,
  type StoredElsewhere,
  withElsewhere
} from '../../../../cluster/repository-elsewhere.js'
import { ownerNow } from '../../../../cluster/storages.js'
import { Unavailable } from '../../../../errors.js'
import { type Commit, readCommit } from '../../../../git/objects/objects.js'
import { isObjectId, objectInfo } from '../../../../git/objects/reader.js'
import { log } from '../../../../log.js'
import { repositoryPath } from '../repositories.js'

/** Milliseconds for the answer of another machine. */
const PATIENCE_MS = 5000

/** Reads a commit of a repository of this machine by its id, or the beginning of it; null without one. */
export async function commitIn(repository: string, name: string): Promise<Commit | null> {
  if (isObjectId(name)) return readCommit(repository, name)
  const object = await objectInfo(repository, name)
  const commit = object?.type === 'commit' ? await readCommit(repository, object.id) : null
  return commit?.id.startsWith(name) ? commit : null
}

/**
 * Reads commits in the order of their names: null for one that does not exist, and undefined for one whose machine does not answer.
 */
export async function readNamedCommits(wanted: readonly NamedCommit[]): Promise<(Commit | null | undefined)[]> {
  const found = new Map<NamedCommit, Commit | null>()
  const owners = Map.groupBy(wanted, ({ project }) => ownerNow(project.storage))
  const readFrom = async (owner: string | null | undefined, some: readonly NamedCommit[]) => {
    const commits = owner === undefined ? [] : owner === null ? await readHere(some) : await ask(some)
    for (const [at, commit] of commits.entries()) if (some[at]) found.set(some[at], commit)
  }
  await Promise.all([...owners].map(([owner, some]) => readFrom(owner, some)))
  return wanted.map(each => found.get(each))
}

const readHere = (wanted: readonly NamedCommit[]) =>
  Promise.all(wanted.map(({ project, name }) => commitIn(repositoryPath(project), name)))

async function ask(wanted: readonly NamedCommit[]): Promise<(Commit | null)[]> {
  const of = wanted
    .slice(0, MOST_COMMITS)
    .map(({ project: { id, storage }, name }) => ({ project: { id, storage }, name }))
  const project: StoredElsewhere | undefined = of[0]?.project
  if (!project) return []
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const lines = await withElsewhere(project, owner => owner.text({ want: 'commits', of }), signal)
    return lines.split('\n').filter(Boolean).map(readLine)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    log().warn({ storage: project.storage, error: error.message }, 'commits of another machine cannot be read')
    return []
  }
}

function readLine(line: string): Commit | null {
  const commit = JSON.parse(line) as Commit | null
  return (
    commit && {
      ...commit,
      authoredDate: new Date(commit.authoredDate),
      committedDate: new Date(commit.committedDate)
    }
  )
}
