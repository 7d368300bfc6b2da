import { changedAt } from '../../storage/stored-files.js'
import { knownHashes, listRepositories } from './stored-repositories.js'

export interface OrphanedRepositories {
  /** Repositories of no project. */
  readonly paths: readonly string[]
  /** Folders beside the place of a repository, in which a creation or removal began and never ended. */
  readonly drafts: readonly string[]
  readonly looked: number
}

/** Looks for repositories without a project whose last change is older than `before` (milliseconds). */
export async function orphanedRepositories(before: number): Promise<OrphanedRepositories> {
  const [paths, drafts]: [string[], string[]] = [[], []]
  const known = await knownHashes()
  let looked = 0
  for await (const { path, hash, draft } of listRepositories()) {
    looked += 1
    if (!draft && known.has(hash)) continue
    const changed = await changedAt(path)
    if (changed === null || changed >= before) continue
    ;(draft ? drafts : paths).push(path)
  }
  return { paths, drafts, looked }
}
