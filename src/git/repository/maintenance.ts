// The maintenance that keeps a repository fast and intact. Jobs start it; git never starts it on its own.
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../../config.js'
import { commitsOutsideGraph, countHistory } from '../history/commit-counts.js'
import { forgetGraph } from '../history/commit-graph.js'
import { failure, runGit, startGit } from '../process/run.js'
import { refValue } from '../refs/refs.js'

// Nobody can still need an unreachable object of this age: every push or commit in progress is younger.
const GRACE = '2.weeks.ago'

/**
 * Writes the commit-graph, which makes walks through history fast. Reading the last commit of a path works at 7/s without
 * it and at 165/s with it (82k commits).
 */
export async function writeCommitGraph(repository: string, signal?: AbortSignal): Promise<void> {
  const args = ['commit-graph', 'write', '--reachable', '--changed-paths', '--split', '--no-progress']
  try {
    await runGit(args, { repository, long: true, signal })
  } finally {
    await removeGraphDrafts(repository)
  }
  forgetGraph(repository)
}

/** Removes the drafts of a git that was killed or had no space: git never does. With the lock of git, no other git writes one. */
async function removeGraphDrafts(repository: string): Promise<void> {
  const folder = join(repository, 'objects/info/commit-graphs')
  const names = await readdir(folder).catch((): string[] => [])
  const drafts = names.filter(name => name.startsWith('tmp_graph_'))
  if (drafts.length === 0) return
  const lock = join(folder, 'commit-graph-chain.lock')
  const held = await open(lock, 'wx').catch(() => null)
  if (!held) return
  await held.close()
  for (const name of drafts) await rm(join(folder, name), { force: true })
  await rm(lock, { force: true })
}

/** Fewer commits outside of the commit-graph slow down no walk: each is read in 0.1 ms, and writing a layer takes 10 ms and a process. */
const OUTSIDE_GRAPH = 50
/** Milliseconds for which fewer commits may stay outside of the commit-graph while others arrive. */
const GRAPH_AGE = 600_000

/** Returns whether the commit-graph is missing, lacks many commits, or lacks some and is old. */
export async function needsCommitGraph(repository: string): Promise<boolean> {
  const written = await graphWrittenAt(repository)
  if (written === null) return true
  const outside = await commitsOutsideGraph(repository, OUTSIDE_GRAPH - 1)
  return outside === null || (outside > 0 && Date.now() - written > GRAPH_AGE)
}

/** Counts the files that hold the objects of a repository: loose objects and packs. */
export async function countObjectFiles(
  repository: string,
  signal?: AbortSignal
): Promise<{ objects: number; packs: number }> {
  const output = (await runGit(['count-objects', '-v'], { repository, timeout: 60, signal })).toString()
  const figure = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  return { objects: figure('count'), packs: figure('packs') }
}

/** Returns true when the repository has a commit-graph of any age. */
export const hasCommitGraph = async (repository: string): Promise<boolean> =>
  (await graphWrittenAt(repository)) !== null

/** Returns the time at which the last commit-graph was written, in milliseconds since 1970, or null when there is none. */
async function graphWrittenAt(repository: string): Promise<number | null> {
  const places = ['commit-graph', 'commit-graphs/commit-graph-chain'].map(name =>
    join(repository, 'objects/info', name)
  )
  const found = await Promise.all(places.map(path => stat(path).catch(() => null)))
  const times = found.flatMap(file => (file ? [file.mtimeMs] : []))
  return times.length === 0 ? null : Math.max(...times)
}

/** Below this number of objects, git finds the objects of a clone equally fast without a bitmap. */
const BITMAP_FROM = 2000
/** The share of objects outside the pack with the bitmap from which everything is repacked. */
const BITMAP_SHARE = 0.25

/**
 * Returns true when so many objects are in packs outside the pack with a bitmap that git cannot serve a clone from it. With the
 * bitmap, git copies that pack instead of walking the history: 0.3 s of processor time instead of 4 s on 80k commits.
 */
