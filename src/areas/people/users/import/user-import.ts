// Imports many users from a file, by the same rules as for one user. Hashing passwords takes most of the time, 18 ms of
// a core for each. So all cores hash the next passwords while a transaction writes the last hundred users.
import { availableParallelism } from 'node:os'
import type { Origin } from '../../../../access/actor.js'
import { lowerMarks, marks, rows } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Conflict, DiskFull, Failure, Forbidden, Invalid, Unavailable } from '../../../../errors.js'
import { mapBounded } from '../../../../lib/bounded.js'
import { validator, type Wrong } from '../../../../lib/validate.js'
import { newToken } from '../../../../secrets.js'
import { insertReadKey, type ReadKey } from '../keys.js'
import { checkChosenPassword, checksGivenPasswords } from '../password-rules.js'
import { userProblems } from '../user-rules.js'
import { updateUser } from '../user-update.js'
import { draftUser, insertUsers, type UserDraft } from '../users.js'
import { UserBody } from '../users.schema.js'
import { claimOf, conflictOf, identityKey, noClaims, takenAmong, withClaim } from './import-claims.js'
import { holdersOf, newKeys, readKeys, type SeenKeys } from './import-keys.js'

/** A record of an imported file: its values as text, or why it cannot be read. */
export type ImportLine = {
  /** The line on which the record begins. */
  readonly line: number
} & ({ readonly values: Readonly<Record<string, string>> } | { readonly error: string })

export interface Refusal {
  readonly line: number
  readonly username: string | null
  readonly error: string
}

export interface ImportOptions {
  /** Check all lines and write nothing. */
  readonly dryRun: boolean
  /** Change users who exist already, by their identities or usernames. Otherwise their lines are refused. */
  readonly update?: boolean
  /** Each new user gets the welcome mail, as a single new user does. */
  readonly mail?: boolean
  /** Called for each refused user, in no particular order. */
  readonly refuse: (refusal: Refusal) => void
  /** Called with the number of users that were written, or that a dry run could have written. */
  readonly created: (count: number) => void
  /** Called for each user who exists already: whether anything changed. A dry run cannot know that, and says true. */
  readonly updated?: (changed: boolean) => void
}

interface Candidate {
  readonly line: number
  readonly body: UserBody
  /** The keys that the user gets. */
  readonly keys: readonly ReadKey[]
  /** The id of the user who exists already. */
  readonly id?: number
}

type Drafted = UserDraft & Candidate

const AT_ONCE = 100
const { confirm: _confirm, ...COLUMNS } = UserBody.properties

/** The attributes that a file may contain. */
export const IMPORT_COLUMNS: readonly string[] = [...Object.keys(COLUMNS), 'ssh_keys']
export const REQUIRED_COLUMNS = ['username', 'email', 'name'] as const

const validate = validator(UserBody)

/**
 * Creates the users of all valid lines, and reports the others. A user without a password gets a random one. With `update`, it
 * changes users who exist already, except for their passwords. Written users stay, even if a later step fails.
 */
export async function importUsers(
  lines: AsyncIterable<ImportLine>,
  options: ImportOptions,
  origin: Origin
): Promise<void> {
  // The claims of the whole file, because two lines could name the same user. Each takes some 100 bytes.
  const seen = { ...noClaims(), keys: new Map<string, number>() }
  let writing: Promise<void> = Promise.resolve()
  for await (const batch of inBatches(lines)) {
    const candidates = await acceptable(batch, seen, options)
    const fresh = candidates.filter(({ id }) => id === undefined)
    const known = candidates.filter(({ id }) => id !== undefined)
    if (options.dryRun) {
      options.created(fresh.length)
      for (const _ of known) options.updated?.(true)
      continue
    }
    const drafts = await mapBounded(fresh, availableParallelism(), async candidate => ({
      ...candidate,
      ...(await draftUser(candidate.body))
    }))
    await writing
    writing = write(drafts, options, origin).then(() => updateAll(known, options, origin))
    // The loop awaits this one batch later: until then a failure must not count as unhandled.
    writing.catch(() => undefined)
  }
  await writing
}

