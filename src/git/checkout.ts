// Makes the work tree of one build.
import { readdir } from 'node:fs/promises'
import { isObjectId } from './reader.js'
import { isRefName } from './refs.js'
import { runGit } from './run.js'

export interface Checkout {
  readonly sha: string
  /** The short name of the branch or tag. Git gets it as a ref beside the detached HEAD. */
  readonly ref: string
  readonly tag: boolean
  /** Number of commits of history; 0 means all. */
  readonly depth: number
  /** An empty folder outside the repository. */
  readonly into: string
  /** Time limit in seconds for each of the three steps. */
  readonly timeout: number
  readonly signal?: AbortSignal
}

// This is a constant, because git passes it to a shell. It allows any commit, since the branch may have moved on after
// the push.
const UPLOADER =
  "git -c safe.directory='*' -c uploadpack.allowAnySHA1InWant=true -c pack.threads=1 -c pack.windowMemory=64m upload-pack"

/**
 * Checks out one commit: detached HEAD, no remote, no hooks, no filters, no submodules, no lfs. Throws GitFailure, also
 * when the time limit is over; the caller must then remove the folder.
 */
export async function checkoutCommit(repository: string, checkout: Checkout): Promise<void> {
  const { sha, ref, tag, depth, into, timeout, signal } = checkout
  if (!isObjectId(sha)) throw new TypeError('not a commit id')
  if ((await readdir(into)).length > 0) throw new TypeError('the folder for the build is not empty')
  const options = { repository, cwd: into, timeout, signal }
  const name = tag ? `refs/tags/${ref}` : `refs/remotes/origin/${ref}`
  const refspec = isRefName(name) ? `+${sha}:${name}` : sha
  await runGit(['init', '--quiet', '--template=', '--initial-branch=master'], { ...options, repository: undefined })
  await runGit(
    [
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-recurse-submodules',
      ...(depth > 0 ? [`--depth=${depth}`] : []),
      `--upload-pack=${UPLOADER}`,
      '--end-of-options',
      repository,
      refspec
    ],
    options
  )
  await runGit(['checkout', '--quiet', '--force', '--detach', sha], { ...options, repository: undefined })
}
