// Commits of the API on branches: of one file, or of several actions.
import { type Origin, requireAsker } from '../../../../access/actor.js'
import { BadRequest, Failure } from '../../../../errors.js'
import { lastCommitOfPath } from '../../../../git/history/commits.js'
import { DamagedRepository } from '../../../../git/objects/objects.js'
import { isNewRefName, RefMoved, refValue, ZERO } from '../../../../git/refs/refs.js'
import { type FileChange, prepareCommit } from '../../../../git/write/write.js'
import { isDiskFull } from '../../../../lib/disk-full.js'
import { locksOfOthers, whyLocked } from '../../../projects/lfs/push-locks.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { ensureRepository } from '../../../projects/projects/repositories.js'
import { changeBranch } from '../../refs/branch-turns.js'
import { moveRefs } from '../../refs/move-refs.js'

interface CommitBody {
  readonly branch_name: string
  readonly commit_message: string
  readonly author_name?: string
  readonly author_email?: string
}

export interface BranchCommit {
  readonly body: CommitBody
  /** Returns the changes. `isFirst`: the project has no commits. */
  readonly changes: (isFirst: boolean) => readonly ExpectedChange[]
  /** The id of the commit at which the branch begins, if it does not exist. */
  readonly start?: string | undefined
  /** Returns the reason for an error that the caller sees; null for other errors. */
  readonly reason: (error: unknown) => string | null
}

/** A change of a file whose last commit the caller may know. */
export interface ExpectedChange extends FileChange {
  readonly lastCommitId?: string
}

/**
 * Commits changes on a branch, all or none. Returns the id of the commit. Decided: they apply to the branch as it is when
 * the request gets its turn. Throws BadRequest for nearly every failure.
 */
export const commitOn = (project: ProjectRow, commit: BranchCommit, origin: Origin): Promise<string> =>
  changeBranch(project, commit.body.branch_name, origin, async moved => {
    const place = await placeOf(project, commit.body.branch_name, commit.start)
    const changes = commit.changes(place.parent === null)
    return move(project, place, { ...commit, changes, moved }, origin)
  })

/** The branch of a new commit, with its current position. */
interface BranchPlace {
  readonly ref: string
  readonly repository: string
  /** The newest commit of the branch; null for the first one of a project. */
  readonly parent: string | null
  /** The value of the branch; ZERO for a new one. */
  readonly old: string
}

/** Finds a branch for a commit. Throws BadRequest unless the branch exists, has a start, or the project has no commits. */
async function placeOf(project: ProjectRow, branch: string, start?: string): Promise<BranchPlace> {
  const ref = `refs/heads/${branch}`
  if (!isNewRefName(ref)) throw new BadRequest('The branch name is invalid')
  const repository = await ensureRepository(project)
  const value = await refValue(repository, ref)
  if (start !== undefined) {
    if (value !== null) throw new BadRequest('Branch already exists')
    return { ref, repository, parent: start, old: ZERO }
  }
  if (value === null && project.default_branch !== null) {
    throw new BadRequest('You can only create or edit files when you are on a branch')
  }
  return { ref, repository, parent: value, old: value ?? ZERO }
}

/** A file has changed since the commit that the caller knows. */
export class OutdatedFile extends BadRequest {
  constructor() {
    super('You are attempting to update a file that has changed since you started editing it.')
  }
}

/** Throws OutdatedFile. */
async function refuseOutdated(repository: string, parent: string, changes: readonly ExpectedChange[]): Promise<void> {
  for (const { path, from, lastCommitId } of changes) {
    if (lastCommitId && (await lastCommitOfPath(repository, parent, from ?? path)) !== lastCommitId) {
      throw new OutdatedFile()
    }
  }
}

interface KnownCommit extends Omit<BranchCommit, 'changes'> {
  readonly changes: readonly ExpectedChange[]
  readonly moved: () => void
}

async function move(
  project: ProjectRow,
  { ref, repository, parent, old }: BranchPlace,
  { body, changes, reason, moved }: KnownCommit,
  origin: Origin
): Promise<string> {
  const user = requireAsker(origin)
  const date = new Date()
  const committer = { name: user.name, email: user.email, date }
  const author = { name: body.author_name ?? user.name, email: body.author_email ?? user.email, date }
  try {
    const paths = changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
    const locked = whyLocked(paths, await locksOfOthers(project.id, user.id))
    if (locked !== null) throw new BadRequest(locked)
    if (parent !== null) await refuseOutdated(repository, parent, changes)
    const { id, write } = await prepareCommit(repository, {
      parent,
      changes,
      message: body.commit_message,
      author,
      committer
    })
    await moveRefs(project, [{ ref, old, new: id }], origin, { write, moved })
    return id
  } catch (error) {
    throw error instanceof RefMoved ? error : asBadRequest(error, reason)
  }
}

/** Every failure of a write has the status 400, except for those that no other request could avoid. */
function asBadRequest(error: unknown, reason: (error: unknown) => string | null): unknown {
  const why = reason(error)
  if (why) return new BadRequest(why)
  const isOfMachine = isDiskFull(error) || error instanceof DamagedRepository
  if (isOfMachine || error instanceof Failure || !(error instanceof Error)) return error
  return Object.assign(new BadRequest('Your changes could not be committed'), { cause: error })
}
