// Commits of the API on branches: of one file, or of several actions.
import { type Origin, requireAsker } from '../../../../access/actor.js'
import { BadRequest, Failure } from '../../../../errors.js'
import { DamagedRepository } from '../../../../git/objects/objects.js'
import { isNewRefName, refValue, ZERO } from '../../../../git/refs/refs.js'
import { type FileChange, prepareCommit } from '../../../../git/write/write.js'
import { isDiskFull } from '../../../../lib/disk-full.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { ensureRepository } from '../../../projects/projects/repositories.js'
import { moveRefs } from '../../refs/move-refs.js'

interface CommitBody {
  readonly branch_name: string
  readonly commit_message: string
  readonly author_name?: string
  readonly author_email?: string
}

export interface BranchCommit {
  readonly body: CommitBody
  readonly changes: readonly FileChange[]
  /** Returns the reason for an error that the caller sees; null for other errors. */
  readonly reason: (error: unknown) => string | null
}

/** The branch of a new commit, with its current position. */
export interface BranchPlace {
  readonly ref: string
  readonly repository: string
  /** The newest commit of the branch; null for the first one of a project. */
  readonly parent: string | null
}

/** Finds a branch for a commit. Throws BadRequest unless the branch exists or the project has no commits. */
export async function placeOf(project: ProjectRow, branch: string): Promise<BranchPlace> {
  const ref = `refs/heads/${branch}`
  if (!isNewRefName(ref)) throw new BadRequest('The branch name is invalid')
  const repository = await ensureRepository(project)
  const parent = await refValue(repository, ref)
  if (parent === null && project.default_branch !== null) {
    throw new BadRequest('You can only create or edit files when you are on a branch')
  }
  return { ref, repository, parent }
}

/** Commits changes on a branch, all or none. Returns the id of the commit. Throws BadRequest for nearly every failure. */
export async function commitOn(
  project: ProjectRow,
  { ref, repository, parent }: BranchPlace,
  { body, changes, reason }: BranchCommit,
  origin: Origin
): Promise<string> {
  const user = requireAsker(origin)
  const date = new Date()
  const committer = { name: user.name, email: user.email, date }
  const author = { name: body.author_name ?? user.name, email: body.author_email ?? user.email, date }
  try {
    const { id, write } = await prepareCommit(repository, {
      parent,
      changes,
      message: body.commit_message,
      author,
      committer
    })
    await moveRefs(project, [{ ref, old: parent ?? ZERO, new: id }], origin, { write })
    return id
  } catch (error) {
    throw asBadRequest(error, reason)
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
