// Writes a file as a commit ("Repository"). Every failure of a write has the status 400, except for a full disk and a damaged
// repository, which no other request would change.
import { type Origin, requireAsker } from '../../access/actor.js'
import { BadRequest, Failure } from '../../errors.js'
import { DamagedRepository } from '../../git/objects.js'
import { isMisleading, isRefName, RefMoved, refValue, ZERO } from '../../git/refs.js'
import {
  type FileChange,
  NothingChanged,
  PathBlocked,
  PathExists,
  PathMissing,
  prepareCommit
} from '../../git/write.js'
import { isDiskFull } from '../../lib/disk-full.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { ensureRepository } from '../projects/repositories.js'
import { moveRefs } from '../refs/move-refs.js'
import type { FileBody, FileDeletion } from './repository.schema.js'

/** Creates or updates a file by a commit on a branch. Throws BadRequest for every failure. */
export async function writeFile(
  project: ProjectRow,
  { action, ...body }: FileBody & { readonly action: 'create' | 'update' },
  origin: Origin
): Promise<void> {
  await commitChange(
    project,
    { body, change: { action, path: storedPath(body.file_path), content: contentOf(body) } },
    origin
  )
}

/** Deletes a file by a commit on a branch. Throws BadRequest for every failure. */
export async function deleteFile(project: ProjectRow, body: FileDeletion, origin: Origin): Promise<void> {
  await commitChange(project, { body, change: { action: 'delete', path: storedPath(body.file_path) } }, origin)
}

/** The path as it is stored: without one slash at its start. */
export const storedPath = (path: string) => path.replace(/^\//, '')

function contentOf({ content, encoding }: FileBody): Buffer {
  if (encoding !== 'base64') return Buffer.from(content)
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(content)) throw new BadRequest('The content is not valid base64')
  return Buffer.from(content, 'base64')
}

async function commitChange(
  project: ProjectRow,
  { body, change }: { readonly body: FileDeletion; readonly change: FileChange },
  origin: Origin
): Promise<void> {
  const user = requireAsker(origin)
  const ref = `refs/heads/${body.branch_name}`
  if (!isRefName(ref) || isMisleading(ref)) throw new BadRequest('The branch name is invalid')
  const repository = await ensureRepository(project)
  const parent = await refValue(repository, ref)
  if (parent === null && project.default_branch !== null) {
    throw new BadRequest('You can only create or edit files when you are on a branch')
  }
  const date = new Date()
  const committer = { name: user.name, email: user.email, date }
  const author = { name: body.author_name ?? user.name, email: body.author_email ?? user.email, date }
  try {
    const { id, write } = await prepareCommit(repository, {
      parent,
      changes: [change],
      message: body.commit_message,
      author,
      committer
    })
    await moveRefs(project, [{ ref, old: parent ?? ZERO, new: id }], origin, write)
  } catch (error) {
    throw asBadRequest(error)
  }
}

function asBadRequest(error: unknown): unknown {
  const why = reason(error)
  if (why) return new BadRequest(`Your changes could not be committed: ${why}`)
  const isOfMachine = isDiskFull(error) || error instanceof DamagedRepository
  if (isOfMachine || error instanceof Failure || !(error instanceof Error)) return error
  return Object.assign(new BadRequest('Your changes could not be committed'), { cause: error })
}

function reason(error: unknown): string | null {
  if (error instanceof PathExists) return 'a file with this name already exists'
  if (error instanceof PathMissing) return 'the file does not exist'
  if (error instanceof PathBlocked) return 'a folder of the path is a file'
  if (error instanceof NothingChanged) return 'the content is the same as before'
  if (error instanceof RefMoved) return 'the branch has changed meanwhile'
  return null
}
