// Writes a file as a commit ("Repository").
import type { Origin } from '../../../access/actor.js'
import { BadRequest } from '../../../errors.js'
import { type FileChange, NothingChanged, PathBlocked, PathExists, PathMissing } from '../../../git/write/write.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { FileDeletion, FileUpdate } from './repository.schema.js'
import { commitOn } from './writing/branch-commits.js'

/** `start` is the commit at which a new branch begins; without it, the branch must exist. */
interface Start {
  readonly start?: string | undefined
}

/** Creates or updates a file by a commit on a branch. Throws BadRequest for every failure. */
export async function writeFile(
  project: ProjectRow,
  { action, start, ...body }: FileUpdate & Start & { readonly action: 'create' | 'update' },
  origin: Origin
): Promise<void> {
  await commitChange(
    project,
    { body, start, change: { action, path: storedPath(body.file_path), content: contentOf(body) } },
    origin
  )
}

/** Deletes a file by a commit on a branch. Throws BadRequest for every failure. */
export async function deleteFile(
  project: ProjectRow,
  { start, ...body }: FileDeletion & Start,
  origin: Origin
): Promise<void> {
  await commitChange(project, { body, start, change: { action: 'delete', path: storedPath(body.file_path) } }, origin)
}

/** Returns the path as it is stored, without a leading slash. */
export const storedPath = (path: string) => path.replace(/^\//, '')

/** Returns the bytes of a file that a body contains as text or in Base64. Throws BadRequest. */
export function contentOf({
  content = '',
  encoding
}: {
  readonly content?: string
  readonly encoding?: string
}): Buffer {
  if (encoding !== 'base64') return Buffer.from(content)
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(content)) throw new BadRequest('The content is not valid base64')
  return Buffer.from(content, 'base64')
}

async function commitChange(
  project: ProjectRow,
  { body, start, change }: Start & { readonly body: FileDeletion; readonly change: FileChange },
  origin: Origin
): Promise<void> {
  const changes = () => [{ ...change, lastCommitId: body.last_commit_id }]
  await commitOn(project, { body, changes, start, reason }, origin)
}

function reason(error: unknown): string | null {
  const why = detail(error)
  return why && `Your changes could not be committed: ${why}`
}

function detail(error: unknown): string | null {
  if (error instanceof PathExists) return 'a file with this name already exists'
  if (error instanceof PathMissing) return 'the file does not exist'
  if (error instanceof PathBlocked) return 'a folder of the path is a file'
  if (error instanceof NothingChanged) return 'the content is the same as before'
  return null
}
