// Imports many users from a file, by the same rules as for one user. Hashing passwords takes most of the time, 18 ms of
// a core for each. So all cores hash the next passwords while a transaction writes the last hundred users.
import { availableParallelism } from 'node:os'
import type { Origin } from '../../../access/actor.js'
import { Conflict } from '../../../errors.js'
import { mapBounded } from '../../../lib/bounded.js'
import { validator, type Wrong } from '../../../lib/validate.js'
import { newToken } from '../../../secrets.js'
import { claimOf, conflictOf, noClaims, takenAmong, withClaim } from './import-claims.js'
import { userProblems } from './user-rules.js'
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
  /** Each user gets the welcome mail, as a single new user does. */
  readonly mail?: boolean
  /** Called for each refused user, in no particular order. */
  readonly refuse: (refusal: Refusal) => void
  /** Called with the number of users that were written, or that a dry run could have written. */
  readonly created: (count: number) => void
}

interface Candidate {
  readonly line: number
  readonly body: UserBody
}

type Drafted = UserDraft & Candidate

const AT_ONCE = 100
const { confirm: _confirm, ...COLUMNS } = UserBody.properties

/** The attributes that a file may contain. */
export const IMPORT_COLUMNS: readonly string[] = Object.keys(COLUMNS)
export const REQUIRED_COLUMNS = ['username', 'email', 'name'] as const

const validate = validator(UserBody)

/**
 * Creates the users of all valid lines, and reports the others. A user without a password gets a random one. Written
 * users stay, even if a later step fails.
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
    const candidates = await acceptable(batch, seen, options.refuse)
    if (options.dryRun) {
      options.created(candidates.length)
      continue
    }
    const drafts = await mapBounded(candidates, availableParallelism(), async candidate => ({
      ...candidate,
      ...(await draftUser(candidate.body))
    }))
    await writing
    writing = write(drafts, options, origin)
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
  refuse: ImportOptions['refuse']
): Promise<Candidate[]> {
  const read = batch.map(line => ({ line, ...readLine(line) }))
  const taken = await takenAmong(read.flatMap(({ body }) => body ?? []))
  const candidates: Candidate[] = []
  for (const { line, body, error } of read) {
    const claim = body && claimOf(body)
    const conflict = claim ? (conflictOf(claim, taken) ?? conflictOf(claim, seen)) : null
    if (!body || conflict !== null) {
      refuse(refusalOf(line, error ?? conflict ?? ''))
      continue
    }
    withClaim(seen, claimOf(body))
    candidates.push({ line: line.line, body })
  }
  return candidates
}

const refusalOf = (line: ImportLine, error: string): Refusal => ({
  line: line.line,
  username: 'values' in line ? line.values.username || null : null,
  error
})

function readLine(line: ImportLine): { body: UserBody; error?: undefined } | { body?: undefined; error: string } {
  if ('error' in line) return { error: line.error }
  const { values } = line
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
  return { body }
}

const wrongText = ({ missing: [missing], name, problem }: Wrong) =>
  missing === undefined ? `${name} ${problem}` : `${missing} is missing`

/** Writes users together. If another request took a claim of one of them, writes them one by one to find out which. */
async function write(drafts: readonly Drafted[], options: ImportOptions, origin: Origin): Promise<void> {
  if (drafts.length === 0) return
  try {
    await insertUsers(drafts, origin, { mail: options.mail })
    options.created(drafts.length)
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
    const [only] = drafts
    if (drafts.length === 1 && only) {
      options.refuse({ line: only.line, username: only.body.username, error: error.message })
      return
    }
    for (const draft of drafts) await write([draft], options, origin)
  }
}
