// The git side of mirrors: brings new objects of a remote into a repository, and pushes refs to a remote.
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { batches } from '../../lib/batches.js'
import { syncPath } from '../objects/loose-writer.js'
import { failure, GitFailure, runGit, type StartOptions, startGit } from '../process/run.js'
import { listRefs, type RefChange, ZERO } from '../refs/refs.js'
import { FETCH } from './fetch.js'
import { environmentFor, REMOTE, type Remote } from './remote.js'

/**
 * Fetches into a draft that borrows the objects of `repository`, so that nothing of a hostile remote reaches the repository before
 * its size is known. `patterns` are full names of refs, with at most one star each. Returns the values by full name. Throws
 * GitFailure.
 */
export async function fetchNews(
  remote: Remote,
  {
    repository,
    draft,
    patterns
  }: { readonly repository: string; readonly draft: string; readonly patterns: readonly string[] }
): Promise<ReadonlyMap<string, string>> {
  const { timeout, signal, client } = remote
  await writeFile(join(draft, 'objects/info/alternates'), `${join(repository, 'objects')}\n`)
  const input = patterns.map(name => `+${name}:${name}\n`).join('')
  const environment = environmentFor(remote)
  const options = { repository: draft, timeout, signal, long: true, environment, input, ...(client && { client }) }
  await runGit([...FETCH, '--stdin', REMOTE], options)
  const listed = [...(await listRefs(draft, 'refs/heads/')), ...(await listRefs(draft, 'refs/tags/'))]
  return new Map(listed.map(({ name, id }) => [name, id]))
}

/** The branches of a draft are compared with those of its repository below this name. */
const COMPARED = 'refs/mirror/'

/**
 * Returns the branches that contain their old values, by full name. Git compares all of them in one process: it fetches the draft
 * from itself, and refuses each update that would lose commits.
 */
export async function forwardIn(
  draft: string,
  changes: readonly RefChange[],
  signal: AbortSignal
): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set()
  const compared = (ref: string) => ref.replace('refs/heads/', COMPARED)
  const input = changes.map(({ ref, old }) => `create ${compared(ref)}\0${old}\0`).join('')
  await runGit(['update-ref', '--stdin', '-z'], { repository: draft, signal, input })
  const refspecs = changes.map(({ ref }) => `${ref}:${compared(ref)}\n`).join('')
  try {
    await runGit([...FETCH, '--stdin', draft], { repository: draft, signal, input: refspecs })
  } catch (error) {
    // 1: some updates were refused.
    if (!(error instanceof GitFailure) || error.code !== 1) throw error
  }
  const values = new Map((await listRefs(draft, COMPARED)).map(({ name, id }) => [name, id]))
  return new Set(changes.filter(change => values.get(compared(change.ref)) === change.new).map(({ ref }) => ref))
}

/** Moves the objects of a draft to the repository from which it borrows. Git finds a pack by its index, so that comes last. */
export async function giveObjects(draft: string, repository: string): Promise<void> {
  const [from, to] = [draft, repository].map(path => join(path, 'objects/pack')) as [string, string]
  const names = (await readdir(from)).filter(name => /^pack-[0-9a-f]{40}\.(?:pack|rev|idx)$/.test(name))
  names.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))
  await mkdir(to, { recursive: true })
  for (const name of names) await rename(join(from, name), join(to, name))
  if (names.length > 0) await syncPath(to)
}

/** What a remote did with one ref. */
export interface PushedRef {
  readonly ref: string
  /** `behind`: the remote has commits that the new value would lose. */
  readonly result: 'moved' | 'behind' | 'refused'
  /** The words of git or of the remote; empty for a ref that has moved. */
  readonly reason: string
}

/** For one process: the names are arguments, of which Linux accepts two megabytes. */
const AT_ONCE = 1000
/** Attempts to find out which refs a remote refuses that refuses all when it refuses one. */
const MOST_TRIES = 200

/**
 * Pushes refs to a remote; `force` also where it loses commits there. A remote that refuses one ref may refuse all others with it, so
 * refused refs are pushed again in halves. Returns the result of each ref. Throws GitFailure when the remote cannot be reached.
 */
export async function pushRefs(
  remote: Remote,
  repository: string,
  changes: readonly RefChange[],
  force: boolean
): Promise<readonly PushedRef[]> {
  let tries = MOST_TRIES
  const push = async (some: readonly RefChange[]): Promise<readonly PushedRef[]> => {
    const results = await pushOnce(remote, repository, some, force)
    const refused = new Set(results.filter(({ result }) => result === 'refused').map(({ ref }) => ref))
    const again = some.filter(({ ref }) => refused.has(ref))
    if (again.length < 2 || tries < 2) return results
    tries -= 2
    const half = Math.ceil(again.length / 2)
    const others = results.filter(({ ref }) => !refused.has(ref))
    return [...others, ...(await push(again.slice(0, half))), ...(await push(again.slice(half)))]
  }
  const all: PushedRef[] = []
  for (const some of batches(changes, AT_ONCE)) all.push(...(await push(some)))
  return all
}

/** `FLAG\tFROM:TO\tSUMMARY`, where the summary ends with the reason of a refusal. */
const LINE = /^(.)\t([^\t]*):([^\t:]+)\t(.*)$/

async function pushOnce(
  remote: Remote,
  repository: string,
  changes: readonly RefChange[],
  force: boolean
): Promise<readonly PushedRef[]> {
  const { timeout, signal, client } = remote
  const refspecs = changes.map(({ ref, new: next }) => `${force ? '+' : ''}${next === ZERO ? '' : next}:${ref}`)
  const args = ['push', '--porcelain', '--no-verify', '--no-signed', '--recurse-submodules=no', REMOTE, ...refspecs]
  const environment = environmentFor(remote)
  const output = await runPush(args, {
    repository,
    timeout,
    signal,
    long: true,
    environment,
    ...(client && { client })
  })
  const found = new Map<string, PushedRef>()
  for (const line of output.split('\n')) {
    const [, flag, , ref = '', summary = ''] = LINE.exec(line) ?? []
    if (flag !== undefined) found.set(ref, pushedRef(ref, flag, summary))
  }
  return changes.map(
    ({ ref }) => found.get(ref) ?? { ref, result: 'refused', reason: 'the server did not answer for it' }
  )
}

function pushedRef(ref: string, flag: string, summary: string): PushedRef {
  if (flag !== '!') return { ref, result: 'moved', reason: '' }
  const reason = /\(([^)]*)\)$/.exec(summary)?.[1] ?? summary
  const behind = /^\[rejected\]/.test(summary)
  return { ref, result: behind ? 'behind' : 'refused', reason: reason.slice(0, 200) }
}

/** More than git prints for as many refs as one process gets. */
const LONGEST_ANSWER = 1024 * 1024

/** Returns what git printed. It exits with 1 and lists the refs when only some of them have moved. */
async function runPush(args: string[], options: StartOptions): Promise<string> {
  const git = await startGit(args, options)
  git.stdin.end()
  let text = ''
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString()
    if (text.length > LONGEST_ANSWER) git.kill()
  }
  const exit = await git.done
  if (exit.code === 0 || (exit.code === 1 && text !== '')) return text
  throw failure(args, exit, git.stderr())
}
