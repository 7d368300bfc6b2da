import { changedAt } from '../../../storage/stored-files.js'
import { knownHashes, listRepositories } from './stored-repositories.js'

export interface OrphanedRepositories {
  /** Repositories without a project. */
  readonly paths: readonly string[]
  /** Folders next to the place of a repository, left by an interrupted creation or removal. */
  readonly drafts: readonly string[]
  readonly looked: number
}

/** Finds repositories without a project whose last change is older than `before` (milliseconds). */
export async function orphanedRepositories(before: number): Promise<OrphanedRepositories> {
  const [paths, drafts]: [string[], string[]] = [[], []]
  const isKnown = await knownHashes()
  let looked = 0
  for await (const { path, hash, draft } of listRepositories()) {
    looked += 1
    if (!draft && isKnown(hash)) continue
    const changed = await changedAt(path)
    if (changed === null || changed >= before) continue
    ;(draft ? drafts : paths).push(path)
  }
  return { paths, drafts, looked }
}