export async function needsBitmap(repository: string): Promise<boolean> {
  const folder = join(repository, 'objects/pack')
  const names = await readdir(folder).catch((): string[] => [])
  let [covered, others] = [0, 0]
  for (const name of names.filter(entry => entry.endsWith('.idx'))) {
    const base = name.slice(0, -'.idx'.length)
    if (names.includes(`${base}.mtimes`)) continue // unreachable objects
    const count = await objectsIn(join(folder, name))
    if (names.includes(`${base}.bitmap`)) covered += count
    else others += count
  }
  return others >= BITMAP_FROM && others >= covered * BITMAP_SHARE
}

/** Returns the number of objects in a pack. It is the last number of the table at the beginning of the index. */
async function objectsIn(index: string): Promise<number> {
  const file = await open(index).catch(() => null) // repacked in the meantime
  if (!file) return 0
  try {
    const number = Buffer.alloc(4)
    const { bytesRead } = await file.read(number, 0, 4, 8 + 255 * 4)
    return bytesRead === 4 ? number.readUInt32BE() : 0
  } finally {
    await file.close()
  }
}

/** Packs everything into one pack with a bitmap, and deletes objects that have been unreachable for two weeks. */
export async function repackRepository(repository: string, signal?: AbortSignal): Promise<void> {
  const options = { repository, long: true, signal }
  await runGit(['pack-refs', '--all', '--prune'], options)
  const cruft = ['--cruft', `--cruft-expiration=${GRACE}`]
  const lookup = ['-c', 'pack.writeBitmapLookupTable=true']
  await runGit([...lookup, 'repack', '-d', '-l', '--quiet', '--write-bitmap-index', ...cruft], options)
  await runGit(['prune', `--expire=${GRACE}`], options)
  await removeOldQuarantines(repository)
}

/** Removes the quarantine folders of pushes that were killed. No push takes longer than twice its time limit. */
async function removeOldQuarantines(repository: string): Promise<void> {
  const objects = join(repository, 'objects')
  const oldest = Date.now() - 2 * config().git.timeout * 1000
  for (const name of await readdir(objects)) {
    if (!name.startsWith('tmp_objdir-')) continue
    const path = join(objects, name)
    const found = await stat(path).catch(() => null)
    if (found && found.mtimeMs < oldest) await rm(path, { recursive: true, force: true })
  }
}

const MOST_PROBLEMS = 100
const LONGEST_REPORT = 64 * 1024

/**
 * Checks that every object exists that HEAD and the refs need. `problems` are the lines that git prints about missing
 * objects. With `contents`, git also reads each object and compares it with its id, which takes minutes instead of
 * seconds. Throws GitFailure when git was killed before it had checked everything.
 */
export async function checkRepository(
  repository: string,
  { signal, contents = false }: { readonly signal?: AbortSignal; readonly contents?: boolean } = {}
): Promise<{ ok: boolean; problems: string[] }> {
  const args = ['fsck', ...(contents ? ['--full'] : ['--connectivity-only']), '--no-dangling', '--no-progress']
  const git = await startGit(args, { repository, long: true, signal })
  git.stdin.end()
  let report = ''
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    if (report.length < LONGEST_REPORT) report += chunk.toString()
  }
  const exit = await git.done
  if (exit.ended || exit.code === null) throw failure(args, exit, git.stderr())
  if (exit.code === 0) return { ok: true, problems: [] }
  // The end of a process may be known before its last output arrives: git always prints why it fails.
  for (let times = 0; times < 100 && `${report}${git.stderr()}` === ''; times++) await sleep(10)
  const lines = `${git.stderr()}\n${report}`.split('\n').filter(line => line !== '' && !line.startsWith('notice: '))
  return { ok: false, problems: lines.slice(0, MOST_PROBLEMS) }
}

/** When more commits than this are outside of the commit-graph, git counts. */
const READ_TO_COUNT = 200

/** Counts the commits of a branch; 0 when the branch does not exist. */
export async function countCommits(repository: string, branch: string, signal?: AbortSignal): Promise<number> {
  const id = await refValue(repository, `refs/heads/${branch}`)
  if (id === null) return 0
  const counted = await countHistory(repository, id, READ_TO_COUNT)
  if (counted !== null) return counted
  return Number(
    (await runGit(['rev-list', '--count', '--end-of-options', id], { repository, long: true, signal })).toString()
  )
}
