// Imports many users from a file, by the same rules as for one user. Hashing passwords takes most of the time, 18 ms of
// a core for each. So all cores hash the next passwords while a transaction writes the last hundred users.
import { availableParallelism } from 'node:os'
import type { Origin } from '../../../access/actor.js'
import { lowerMarks, rows } from '../../../db/connect/sql.js'
import { Conflict, DiskFull, Failure, Forbidden, Invalid, Unavailable } from '../../../errors.js'
import { mapBounded } from '../../../lib/bounded.js'
import { validator, type Wrong } from '../../../lib/validate.js'
import { newToken } from '../../../secrets.js'
import { claimOf, conflictOf, noClaims, takenAmong, withClaim } from './import-claims.js'
import { userProblems } from './user-rules.js'
import { updateUser } from './user-update.js'
import { draftUser, insertUsers, type UserDraft } from './users.js'
import { UserBody } from './users.schema.js'

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
  /** Change users who exist already, by their usernames. Otherwise their lines are refused. */
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
  /** The id of the user who has this name already. */
  readonly id?: number
}

type Drafted = UserDraft & Candidate

const AT_ONCE = 100
const { confirm: _confirm, ...COLUMNS } = UserBody.properties

/** The attributes that a file may contain. */
export const IMPORT_COLUMNS: readonly string[] = Object.keys(COLUMNS)
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
  const seen = noClaims()
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

/** Returns the lines that can become users, by the checks before the write. Refuses the others in their order. */
async function acceptable(
  batch: readonly ImportLine[],
  seen: ReturnType<typeof noClaims>,
  { update, refuse }: ImportOptions
): Promise<Candidate[]> {
  const known = update ? await idsOf(batch) : new Map<string, number>()
  const read = batch.map(line => ({ line, ...readLine(line, known) }))
  const taken = await takenAmong(read.flatMap(({ body, id }) => (body && id === undefined ? body : [])))
  const candidates: Candidate[] = []
  for (const { line, body, error, id } of read) {
    const claim = body && claimOf(body)
    // The write of a known user finds its conflicts: its own address and name are no conflict.
    const conflict = claim ? ((id === undefined ? conflictOf(claim, taken) : null) ?? conflictOf(claim, seen)) : null
    if (!body || conflict !== null) {
      refuse(refusalOf(line, error ?? conflict ?? ''))
      continue
    }
    withClaim(seen, claimOf(body))
    candidates.push({ line: line.line, body, ...(id !== undefined && { id }) })
  }
  return candidates
}

const refusalOf = (line: ImportLine, error: string): Refusal => ({
  line: line.line,
  username: 'values' in line ? line.values.username || null : null,
  error
})

/** Returns the ids of the users who exist, by their usernames in lower case. */
async function idsOf(batch: readonly ImportLine[]): Promise<ReadonlyMap<string, number>> {
  const names = batch.flatMap(line => ('values' in line && line.values.username ? [line.values.username] : []))
  if (names.length === 0) return new Map()
  const found = await rows<{ id: number; username: string }>(
    `select id, username from users where username_key in (${lowerMarks(names)})`,
    names
  )
  return new Map(found.map(({ id, username }) => [username.toLowerCase(), id]))
}

type Reading = { body: UserBody; id?: number; error?: undefined } | { body?: undefined; id?: undefined; error: string }

function readLine(line: ImportLine, known: ReadonlyMap<string, number>): Reading {
  if ('error' in line) return { error: line.error }
  const id = known.get(line.values.username?.toLowerCase() ?? '')
  // Not specified: the passwords of existing users stay. A second import must not revert what users have changed.
  const { password, ...others } = line.values
  const values = id === undefined && password !== undefined ? { ...others, password } : others
  if (Object.values(values).some(value => value.includes('\ufffd'))) return { error: 'the line is not UTF-8' }
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
  return id === undefined ? { body } : { body, id }
}

const wrongText = ({ missing: [missing], name, problem }: Wrong) =>
  missing === undefined ? `${name} ${problem}` : `${missing} is missing`

/** Changes users one after another. A line that the rules refuse is reported, and does not stop the others. */
async function updateAll(candidates: readonly Candidate[], options: ImportOptions, origin: Origin): Promise<void> {
  for (const { line, body, id = 0 } of candidates) {
    const { password: _, ...change } = body
    try {
      options.updated?.(await updateUser(id, change, origin))
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
    await insertUsers(drafts, origin, { mail: options.mail })
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
