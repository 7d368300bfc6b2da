// Finds what the end of an address means, such as `feature/x/src/main.c`: a branch, a tag or a commit, and a path in it.
import { NotFound } from '../../../errors.js'
import { readCommit } from '../../../git/objects/objects.js'
import { valueInFiles } from '../../../git/refs/lookup.js'
import { isRefName, refValue, resolveCommit } from '../../../git/refs/refs.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { commitOf } from '../repository/contents.js'

export interface RefPath {
  readonly repository: string
  readonly kind: 'branch' | 'tag' | 'commit'
  /** The name of the branch or tag, or the id of the commit as it was written. */
  readonly ref: string
  readonly commitId: string
  /** The path of a file or folder, without slashes at its ends; empty for the root folder. */
  readonly path: string
}

/** No branch, tag or commit has the name at the beginning of `REF/PATH`. */
export class MissingRef extends NotFound {
  constructor(readonly asked: string) {
    super('Tree')
  }
}

/** The longest name of a ref, in bytes. */
const LONGEST = 255
const KINDS = [
  ['branch', 'refs/heads/'],
  ['tag', 'refs/tags/']
] as const

/**
 * Splits `REF/PATH`. Not specified: names that fit in several ways. The longest ref wins, a branch before a tag, and both before
 * the id of a commit. Throws MissingRef.
 */
export async function findRefPath(project: ProjectRow, text: string): Promise<RefPath> {
  const repository = repositoryPath(project)
  const parts = text.split('/').filter(part => part !== '')
  for (let count = parts.length; count > 0; count--) {
    const ref = parts.slice(0, count).join('/')
    const found = Buffer.byteLength(ref) > LONGEST ? null : await findRef(repository, ref)
    if (found) return { repository, ref, ...found, path: parts.slice(count).join('/') }
  }
  const [ref = '', ...rest] = parts
  const commit = /^[0-9a-f]{4,40}$/i.test(ref) ? await resolveCommit(repository, ref) : null
  if (commit) return { repository, kind: 'commit', ref, commitId: commit.id, path: rest.join('/') }
  // A branch may be lost in a damaged repository, which must not look as if it had never existed.
  if (project.default_branch !== null && text.startsWith(project.default_branch)) {
    await commitOf(project, repository, project.default_branch)
  }
  throw new MissingRef(text)
}

async function findRef(repository: string, name: string): Promise<Pick<RefPath, 'kind' | 'commitId'> | null> {
  for (const [kind, prefix] of KINDS) {
    const ref = prefix + name
    // The files say at once that most of these names do not exist.
    if (!isRefName(ref) || valueInFiles(repository, ref) === null) continue
    const value = await refValue(repository, ref)
    if (value === null) continue
    const commit = (await readCommit(repository, value)) ?? (await resolveCommit(repository, ref))
    if (commit) return { kind, commitId: commit.id }
  }
  return null
}
