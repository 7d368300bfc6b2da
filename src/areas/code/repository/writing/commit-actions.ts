// Commits with several actions ("Commits and commit statuses"). All are performed or none.
import type { Origin } from '../../../../access/actor.js'
import { BadRequest } from '../../../../errors.js'
import { type FileChange, NothingChanged, PathBlocked, PathExists, PathMissing } from '../../../../git/write/write.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { contentOf, storedPath } from '../files.js'
import { commitOn, type ExpectedChange } from './branch-commits.js'
import type { CommitAction, CommitBody } from './commits.schema.js'

const KNOWN = ['create', 'update', 'move', 'delete'] as const
const DONE = { create: 'created', update: 'updated', move: 'moved', delete: 'deleted' } as const
/** Letters and digits of any script, as in the reference service. */
const ALLOWED = /^[\p{L}\p{M}\p{N}_\-./@]*$/u

/** Commits the actions on a branch. Returns the id of the commit. Throws BadRequest. */
export const commitActions = (project: ProjectRow, body: CommitBody, origin: Origin): Promise<string> =>
  commitOn(project, { body, changes: isFirst => body.actions.map(action => expected(action, isFirst)), reason }, origin)

// Not specified: `last_commit_id` of a new file. There is none to compare.
const expected = (action: CommitAction, isFirst: boolean): ExpectedChange => ({
  ...changeOf(action, isFirst),
  ...(action.action !== 'create' && { lastCommitId: action.last_commit_id })
})

function changeOf(action: CommitAction, isFirst: boolean): FileChange {
  const kind = KNOWN.find(known => known === action.action)
  if (!action.file_path) throw new BadRequest('You must specify a file_path.')
  const path = checked(action.file_path)
  if (!kind) throw new BadRequest(`Unknown action type \`${action.action ?? ''}\`.`)
  if (isFirst && kind !== 'create') throw new BadRequest(`No files to ${kind}.`)
  if (kind === 'delete') return { action: kind, path }
  if (kind === 'move') {
    if (!action.previous_path) {
      throw new BadRequest(`You must supply the original file path when moving file \`${path}\`.`)
    }
    const from = checked(action.previous_path)
    return { action: kind, path, from, ...(action.content !== undefined && { content: contentOf(action) }) }
  }
  if (action.content === undefined) throw new BadRequest('You must provide content.')
  return { action: kind, path, content: contentOf(action) }
}

function checked(text: string): string {
  const path = storedPath(text)
  const refused = (why: string) =>
    new BadRequest(`Your changes could not be committed, because the file name, \`${path}\` ${why}`)
  if (path.includes('..')) throw refused('cannot include directory traversal.')
  if (!ALLOWED.test(path)) {
    throw refused("can contain only letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'.")
  }
  return path
}

function reason(error: unknown): string | null {
  if (error instanceof PathExists) {
    return error.action === 'move'
      ? `Move destination \`${error.path}\` already exists.`
      : `Your changes could not be committed because a file with the name \`${error.path}\` already exists.`
  }
  if (error instanceof PathMissing) return `File to be ${DONE[error.action]} \`${error.path}\` does not exist.`
  if (error instanceof PathBlocked) return `Your changes could not be committed: \`${error.path}\` is below a file`
  if (error instanceof NothingChanged) return 'Your changes could not be committed: they change nothing'
  return null
}
