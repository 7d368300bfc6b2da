// Names of branches and tags, the objects that they point at, and changes of refs.

import { Unavailable } from '../../errors.js'
import { DamagedRepository, isCommitKnown, readCommit } from '../objects/objects.js'
import { isObjectId, objectInfo } from '../objects/reader.js'
import { askGit } from '../process/questions.js'
import { GitFailure, runGit } from '../process/run.js'
import { hasRefFile } from './files.js'
import { lookUpRef } from './lookup.js'
import { moveRef } from './move-ref.js'
import { writeRefs } from './writer.js'

/** Means "does not exist": the old value of a creation and the new value of a deletion. */
export const ZERO = '0'.repeat(40)

/** Refs that belong to the appliance. Git hides them from clients, and no name that a user sends reaches them. */
export const HIDDEN_PREFIXES = ['refs/internal/', 'refs/pipelines/']

/** Returns true for refs that the appliance creates itself: users may neither push nor delete them. */
export const isOwn = (ref: string): boolean =>
  [...HIDDEN_PREFIXES, 'refs/merge-requests/'].some(prefix => ref.startsWith(prefix))

/**
 * Returns true for refs that mislead git: it treats a branch or tag HEAD as the HEAD of the repository, and one of 40 hex digits
 * as the object with that id. Everybody who fetches refs/replace/ sees other objects than the ones that were committed.
 */
export const isMisleading = (ref: string): boolean =>
  /^refs\/(?:heads|tags)\/(?:HEAD|[0-9a-fA-F]{40})$/.test(ref) || ref.startsWith('refs/replace/')

/** Returns true when a user may create a ref with this full name. */
export const isNewRefName = (ref: string): boolean => isRefName(ref) && !isMisleading(ref) && !isOwn(ref)

// When refs/heads/x is missing, git also tries refs/refs/heads/x, refs/heads/refs/heads/x and so on. Therefore such
// names may not exist.
const MISLEADING = /^refs\/(?:(?:heads|tags|remotes)\/)?refs\//

/**
 * Returns true when both git and this appliance allow a full ref name (`refs/heads/master`). U+FFFD replaces bytes that
 * were not UTF-8: a ref with such a name could not be found again.
 */
