// Checks out the sources of one build. Git runs twice: outside of the sandbox, where it only reads the repository and
// sends objects, and inside, where it receives them and creates the work tree. A tree of ten small objects may describe
// 10^10 files, so a work tree is only created where the limits of the build apply.
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import { isObjectId } from '../objects/reader.js'
import { failure, startGit } from '../process/run.js'
import { isRefName } from '../refs/refs.js'

export interface Checkout {
  readonly sha: string
  /** The short name of the branch or tag. Git creates it as a ref, in addition to the detached HEAD. */
  readonly ref: string
  readonly tag: boolean
  /** The number of commits of history; 0 means all. */
  readonly depth: number
}

/** The settings of git inside the sandbox: no syncing to the disk, no maintenance, no advice, one thread. */
const SETTINGS = [
  'core.fsync=none',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'pack.threads=1'
]

/**
 * Returns bash commands that check out one commit into the current folder, which is empty: detached HEAD, no remote, no
 * hooks, no filters, no submodules, no lfs. They talk to `sendObjects` through the descriptor `link`.
 */
export function checkoutCommands({ sha, ref, tag, depth }: Checkout, link: number): string[] {
  if (!isObjectId(sha)) throw new TypeError('not a commit id')
  const name = tag ? `refs/tags/${ref}` : `refs/remotes/origin/${ref}`
  const refspec = isRefName(name) ? `+${sha}:${name}` : sha
  const git = `git ${SETTINGS.map(setting => `-c ${setting}`).join(' ')}`
  const fetch = [
    `${git} fetch --quiet --no-tags --no-write-fetch-head --no-recurse-submodules`,
    ...(depth > 0 ? [`--depth=${depth}`] : []),
    `--end-of-options fd::${link} ${quote(refspec)}`
  ]
  return [
    'export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C',
    `${git} init --quiet --template= --initial-branch=master`,
    fetch.join(' '),
    `exec ${link}>&-`,
    `${git} checkout --quiet --force --detach ${sha}`
  ]
}

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/**
 * Sends objects of the repository to a git process that fetches at the other end of the socket, until that process
 * ends. Any commit may be requested, since a branch may have moved after the push. Throws GitFailure when git fails
 * or takes too long, and GitAway.
 */
export async function sendObjects(
  repository: string,
  socket: Duplex,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal }
): Promise<void> {
  socket.on('error', () => {}) // the other end may stop at any time
  // A fetch closes its half when it has sent its requests, and then reads the answer.
  socket.allowHalfOpen = true
  try {
    const git = await startGit(
      ['-c', 'uploadpack.allowAnySHA1InWant=true', '-c', 'pack.threads=1', 'upload-pack', '--strict', repository],
      { repository, timeout, signal, environment: { GIT_PROTOCOL: 'version=2' } }
    )
    const sent = finished(git.stdout).catch(() => undefined)
    socket.once('close', () => {
      git.kill()
      git.stdout.destroy()
    })
    socket.pipe(git.stdin)
    git.stdout.pipe(socket)
    const exit = await git.done
    // The process may end before its last output has gone to the socket.
    await sent
    if (exit.code !== 0 && exit.ended !== 'killed') throw failure(['upload-pack'], exit, git.stderr())
  } finally {
    socket.end()
  }
}
