// Restores and stores the caches of a build. They are best effort: no fault of a cache fails a build. They are packed and
// unpacked like artifacts, so that nothing is read or written through a link, or outside of the project folder.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Failure } from '../../errors.js'
import { counted } from '../../lib/counted.js'
import { isDiskFull } from '../../lib/disk-full.js'
import type { CacheStore, CacheWish, RunnerResult } from '../job.js'
import type { Run } from '../stages.js'
import { handOver } from '../tree.js'
import { expand } from '../variables.js'
import { CONTENT_RATIO, packArtifacts } from './artifacts.js'
import { BadArchive, unzip } from './unzip.js'
import { inProject } from './upload.js'

/** The key of a cache without a key, or whose variables are all empty. */
const DEFAULT = 'default'

/** For each cache of the job, unpacks the first one that exists: of its key, then of its fallback keys. */
export async function restoreCaches(run: Run): Promise<void> {
  const { job, port, folders } = run
  const store = port.cacheStore
  if (!store) return
  let restored = false
  for (const wish of job.caches ?? []) {
    if (wish.policy === 'push' || !hasContent(wish)) continue
    restored = (await restore(run, store, wish)) || restored
  }
  if (restored && folders.user) await handOver(folders.project, folders.user)
}

async function restore(run: Run, store: CacheStore, wish: CacheWish): Promise<boolean> {
  const { trace, halt, folders } = run
  const names = [...new Set([wish.key ?? DEFAULT, ...wish.fallbackKeys].map(text => nameOf(text, run)))]
  const archive = join(folders.work, 'cache.zip')
  for (const name of names) {
    const key = { key: name, ending: wish.ending }
    try {
      const source = await store.open(key)
      if (!source) continue
      trace.line(`Restoring the cache ${shown(name)}`)
      await pipeline(source, createWriteStream(archive, { mode: 0o600 }), { signal: halt.signal })
      const total = store.limit * CONTENT_RATIO
      await unzip(archive, folders.project, { total, file: total }, halt.signal)
      return true
    } catch (error) {
      halt.signal.throwIfAborted()
      trace.line(`WARNING: the cache ${shown(name)} is not restored whole: ${reasonOf(error)}`)
      // Otherwise each build would find the damaged archive again.
      if (error instanceof BadArchive) await store.remove(key).catch(() => undefined)
      return true
    } finally {
      await rm(archive, { force: true })
    }
  }
  trace.line(`No cache ${names.map(shown).join(', ')} yet`)
  return false
}

/** Stores the caches whose `when` fits. Not specified: a build that a limit has ended stores none. */
export async function keepCaches(run: Run, outcome: RunnerResult, before?: Set<string>): Promise<void> {
  const { job, port, trace, halt } = run
  const store = port.cacheStore
  if (!store || (outcome.status !== 'success' && outcome.reason !== 'script_failure')) return
  const wanted = outcome.status === 'success' ? 'on_success' : 'on_failure'
  const wishes = (job.caches ?? []).filter(
    wish => wish.policy !== 'pull' && hasContent(wish) && (wish.when === 'always' || wish.when === wanted)
  )
  if (wishes.length === 0) return
  try {
    await run.room?.bringBack()
    for (const wish of wishes) await keep(run, store, wish, before)
  } catch (error) {
    halt.signal.throwIfAborted()
    trace.line(`WARNING: the caches are not kept: ${reasonOf(error)}`)
  }
}

async function keep(run: Run, store: CacheStore, wish: CacheWish, before: Set<string> | undefined): Promise<void> {
  const { folders, places, trace, halt, lookup } = run
  const name = nameOf(wish.key ?? DEFAULT, run)
  const to = join(folders.work, 'cache.zip')
  try {
    const packed = await packArtifacts({
      tree: folders.project,
      paths: wish.paths.flatMap(text => inProject(text, { project: places.project, trace, lookup })),
      exclude: [],
      before: wish.untracked ? before : undefined,
      to,
      limit: store.limit,
      user: folders.user,
      signal: halt.signal,
      warn: text => trace.line(`WARNING: ${text}`)
    })
    if (!packed) return trace.line(`WARNING: no files match the cache ${shown(name)}; it stays as it was`)
    await store.put({ key: name, ending: wish.ending }, to)
    trace.line(`Kept the cache ${shown(name)}: ${counted(packed.files, 'file')}, ${packed.size} bytes`)
  } catch (error) {
    halt.signal.throwIfAborted()
    trace.line(`WARNING: the cache ${shown(name)} is not kept: ${reasonOf(error)}`)
  } finally {
    await rm(to, { force: true })
  }
}

const hasContent = ({ paths, untracked }: CacheWish) => paths.length > 0 || untracked

const nameOf = (text: string, { lookup }: Pick<Run, 'lookup'>) => expand(text, lookup).trim() || DEFAULT

/** Hides a long key: a part of it could be a part of a secret, which the trace would not recognize. */
const shown = (name: string) => (name.length > 200 ? 'with a long key' : name.replace(/[\0-\x1f\x7f]/g, ' '))

function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message
  return isDiskFull(error) ? 'the disk is full' : 'the runner failed'
}