export function isRefName(name: string): boolean {
  if (!name.startsWith('refs/') || Buffer.byteLength(name) > 255 || MISLEADING.test(name)) return false
  if (/[\x00-\x20\x7f~^:?*[\\\ufffd]|\.\.|@\{|\/\/|\/$|\.$/.test(name)) return false
  const components = name.split('/')
  if (components.length < 3 || components[2]?.startsWith('-')) return false
  return !components.some(part => part.startsWith('.') || part.endsWith('.lock'))
}

/** Returns the object that a full ref name points at, or null. Throws DamagedRepository when the ref exists but git cannot read it. */
export async function refValue(repository: string, ref: string): Promise<string | null> {
  if (!isRefName(ref)) return null
  const value = await lookUpRef(repository, ref)
  if (value && (isCommitKnown(repository, value) || (await objectInfo(repository, value)))) return value
  // Git distinguishes a ref that does not exist from a repository that does not exist.
  return (await objectInfo(repository, ref))?.id ?? (await valueAgain(repository, ref))
}

/**
 * Looks up a ref again that git did not find. Git also ignores a ref whose file is empty, for example after a power
 * cut, or whose object is missing. Such a repository must not look as if nobody had ever pushed the ref.
 */
async function valueAgain(repository: string, ref: string): Promise<string | null> {
  if (!(await hasRefFile(repository, ref))) return null
  // Another process may have created or deleted it since.
  const found = await objectInfo(repository, ref)
  if (found || !(await hasRefFile(repository, ref))) return found?.id ?? null
  throw new DamagedRepository(repository, `${ref} cannot be read`)
}

/**
 * Finds the commit that a name from a user means. It tries, in this order: full ref name, branch, tag, object id of 4
 * to 40 hex digits. Throws DamagedRepository when a ref with this name exists but git cannot read it.
 */
export async function resolveCommit(
  repository: string,
  name: string
): Promise<{ id: string; ref: string | null } | null> {
  const refs = [name, `refs/heads/${name}`, `refs/tags/${name}`].filter(
    ref => isRefName(ref) && !HIDDEN_PREFIXES.some(prefix => ref.startsWith(prefix))
  )
  const isId = /^[0-9a-f]{4,40}$/i.test(name)
  const id = name.toLowerCase()
  const known = await resolveKnown(repository, refs, isId ? id : null)
  if (known) return known
  const found = await Promise.all(
    [...refs, ...(isId ? [id] : [])].map(candidate => objectInfo(repository, `${candidate}^{commit}`))
  )
  for (const [index, ref] of refs.entries()) {
    const commit = found[index]
    if (commit) return { id: commit.id, ref }
  }
  const commit = isId ? found[refs.length] : null
  if (!commit) {
    for (const ref of refs) await valueAgain(repository, ref)
    return null
  }
  // For the id of a tag, git returns the commit of the tag. Any other result that does not begin with the given digits
  // came from a ref with that name.
  const direct = commit.id.startsWith(id) || id.length === 40
  return direct ? { id: commit.id, ref: null } : null
}

/** Does the same without git for full names and ids. Returns undefined when the caller must ask git. */
async function resolveKnown(repository: string, refs: readonly string[], id: string | null) {
  for (const ref of refs) {
    const value = await lookUpRef(repository, ref)
    if (value === null) continue
    return value !== undefined && (await isCommit(repository, value)) ? { id: value, ref } : undefined
  }
  return id !== null && isObjectId(id) && (await isCommit(repository, id)) ? { id, ref: null } : undefined
}

/** Reads the whole commit into the cache, because most callers read it next. */
const isCommit = async (repository: string, id: string) =>
  isCommitKnown(repository, id) || (await readCommit(repository, id)) !== null

export interface Ref {
  readonly name: string
  readonly id: string
  readonly type: string
  /** The object that an annotated tag points at. */
  readonly target: string | null
}

/** Returns all refs below a prefix such as `refs/heads/`, sorted by name, with one process. */
export async function listRefs(repository: string, prefix: string): Promise<Ref[]> {
  if (!/^refs\/(?:[\w.-]+\/)*$/.test(prefix)) throw new TypeError(`not a ref prefix: ${prefix}`)
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)'
  const output = await runGit(['for-each-ref', format, prefix], { repository })
  return output
    .toString()
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [name = '', id = '', type = '', target = ''] = line.split('\0')
      return { name, id, type, target: target || null }
    })
}

export interface IntactRefs {
  readonly refs: readonly Ref[]
  /** The names of refs whose object is missing, in a damaged repository. */
  readonly lost: readonly string[]
}

/** Does the same as `listRefs` in a repository that has lost objects, of which git would list no ref at all. */
export async function listIntactRefs(repository: string, prefix: string): Promise<IntactRefs> {
  try {
    return { refs: await listRefs(repository, prefix), lost: [] }
  } catch (error) {
    if (!(error instanceof GitFailure) || !/^fatal: missing object /m.test(error.stderr)) throw error
  }
  const listed = await runGit(['for-each-ref', '--format=%(objectname) %(refname)', prefix], { repository })
  const named = listed.toString().split('\n').filter(Boolean)
  const ids = named.map(line => line.slice(0, ZERO.length))
  const input = ids.map(id => `${id}\n${id}^{}\n`).join('')
  const asked = ['cat-file', '--batch-check=%(objecttype) %(objectname)']
  const answers = (await runGit(asked, { repository, input })).toString().split('\n')
  const refs: Ref[] = []
  const lost: string[] = []
  for (const [at, id] of ids.entries()) {
    const name = (named[at] ?? '').slice(ZERO.length + 1)
    const [own = '', final = ''] = [answers[at * 2], answers[at * 2 + 1]]
    const [type = ''] = own.split(' ')
    if (own.endsWith(' missing') || final.endsWith(' missing')) lost.push(name)
    else refs.push({ name, id, type, target: type === 'tag' ? final.slice(-ZERO.length) : null })
  }
  return { refs, lost }
}

