// Lists the branches or tags of a repository by name, without a git process.
import { existsSync } from 'node:fs'
import { forgetWithPool } from '../../../db/connect/connection.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import { unreadableRefs } from '../../../git/refs/files.js'
import { listEveryRef } from '../../../git/refs/list.js'
import { listIntactRefs } from '../../../git/refs/refs.js'
import { lruOf } from '../../../lib/lru.js'
import { log } from '../../../log.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { refuseLostBranch } from './lost-branch.js'

export interface NamedRef {
  /** Without `refs/heads/` or `refs/tags/`. U+FFFD stands for bytes that are not UTF-8. */
  readonly name: string
  /** The value of the ref; for an annotated tag the id of the tag object. */
  readonly id: string
  /** The object that it finally points to. */
  readonly target: string
}

/**
 * Lists the refs below `refs/heads/` or `refs/tags/`, sorted by the bytes of their names. Throws DamagedRepository when the
 * repository has lost its default branch.
 */
export async function namedRefs(
  project: StoredProject & { readonly default_branch: string | null },
  prefix: 'refs/heads/' | 'refs/tags/'
): Promise<readonly NamedRef[]> {
  const repository = repositoryPath(project)
  if (!existsSync(repository)) {
    if (project.default_branch === null) return []
    throw new DamagedRepository(repository, 'it does not exist')
  }
  await refuseLostBranch(project, repository)
  const all = await listEveryRef(repository)
  if (!all) {
    // Something is unusual: git knows how to read it.
    const { refs, lost } = await listIntactRefs(repository, prefix)
    noteUnreadable(project.id, [...unreadableRefs(repository, prefix.slice(0, -1)), ...lost])
    return refs.map(({ name, id, target }) => ({ name: name.slice(prefix.length), id, target: target ?? id }))
  }
  return all.refs
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, id, peeled }) => ({
      name: Buffer.from(name.slice(prefix.length), 'latin1').toString(),
      id,
      target: peeled ?? id
    }))
}

/** Milliseconds between two lines of the log about the same refs. */
const AGAIN_MS = 3_600_000
const noted = lruOf<string, true>(1000, { ttl: AGAIN_MS })
forgetWithPool(() => noted.clear())

/** Such a ref is only left out of the list, and its users would not learn why. */
function noteUnreadable(project: number, refs: readonly string[]): void {
  const key = `${project} ${refs.join(' ')}`
  if (refs.length === 0 || noted.has(key)) return
  noted.set(key, true)
  log().warn({ project, refs: refs.slice(0, 20), of: refs.length }, 'refs cannot be read: push or restore them')
}
