// Trees, blobs and commits as the API reads them. A project without a repository yet reads like an empty one.
import { Readable } from 'node:stream'
import { NotFound } from '../../../errors.js'
import { type Commit, type CommitStats, commitStats, readCommit } from '../../../git/history/commits.js'
import { blobSize, openBlob } from '../../../git/objects/blob.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import { findEntry } from '../../../git/objects/tree.js'
import { GitLimit } from '../../../git/process/run.js'
import { resolveCommit } from '../../../git/refs/refs.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { isRecorded } from '../refs/ref-changes.queries.js'
import { storedPath } from './files.js'

/** Finds the commit for a name. Throws DamagedRepository when the repository has lost its default branch. */
export async function commitOf(project: ProjectRow, repository: string, name: string) {
  const found = await resolveCommit(repository, name)
  if (found) return found
  // The repository itself does not show that it has lost a ref, but the record of its changes does.
  if (name === project.default_branch && (await isRecorded(project.id, `refs/heads/${name}`))) {
    throw new DamagedRepository(repository, `it has lost its default branch ${name}`)
  }
  return null
}

export interface FoundFolder {
  readonly repository: string
  /** The path, without trailing slashes. */
  readonly folder: string
  /** The id of its tree. */
  readonly id: string
}

/** Finds a folder. Decided: throws NotFound for the commit, the folder, and a project without commits. */
export async function findFolderOf(
  project: ProjectRow,
  { path = '', ref_name: ref }: { path?: string; ref_name?: string }
): Promise<FoundFolder> {
  const repository = repositoryPath(project)
  const name = ref || project.default_branch
  const commit = name === null ? null : await commitOf(project, repository, name)
  // Not specified: trailing slashes of the path are ignored.
  const folder = storedPath(path).replace(/\/+$/, '')
  const entry = commit && (await findEntry(repository, commit.id, folder))
  if (entry?.type !== 'tree') throw new NotFound('Tree')
  return { repository, folder, id: entry.id }
}

export interface FoundBlob {
  readonly repository: string
  readonly id: string
  readonly name: string
}

/** Finds the entry of a file in a commit, branch or tag. Throws NotFound for the commit or the file. */
export async function findEntryOf(project: ProjectRow, name: string, path: string) {
  const repository = repositoryPath(project)
  const commit = await commitOf(project, repository, name)
  if (!commit) throw new NotFound('Commit')
  const entry = await findEntry(repository, commit.id, path)
  if (entry?.type !== 'blob') throw new NotFound('File')
  return { repository, commitId: commit.id, entry }
}

/** Finds a file of a commit, branch or tag. Throws NotFound for the commit or the file. */
export async function findFileOf(project: ProjectRow, sha: string, path: string): Promise<FoundBlob> {
  const { repository, entry } = await findEntryOf(project, sha, path)
  return { repository, id: entry.id, name: path.slice(path.lastIndexOf('/') + 1) }
}

/** Finds a blob by its id. Throws NotFound. */
export async function findBlobOf(project: ProjectRow, id: string): Promise<FoundBlob> {
  const repository = repositoryPath(project)
  if ((await blobSize(repository, id.toLowerCase())) === null) throw new NotFound('Blob')
  return { repository, id: id.toLowerCase(), name: id }
}

/** Opens a blob that was found. Without `content`, the stream is empty. Throws DamagedRepository. */
export async function openFound({ repository, id }: FoundBlob, { content }: { readonly content: boolean }) {
  const size = await blobSize(repository, id)
  const empty = size === null ? null : { size, stream: Readable.from([]) }
  const blob = content ? await openBlob(repository, id) : empty
  if (!blob) throw new DamagedRepository(repository, `the blob ${id} is missing`)
  return blob
}

export interface CommitReading {
  readonly commit: Commit
  /** Null when the commit changes too much to be counted. */
  readonly stats: CommitStats | null
}

/** Returns the id of a commit by its id, a branch or a tag. Throws NotFound. */
export async function findCommitOf(project: ProjectRow, name: string): Promise<string> {
  const found = await commitOf(project, repositoryPath(project), name)
  if (!found) throw new NotFound('Commit')
  return found.id
}

/** Reads an existing commit. */
export async function readCommitOf(project: ProjectRow, id: string): Promise<CommitReading> {
  const repository = repositoryPath(project)
  const [commit, stats] = await Promise.all([readCommit(repository, id), statsOf(repository, id)])
  if (!commit) throw new DamagedRepository(repository, `the commit ${id} is missing`)
  return { commit, stats }
}

/** Not specified: a commit that changes too much to be counted. The rest of it is still useful. */
async function statsOf(repository: string, id: string): Promise<CommitStats | null> {
  try {
    return await commitStats(repository, id)
  } catch (error) {
    if (error instanceof GitLimit) return null
    throw error
  }
}