/** Returns the first branch, sorted by name, that contains a commit, or null. */
export async function firstBranchWith(repository: string, commit: string): Promise<string | null> {
  if (!isObjectId(commit)) throw new TypeError(`not an object id: ${commit}`)
  const asked = ['for-each-ref', '--count=1', `--contains=${commit}`, '--format=%(refname)', 'refs/heads/']
  const found = (await askGit(repository, asked)).toString().trim()
  return found === '' ? null : found.slice('refs/heads/'.length)
}

export interface RefChange {
  readonly ref: string
  readonly old: string
  readonly new: string
}

/** A ref does not have the old value that the change expected. No ref was changed. */
export class RefMoved extends Error {
  override name = 'RefMoved'

  constructor(readonly ref: string) {
    super(`${ref} has moved`)
  }
}

/** A ref cannot exist together with another one, such as `a/b` with `a`. No ref was changed. */
export class RefBlocked extends Error {
  override name = 'RefBlocked'
}

/** The new value of a ref does not exist, although a cache may still have it: it was pruned. No ref was changed. */
export class RefWithoutObject extends Error {
  override name = 'RefWithoutObject'
}

/**
 * Changes refs from exactly their old values to the new ones, all or none; ZERO means a missing ref. The new objects
 * must already be durable. Throws RefMoved when a ref has another value, RefBlocked when the name of another ref
 * conflicts, RefWithoutObject for a value that does not exist, and Unavailable while another process holds the lock of a ref.
 * Throws GitFailure when git has ended in the middle: some of the refs may have moved.
 */
export async function updateRef(repository: string, changes: RefChange[]): Promise<void> {
  for (const { ref, old, new: next } of changes) {
    if (!isRefName(ref) || !isObjectId(old) || !isObjectId(next)) throw new TypeError(`not a ref change: ${ref}`)
  }
  const [only] = changes
  if (!only || (changes.length === 1 && (await moveRef(repository, only)))) return
  const instructions = changes.map(instruction).join('')
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeRefs(repository, instructions)
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error
      if ((await explain(repository, changes, error)) === 'done') return
      if (attempt === 2) throw error
    }
  }
}

function instruction({ ref, old, new: next }: RefChange): string {
  if (next !== ZERO) return `update ${ref}\0${next}\0${old}\0`
  return old === ZERO ? `verify ${ref}\0${ZERO}\0` : `delete ${ref}\0${old}\0`
}

/** Git has waited for the lock of another process. When that process is dead, a worker or `doctor --fix` removes the lock. */
const LOCKED = /Unable to create '.*\.lock': File exists/

/** Git has failed while it took the locks and compared the old values: it has set no ref. */
const BEFORE_COMMIT = /^fatal: prepare: /m

/**
 * Reads the refs after a failure to find out what happened. Git may have been killed after its commit (`done`), or
 * before it had begun; then the caller may try again (`again`). Otherwise it throws the error that ends the change:
 * the failure of git when it may have set some of the refs.
 */
async function explain(repository: string, changes: RefChange[], error: GitFailure): Promise<'done' | 'again'> {
  const values = await Promise.all(changes.map(async ({ ref }) => (await refValue(repository, ref)) ?? ZERO))
  const ended = error.code === null || error.stderr === ''
  if (ended && changes.every((change, index) => change.new === values[index])) return 'done'
  const moved = changes.find((change, index) => change.old !== values[index])
  if (moved) throw BEFORE_COMMIT.test(error.stderr) ? new RefMoved(moved.ref) : error
  if (ended) return 'again'
  // The message of git contains a path of the server.
  if (LOCKED.test(error.stderr)) throw new Unavailable('Another change of this branch or tag is still running')
  if (/ with nonexistent object /.test(error.stderr)) throw new RefWithoutObject(error.stderr.trim())
  if (/cannot create|cannot process .* and .* at the same time|exists/.test(error.stderr))
    throw new RefBlocked(error.stderr.trim())
  throw error
}
