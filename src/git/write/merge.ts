// Merges two commits without a work tree, and copies commits from one repository of this appliance to another.
import { batches } from '../../lib/batches.js'
import { remember } from '../objects/cache.js'
import { DamagedRepository, readCommit } from '../objects/objects.js'
import { isObjectId } from '../objects/reader.js'
import { askGit } from '../process/questions.js'
import { GitFailure, runGit } from '../process/run.js'
import { RefMoved, refValue, updateRef, ZERO } from '../refs/refs.js'
import { prepareMerge } from './write.js'

const ID = /^[0-9a-f]{40}/

/**
 * Returns the tree of a merge of `source` into `target`, two commits that exist; null when they conflict or have no common
 * history. The result never changes, so it is cached: after a restart it takes one process. The objects of the tree are durable,
 * but until a commit refers to them, maintenance may prune them after some days. Call `freshMergeTree` before using them.
 */
export async function mergeTree(repository: string, target: string, source: string): Promise<string | null> {
  const found = await remember(repository, `merge ${target} ${source}`, async () => ({
    value: (await freshMergeTree(repository, target, source)) ?? '',
    size: 40
  }))
  return found || null
}

/** Does the same, and writes the objects of the tree again. */
export async function freshMergeTree(repository: string, target: string, source: string): Promise<string | null> {
  if (!isObjectId(target) || !isObjectId(source)) throw new TypeError('not commits')
  const args = ['merge-tree', '--write-tree', '--no-messages', target, source]
  try {
    const output = await askGit(repository, args)
    return ID.exec(output.toString())?.[0] ?? null
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    if (error.code === 1 || /refusing to merge unrelated histories/.test(error.stderr)) return null
    throw error
  }
}

/** Returns the commits of `wanted` that `after` contains and `before` does not contain. */
export async function containedSince(
  repository: string,
  { before, after, wanted }: { readonly before: string; readonly after: string; readonly wanted: readonly string[] }
): Promise<ReadonlySet<string>> {
  if (![before, after, ...wanted].every(isObjectId)) throw new TypeError('not commits')
  const left = new Set(wanted)
  const found = new Set<string>()
  if (left.size === 0 || after === ZERO) return found
  const range = before === ZERO ? [after] : [after, `^${before}`]
  const args = ['rev-list', `--max-count=${MOST_COMMITS}`, '--end-of-options', ...range, '--']
  const listed = await askGit(repository, args)
  for (const id of listed.toString().split('\n')) if (left.has(id)) found.add(id)
  return found
}

/** The maximum number of commits of a push that are searched for merged commits. */
const MOST_COMMITS = 1_000_000

const TRIES = 20

/**
 * Keeps a commit of `source` reachable in `repository` forever, through one ref of the appliance for all such commits. `source`
 * may be the same repository: then no fetch is needed. One ref for each commit would slow down every clone after some years.
 * Therefore this is a separate history: each of its commits has the previous one and a kept commit as parents.
 */
export async function keepCommit(source: string, id: string, repository: string): Promise<void> {
  if (!isObjectId(id)) throw new TypeError('not a commit')
  if (source !== repository) await bringCommit(source, id, repository)
  const commit = await readCommit(repository, id)
  if (!commit) throw new DamagedRepository(repository, `the commit ${id} is missing`)
  for (let tries = 1; ; tries++) {
    const old = await refValue(repository, KEPT)
    const parents = old === null ? [id] : [old, id]
    const made = prepareMerge(repository, { ...KEEPER, parents, treeId: commit.treeId })
    await made.write()
    try {
      return await updateRef(repository, [{ ref: KEPT, old: old ?? ZERO, new: made.id }])
    } catch (error) {
      if (!(error instanceof RefMoved) || tries === TRIES) throw error
    }
  }
}

/** The parents of one commit that keeps others. */
const KEPT_AT_ONCE = 100

/**
 * Keeps exactly these commits in a repository that nobody else writes, apart from those that a branch or tag reaches. Returns those
 * that are missing.
 */
export async function keepCommits(repository: string, ids: Iterable<string>): Promise<readonly string[]> {
  const [present, missing]: [string[], string[]] = [[], []]
  for (const id of ids) (isObjectId(id) && (await readCommit(repository, id)) ? present : missing).push(id)
  const unreached = await unreachedAmong(repository, present)
  let last: string | null = null
  for (const some of batches(unreached, KEPT_AT_ONCE)) {
    const { treeId } = (await readCommit(repository, some[0] as string)) as { readonly treeId: string }
    const parents: readonly string[] = last === null ? some : [last, ...some]
    const made: ReturnType<typeof prepareMerge> = prepareMerge(repository, { ...KEEPER, parents, treeId })
    await made.write()
    last = made.id
  }
  const old = await refValue(repository, KEPT)
  if (old !== last) await updateRef(repository, [{ ref: KEPT, old: old ?? ZERO, new: last ?? ZERO }])
  return missing
}

/** Those of the commits that no branch or tag reaches. */
async function unreachedAmong(repository: string, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const input = `${ids.join('\n')}\n`
  const args = ['rev-list', '--stdin', '--not', '--branches', '--tags']
  const listed = (await runGit(args, { repository, long: true, input, maxOutput: MOST_LISTED })).toString()
  const wanted = new Set(ids)
  return listed.split('\n').filter(id => wanted.has(id))
}

/** Bytes: 6 million commits that no branch reaches. */
const MOST_LISTED = 256 * 1024 * 1024

/** The history of the commits that merge requests keep. */
export const KEPT = 'refs/internal/kept/merge-requests'
const NOBODY = { name: 'nobody', email: '', date: new Date(0) }
const KEEPER = { message: 'kept for a merge request', author: NOBODY, committer: NOBODY }

/** Fetches by id, because the branch may have moved in the meantime. Protocol 2 allows any object to be fetched by its id. */
async function bringCommit(source: string, id: string, repository: string): Promise<void> {
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules']
  await runGit(['-c', 'protocol.version=2', 'fetch', ...options, '--', source, id], { repository })
}
