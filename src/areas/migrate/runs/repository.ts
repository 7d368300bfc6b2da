// The copy of a repository of the source, which each run brings up to date. It is the only state of git between two runs.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Unavailable } from '../../../errors.js'
import { mergeBase } from '../../../git/history/merge-base.js'
import { isObjectId } from '../../../git/objects/reader.js'
import { GitFailure } from '../../../git/process/run.js'
import { type PackedRef, portableRefs } from '../../../git/repository/packs.js'
import { createRepository } from '../../../git/repository/repository.js'
import { keepCommits } from '../../../git/write/merge.js'
import { CannotFill, fetchFrom } from '../../projects/imports/fetch-from.js'
import { SourceRefusal } from '../../projects/imports/source-failures.js'
import { ahead } from '../sources/ahead.js'
import type { Draft, Skipped, SourceProject } from '../sources/source.js'
import { tokenOf } from './migrations.js'
import type { Session } from './session.js'

export interface Repository {
  readonly path: string
  /** The branch of its HEAD. */
  readonly branch: string | null
  readonly refs: readonly PackedRef[]
  /** Changes with the refs. */
  readonly hash: string
}

export interface Fetching {
  readonly url: URL
  readonly username: string
  readonly password: string
  readonly refspecs: readonly string[]
  /** Commits that merge requests name. */
  readonly commits: ReadonlySet<string>
  readonly skipped: Skipped
  readonly signal: AbortSignal
}

/** Returns where the repository of a project is, and who asks for it. */
export function placeOfRepository(
  { reader, migration, login }: Pick<Session, 'reader' | 'migration' | 'login'>,
  project: SourceProject
): Pick<Fetching, 'url' | 'username' | 'password'> {
  const source = new URL(migration.url)
  const url = cloneUrl(project, source)
  url.username = url.password = ''
  // The source chooses the URL. Other servers do not get the token.
  const isSource = url.hostname === source.hostname
  return { url, ...(isSource ? reader.credentials(tokenOf(migration), login) : { username: '', password: '' }) }
}

/** Behind a proxy, forges often name http URLs. A token never goes over http to a source that the sysadmin reaches by https. */
function cloneUrl({ cloneUrl: text, path }: SourceProject, source: URL): URL {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text))
    throw new SourceRefusal(source, `gives no http or https URL to clone ${path}`)
  const url = new URL(text)
  const isWrong = url.hostname === source.hostname && url.protocol === 'http:' && source.protocol === 'https:'
  return isWrong ? new URL(`${url.pathname}${url.search}`, source.origin) : url
}

/** The source has no such repository, or does not give it. */
export class Uncloneable extends SourceRefusal {}

/** Fetches into the copy in this folder. Throws Uncloneable when the repository cannot be fetched. */
export async function fetchCopy(folder: string, fetching: Fetching): Promise<Repository> {
  const { url, refspecs, commits, skipped, signal } = fetching
  const path = join(folder, 'repository.git')
  await createRepository(path)
  const { branch, unusable } = await fetchFrom({ ...fetching, more: refspecs }, path, signal).catch(error => {
    throw error instanceof CannotFill ? new Uncloneable(url, `cannot be cloned: ${error.message}`) : error
  })
  const named = unusable.filter(ref => /^refs\/(?:heads|tags)\//.test(ref))
  for (const _ of named) skipped('branches and tags', `names such as ${named[0]} are not possible here`)
  let missing = await keepCommits(path, commits)
  if (missing.length > 0) {
    await fetchMore(path, missing, fetching)
    missing = await keepCommits(path, commits)
  }
  for (const _ of missing) skipped('commits of merge requests', 'the source no longer has them')
  const refs = portableRefs(path)
  const hash = createHash('sha256')
  for (const { ref, id } of refs) hash.update(`${ref} ${id}\n`)
  return { path, branch, refs, hash: hash.update(branch ?? '').digest('hex') }
}

/** At most this many commits are fetched that no ref of the source holds. */
const MOST_MORE = 500
/** Not every source gives commits by their ids, so these many failures are enough. */
const MOST_FAILURES = 3

/** Fetches the commits that no ref of the source holds any more, such as those before a forced push, or those of a fork. */
async function fetchMore(path: string, missing: readonly string[], fetching: Fetching): Promise<void> {
  const { refspecs, signal } = fetching
  const fetch = (ids: readonly string[]) =>
    fetchFrom({ ...fetching, more: [...refspecs, ...ids] }, path, signal).then(
      () => true,
      error => {
        if (error instanceof CannotFill) return false
        throw error
      }
    )
  const some = missing.filter(isObjectId).slice(0, MOST_MORE)
  if (some.length === 0 || (await fetch(some))) return
  // One that is missing there spoils all.
  let failures = 0
  for (const id of some) if (failures < MOST_FAILURES && !(await fetch([id]))) failures++
}

const AT_ONCE = 4

/** Adds the common commits of merge requests whose source names only the tips of both branches. */
export const withBases = (drafts: AsyncIterable<Draft>, repository: string): AsyncIterable<Draft> =>
  ahead(drafts, AT_ONCE, async draft => {
    if (draft.kind !== 'merge_request' || !Array.isArray(draft.versions)) return draft
    const versions: unknown[] = []
    for (const version of draft.versions as readonly Version[]) {
      const { base_sha: base, start_sha: start, head_sha: head } = version
      versions.push(base || !start || !head ? version : { ...version, base_sha: await baseOf(repository, start, head) })
    }
    return { ...draft, versions }
  })

interface Version {
  readonly base_sha: string | null
  readonly start_sha: string | null
  readonly head_sha: string | null
}

/** Null when a commit is missing, or the history is hostile. */
async function baseOf(repository: string, start: string, head: string): Promise<string | null> {
  try {
    return await mergeBase(repository, start, head)
  } catch (error) {
    if (error instanceof GitFailure || error instanceof Unavailable || error instanceof TypeError) return null
    throw error
  }
}
