// Trees, blobs and commits as the API reads them. A project without a repository yet reads as an empty one.
import type { Readable } from 'node:stream'
import { NotFound } from '../../errors.js'
import { openBlob } from '../../git/blob.js'
import { type Commit, type CommitStats, commitStats, readCommit } from '../../git/commits.js'
import { resolveCommit } from '../../git/refs.js'
import { GitLimit } from '../../git/run.js'
import { findEntry, listTree, type PathEntry } from '../../git/tree.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { repositoryPath } from '../projects/repositories.js'

/** The most entries of one answer: the API does not paginate trees. */
const TREE_LIMIT = 100_000

/**
 * The entries of a folder; an empty list for a project without commits. Throws NotFound for the commit or the folder.
 */
export async function readTreeOf(
  project: ProjectRow,
  { path = '', ref_name: ref, recursive = false }: { path?: string; ref_name?: string; recursive?: boolean }
): Promise<PathEntry[]> {
  const repository = repositoryPath(project)
  const name = ref || project.default_branch
  // Not specified: the tree of a project without commits. We answer an empty list, because nothing is wrong.
  if (name === null) return []
  const commit = await resolveCommit(repository, name)
  const entries = commit && (await listTree(repository, commit.id, path, recursive, TREE_LIMIT))
  if (!entries) throw new NotFound('Tree')
  return entries
}

export interface Blob {
  readonly size: number
  readonly stream: Readable
  readonly name: string
}

/** Opens a file of a commit, branch or tag. Throws NotFound for the commit or the file. */
export async function openFileOf(project: ProjectRow, sha: string, path: string): Promise<Blob> {
  const repository = repositoryPath(project)
  const commit = await resolveCommit(repository, sha)
  if (!commit) throw new NotFound('Commit')
  const entry = await findEntry(repository, commit.id, path)
  const blob = entry?.type === 'blob' ? await openBlob(repository, entry.id) : null
  if (!blob) throw new NotFound('File')
  return { ...blob, name: path.slice(path.lastIndexOf('/') + 1) }
}

/** Opens a blob by its id. Throws NotFound. */
export async function openBlobOf(project: ProjectRow, id: string): Promise<Blob> {
  const blob = await openBlob(repositoryPath(project), id.toLowerCase())
  if (!blob) throw new NotFound('Blob')
  return { ...blob, name: id }
}

export interface CommitReading {
  readonly commit: Commit
  /** Null when the commit changes more than can be counted. */
  readonly stats: CommitStats | null
}

/** Reads a commit by id, branch or tag. Throws NotFound. */
export async function readCommitOf(project: ProjectRow, name: string): Promise<CommitReading> {
  const repository = repositoryPath(project)
  const found = await resolveCommit(repository, name)
  const [commit, stats] = found
    ? await Promise.all([readCommit(repository, found.id), statsOf(repository, found.id)])
    : [null, null]
  if (!commit) throw new NotFound('Commit')
  return { commit, stats }
}

/** Not specified: a commit that changes more than can be counted. The rest of it is still worth reading. */
async function statsOf(repository: string, id: string): Promise<CommitStats | null> {
  try {
    return await commitStats(repository, id)
  } catch (error) {
    if (error instanceof GitLimit) return null
    throw error
  }
}
