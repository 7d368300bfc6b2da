// Edits one file as a commit, as people do it on a page: a text with the line ends of the file, on its branch or on a new one.
import { isUtf8 } from 'node:buffer'
import type { Actor, Origin } from '../../../access/actor.js'
import { levelIn } from '../../../access/authorize.js'
import { NotFound } from '../../../errors.js'
import { lastCommitOfPath } from '../../../git/history/commits.js'
import { readBlob } from '../../../git/objects/blob.js'
import { ZERO } from '../../../git/refs/refs.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { findProtections } from '../refs/protected-branches.queries.js'
import { allows } from '../refs/protection.js'
import { deleteFile, writeFile } from '../repository/files.js'
import { decodeText, findFileAt } from './file-texts.js'
import { findRefPath, type RefPath } from './ref-paths.js'

/** Bytes of a file that people edit here. */
export const LONGEST_EDITED = 524_288
const MARK = '\ufeff'

export interface EditedFile {
  /** With line feeds only, and without a byte order mark. */
  readonly text: string
  /** The last commit that changed it: a newer one makes the edit outdated. */
  readonly lastCommitId: string
}

/** Finds a branch and a path in it; for a project without commits, the branch of the first one. Throws NotFound for tags and commits. */
export async function findBranchPath(project: ProjectRow, text: string): Promise<RefPath> {
  if (project.default_branch === null) {
    const [ref = 'master', ...rest] = text.split('/').filter(Boolean)
    return { repository: repositoryPath(project), kind: 'branch', ref, commitId: ZERO, path: rest.join('/') }
  }
  const found = await findRefPath(project, text)
  if (found.kind !== 'branch') throw new NotFound('Branch')
  return found
}

/** Reads a file of a branch to edit it; null for one that is not a text, is too large, or is a link. Throws NotFound. */
export async function readEdited(found: RefPath): Promise<EditedFile | null> {
  const content = await contentOf(found)
  const last = await lastCommitOfPath(found.repository, found.commitId, found.path)
  const text = content && isUtf8(content) ? decodeText(content) : null
  return text === null ? null : { text: text.replaceAll('\r\n', '\n'), lastCommitId: last ?? found.commitId }
}

async function contentOf(found: RefPath): Promise<Buffer | null> {
  const { entry, size } = await findFileAt(found)
  if (entry.mode === '120000' || size > LONGEST_EDITED) return null
  return readBlob(found.repository, entry.id, LONGEST_EDITED)
}

/** Whether somebody may commit to the branch itself, and not only to a new one. */
export async function mayCommitTo(project: ProjectRow, branch: string, actor: Actor): Promise<boolean> {
  const protection = (await findProtections(project.id)).of(branch)
  return protection === null || allows(protection, levelIn(project, actor), 'push')
}

export interface Edit {
  /** Also the path of a new file. */
  readonly path: string
  readonly message: string
  /** The branch that gets the commit; one that does not exist begins at the branch of the file. */
  readonly target: string
  readonly lastCommitId?: string | undefined
}

/** Writes a text to a file. Browsers send it with `\r\n`. Throws OutdatedFile, and BadRequest for every other failure. */
export async function saveText(
  project: ProjectRow,
  found: RefPath,
  { text, action, ...edit }: Edit & { readonly text: string; readonly action: 'create' | 'update' },
  origin: Origin
): Promise<void> {
  const before = action === 'update' ? ((await contentOf(found))?.toString() ?? '') : ''
  const plain = text.replaceAll('\r\n', '\n')
  // A file with both kinds of line ends gets the more frequent one.
  const isWindows = countOf(before, '\r\n') * 2 > countOf(before, '\n')
  const content = (before.startsWith(MARK) ? MARK : '') + (isWindows ? plain.replaceAll('\n', '\r\n') : plain)
  await writeFile(project, { ...bodyOf(found, edit), content, action }, origin)
}

/** Deletes a file. Throws OutdatedFile, and BadRequest for every other failure. */
export const removeFile = (project: ProjectRow, found: RefPath, edit: Edit, origin: Origin): Promise<void> =>
  deleteFile(project, bodyOf(found, edit), origin)

const bodyOf = (found: RefPath, { path, message, target, lastCommitId }: Edit) => ({
  file_path: path,
  branch_name: target,
  commit_message: message,
  ...(lastCommitId !== undefined && { last_commit_id: lastCommitId }),
  start: target === found.ref || found.commitId === ZERO ? undefined : found.commitId
})

const countOf = (text: string, part: string): number => text.split(part).length - 1
