// Fills a new, empty repository with the branches and tags of another repository: one of this appliance, or one at a URL.
import { link, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from '../process/run.js'
import { isMisleading, isRefName, refValue } from '../refs/refs.js'
import { environmentFor, REMOTE, type Remote } from './remote.js'

const REFSPECS = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']
/** Without refspecs and the remote. */
export const FETCH = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules'
]

/**
 * Copies the branches and tags of a repository of this appliance. Object files never change, so they are hard-linked
 * where possible, and none of their bytes are copied. Then git fetches objects that were repacked in the meantime, and
 * checks that no object is missing.
 */
export async function copyRefs(source: string, repository: string, signal: AbortSignal): Promise<void> {
  await linkObjects(join(source, 'objects'), join(repository, 'objects'), signal)
  await runGit([...FETCH, '--', source, ...REFSPECS], { repository, long: true, signal })
  await runGit(['pack-refs', '--all'], { repository, signal })
}

/** Returns silently where hard links are not possible, such as to another disk. */
async function linkObjects(from: string, to: string, signal: AbortSignal): Promise<void> {
  // Loose objects before packs: git removes them only when a pack contains them.
  for (const name of await readdir(from)) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue
    signal.throwIfAborted()
    const files = (await readdir(join(from, name))).filter(file => /^[0-9a-f]{38}$/.test(file))
    if (!(await linkFiles(join(from, name), join(to, name), files))) return
  }
  const packs = (await readdir(join(from, 'pack'))).filter(file => /^pack-[0-9a-f]{40}\.\w+$/.test(file))
  // No ref reaches the objects of a pack that has a `.mtimes` file.
  const unreached = new Set(packs.filter(file => file.endsWith('.mtimes')).map(file => file.split('.')[0]))
  const wanted = packs.filter(file => /\.(pack|rev|bitmap|idx)$/.test(file) && !unreached.has(file.split('.')[0] ?? ''))
  // Git looks for packs by their indexes, so those come last.
  wanted.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))
  await linkFiles(join(from, 'pack'), join(to, 'pack'), wanted)
}

async function linkFiles(from: string, to: string, names: readonly string[]): Promise<boolean> {
  await mkdir(to, { recursive: true })
  for (const name of names) {
    try {
      await link(join(from, name), join(to, name))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // The file was packed in the meantime, or is already there.
      if (code === 'ENOENT' || code === 'EEXIST') continue
      if (code === 'EXDEV' || code === 'EPERM' || code === 'EMLINK' || code === 'ENOTSUP') return false
      throw error
    }
  }
  return true
}

export interface Fetched {
  /** The branch that the HEAD of the remote names, or otherwise the most likely one; null when there is no branch. */
  readonly branch: string | null
  /** Refs that the remote has, and that have names which no ref may have here. */
  readonly unusable: readonly string[]
}

/**
 * Fetches the branches and tags of a URL, and the refs of other refspecs. Refs that have disappeared there are removed. Throws
 * GitFailure.
 */
export async function fetchRemote(remote: Remote, repository: string, more: readonly string[] = []): Promise<Fetched> {
  const { timeout, signal } = remote
  const options = { repository, timeout, signal, long: true, environment: environmentFor(remote) }
  const symbolic = (await runGit(['ls-remote', '--symref', REMOTE, 'HEAD'], options)).toString()
  await runGit([...FETCH, '--prune', REMOTE, ...REFSPECS, ...more], options)
  const unusable = await dropUnusable(repository, signal)
  await runGit(['pack-refs', '--all'], { repository, signal })
  return { branch: await chooseBranch(repository, /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(symbolic)?.[1]), unusable }
}

/** Removes refs that could not be pushed here either, because git or this appliance would misinterpret them. */
async function dropUnusable(repository: string, signal: AbortSignal): Promise<readonly string[]> {
  const names = (await runGit(['for-each-ref', '--format=%(refname)'], { repository, signal })).toString('latin1')
  const textOf = (name: string) => Buffer.from(name, 'latin1').toString()
  const bad = names.split('\n').filter(name => name !== '' && (isMisleading(textOf(name)) || !isRefName(textOf(name))))
  if (bad.length === 0) return []
  const input = Buffer.from(bad.map(name => `delete ${name}\0\0`).join(''), 'latin1')
  await runGit(['update-ref', '--stdin', '-z'], { repository, signal, input })
  return bad.map(textOf)
}

async function chooseBranch(repository: string, head: string | undefined): Promise<string | null> {
  for (const name of [head, 'master', 'main']) {
    if (name !== undefined && (await refValue(repository, `refs/heads/${name}`)) !== null) return name
  }
  const first = await runGit(['for-each-ref', '--count=1', '--format=%(refname:lstrip=2)', 'refs/heads/'], {
    repository
  })
  return first.toString().trim() || null
}
