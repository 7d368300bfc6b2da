// Merges two commits without a work tree, and brings commits of one repository of this appliance to another.
import { remember } from './cache.js'
import { isObjectId } from './reader.js'
import { isRefName, refValue, updateRef, ZERO } from './refs.js'
import { GitFailure, runGit } from './run.js'

const ID = /^[0-9a-f]{40}/
/** Seconds for one merge, and seconds of processor time: a merge of 10,000 changed files takes less than one. */
const TIME = 60
const PROCESSOR = 30

/**
 * Returns the tree of a merge of `source` into `target`, two commits that exist; null when they conflict, or have no common
 * history. The answer never changes, so it is kept: after a restart it costs one process. The objects of the tree are durable,
 * but until a commit refers to them, maintenance may prune them after some days: call `freshMergeTree` to use them.
 */
export async function mergeTree(repository: string, target: string, source: string): Promise<string | null> {
  const found = await remember(repository, `merge ${target} ${source}`, async () => ({
    value: (await freshMergeTree(repository, target, source)) ?? '',
    size: 40
  }))
  return found || null
}

/** Does the same, and writes the objects of the tree anew. */
export async function freshMergeTree(repository: string, target: string, source: string): Promise<string | null> {
  if (!isObjectId(target) || !isObjectId(source)) throw new TypeError('not commits')
  const args = ['merge-tree', '--write-tree', '--no-messages', target, source]
  try {
    const output = await runGit(args, { repository, timeout: TIME, processor: PROCESSOR })
    return ID.exec(output.toString())?.[0] ?? null
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    if (error.code === 1 || /refusing to merge unrelated histories/.test(error.stderr)) return null
    throw error
  }
}

/** Returns the commits of a range that are asked for: those of `wanted` that `after` contains and `before` does not. */
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
  const listed = await runGit(args, { repository, timeout: TIME })
  for (const id of listed.toString().split('\n')) if (left.has(id)) found.add(id)
  return found
}

/** The most commits of a push among which merged ones are looked for. */
const MOST_COMMITS = 1_000_000

/**
 * Makes a commit of `source` reachable in `repository` by a ref of the appliance. Both may be the same repository: then it
 * costs no process of its own. Does nothing when the ref is there already.
 */
export async function keepCommit(
  source: string,
  id: string,
  { repository, ref }: { readonly repository: string; readonly ref: string }
): Promise<void> {
  if (!isObjectId(id) || !isRefName(ref)) throw new TypeError('not a commit and a ref')
  const old = await refValue(repository, ref)
  if (old === id) return
  if (source === repository) return await updateRef(repository, [{ ref, old: old ?? ZERO, new: id }])
  // Protocol 2 gives any object by its id: the branch may have moved on since somebody looked.
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules']
  await runGit(['-c', 'protocol.version=2', 'fetch', ...options, '--', source, `+${id}:${ref}`], { repository })
}

/** Removes refs of the appliance, whatever they point at. Does nothing for those that are gone. */
export async function dropRefs(repository: string, refs: readonly string[]): Promise<void> {
  const found = await Promise.all(refs.map(async ref => ({ ref, old: await refValue(repository, ref) })))
  await updateRef(
    repository,
    found.flatMap(({ ref, old }) => (old === null ? [] : [{ ref, old, new: ZERO }]))
  )
}