async function* inBatches(lines: AsyncIterable<ImportLine>): AsyncGenerator<ImportLine[]> {
  let batch: ImportLine[] = []
  for await (const line of lines) {
    batch.push(line)
    if (batch.length < AT_ONCE) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

type Seen = ReturnType<typeof noClaims> & { readonly keys: SeenKeys }

/** Returns the lines that can become users, by the checks before the write. Refuses the others in their order. */
async function acceptable(
  batch: readonly ImportLine[],
  seen: Seen,
  { update, refuse }: ImportOptions
): Promise<Candidate[]> {
  const known = update ? await knownAmong(batch) : NOBODY
  const read: Reading[] = []
  for (const line of batch) read.push(await readLine(line, known).catch(refusalIn))
  const taken = await takenAmong(read.flatMap(({ body, id }) => (body && id === undefined ? body : [])))
  const holders = await holdersOf(read.flatMap(({ keys = [] }) => keys.map(({ fingerprint }) => fingerprint)))
  const candidates: Candidate[] = []
  for (const [at, { body, error, id, keys = [] }] of read.entries()) {
    const line = batch[at] as ImportLine
    const accepted = (body: UserBody): Candidate => {
      const claim = claimOf(body)
      // The write of a known user finds its conflicts: its own address and name are no conflict.
      const conflict = (id === undefined ? conflictOf(claim, taken) : null) ?? conflictOf(claim, seen)
      if (conflict !== null) throw new Conflict(conflict)
      const fresh = newKeys(keys, { ...(id !== undefined && { id }), line: line.line, holders, seen: seen.keys })
      withClaim(seen, claim)
      return { line: line.line, body, keys: fresh, ...(id !== undefined && { id }) }
    }
    try {
      if (!body) refuse(refusalOf(line, error))
      else candidates.push(accepted(body))
    } catch (problem) {
      refuse(refusalOf(line, refusalIn(problem).error))
    }
  }
  return candidates
}

/** Returns the text of a rule's refusal. Throws all other errors again. */
function refusalIn(error: unknown): { readonly error: string } {
  if (error instanceof Invalid || error instanceof Conflict) return { error: error.message }
  throw error
}

const refusalOf = (line: ImportLine, error: string): Refusal => ({
  line: line.line,
  username: 'values' in line ? line.values.username || null : null,
  error
})

/** The users who exist: their ids by their usernames in lower case, and by their identities. */
interface Known {
  readonly names: ReadonlyMap<string, number>
  readonly identities: ReadonlyMap<string, number>
}

const NOBODY: Known = { names: new Map(), identities: new Map() }

async function knownAmong(batch: readonly ImportLine[]): Promise<Known> {
  const values = batch.flatMap(line => ('values' in line ? [line.values] : []))
  const names = values.flatMap(({ username }) => username || [])
  const uids = values.flatMap(({ extern_uid: uid }) => uid || [])
  const [byName, byIdentity] = await Promise.all([
    rows<{ id: number; username: string }>(
      `select id, username from users where username_key in (${lowerMarks(names)})`,
      names
    ),
    rows<{ user_id: number; provider: string; extern_uid: string }>(
      `select user_id, provider, extern_uid from identities where extern_uid in (${marks(uids)})`,
      uids
    )
  ])
  return {
    names: new Map(byName.map(({ id, username }) => [username.toLowerCase(), id])),
    identities: new Map(
      byIdentity.map(({ user_id, provider, extern_uid }) => [identityKey(provider, extern_uid), user_id])
    )
  }
}

type Reading =
  | { body: UserBody; id?: number; keys: readonly ReadKey[]; error?: undefined }
  | { body?: undefined; id?: undefined; keys?: undefined; error: string }

/**
 * Not specified: an identity counts more than the username, which may have changed at the provider. Two users in one line are an
 * error.
 */
function idOf({ username = '', provider = '', extern_uid: uid = '' }: Readonly<Record<string, string>>, known: Known) {
  const byName = known.names.get(username.toLowerCase())
  const byIdentity = known.identities.get(identityKey(provider, uid))
  if (byName !== undefined && byIdentity !== undefined && byName !== byIdentity) {
    throw new Conflict('the username belongs to another user than extern_uid')
  }
  return byIdentity ?? byName
}

/** Throws Invalid and Conflict for some of the lines that cannot be imported, and returns the error of the others. */
async function readLine(line: ImportLine, known: Known): Promise<Reading> {
  if ('error' in line) return { error: line.error }
  const id = idOf(line.values, known)
  // Not specified: the passwords of existing users stay. A second import must not revert what users have changed.
  const { password, ssh_keys: cell = '', ...others } = line.values
  const values = id === undefined && password !== undefined ? { ...others, password } : others
  if (Object.values({ ...values, cell }).some(value => value.includes('\ufffd')))
    return { error: 'the line is not UTF-8' }
  const required = [...REQUIRED_COLUMNS, 'password'] as readonly string[]
  // An empty cell means that the attribute is absent.
  const present = Object.entries(values).filter(([name, value]) => value !== '' || required.includes(name))
  const checked = validate({ password: newToken(), ...Object.fromEntries(present) })
  if (checked.wrong) return { error: wrongText(checked.wrong) }
  const body = checked.value as UserBody
  const problems = Object.entries(userProblems(body)).map(([name, texts]) => `${name} ${texts.join(', ')}`)
  if (problems.length > 0) return { error: problems.join('; ') }
  if ((body.provider === undefined) !== (body.extern_uid === undefined)) {
    return { error: 'extern_uid, provider must be given together' }
  }
  if (id === undefined && password !== undefined && checksGivenPasswords()) await checkChosenPassword(password, body)
  const keys = await readKeys(cell)
  return id === undefined ? { body, keys } : { body, id, keys }
}

const wrongText = ({ missing: [missing], name, problem }: Wrong) =>
  missing === undefined ? `${name} ${problem}` : `${missing} is missing`

/** Changes users one after another. A line that the rules refuse is reported, and does not stop the others. */
async function updateAll(candidates: readonly Candidate[], options: ImportOptions, origin: Origin): Promise<void> {
  for (const { line, body, keys, id = 0 } of candidates) {
    const { password: _, ...change } = body
    try {
      const changed = await transact(async () => {
        const updated = await updateUser(id, change, origin)
        for (const key of keys) await insertReadKey({ id, username: body.username }, key, origin)
        return updated || keys.length > 0
      })
      options.updated?.(changed)
    } catch (error) {
      if (!(error instanceof Failure) || error instanceof Unavailable || error instanceof DiskFull) throw error
      const text = (error instanceof Forbidden && error.reason) || error.message
      options.refuse({ line, username: body.username, error: text })
    }
  }
}

/** Writes users together. If another request took a claim of one of them, writes them one by one to find out which. */
async function write(drafts: readonly Drafted[], options: ImportOptions, origin: Origin): Promise<void> {
  if (drafts.length === 0) return
  try {
    await transact(async () => {
      const ids = await insertUsers(drafts, origin, { mail: options.mail })
      for (const [at, { body, keys }] of drafts.entries()) {
        const owner = { id: ids[at] ?? 0, username: body.username }
        // Not specified: new users get no mail about the keys that came with the account.
        for (const key of keys) await insertReadKey(owner, key, origin, { mail: false })
      }
    })
    options.created(drafts.length)
  } catch (error) {
    if (!(error instanceof Conflict || error instanceof Invalid)) throw error
    const [only] = drafts
    if (drafts.length === 1 && only) {
      options.refuse({ line: only.line, username: only.body.username, error: error.message })
      return
    }
    for (const draft of drafts) await write([draft], options, origin)
  }
}
