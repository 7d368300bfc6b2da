// Adds many members to projects and groups from a file, by the same rules as for one member.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, DiskFull, Failure, Forbidden, NotFound, Unavailable } from '../../../errors.js'
import { LEVEL_WORDS, levelOf } from '../../../lib/levels.js'
import type { ImportLine } from '../users/import/user-import.js'
import { requireUser } from '../users/users.queries.js'
import { addMember, checkLevel, readEnd, type Source, updateMember } from './members.js'
import { findMember } from './members.queries.js'
import { requireSource } from './sources.js'

/** The attributes that a file may contain. */
export const MEMBER_COLUMNS = ['path', 'user', 'level', 'expires_at'] as const
export const REQUIRED_MEMBER_COLUMNS = ['path', 'user', 'level'] as const
type Column = (typeof MEMBER_COLUMNS)[number]

export interface MemberRefusal {
  readonly line: number
  readonly path: string | null
  readonly user: string | null
  /** The column that is wrong; null when the whole line is wrong. */
  readonly attribute: Column | null
  readonly error: string
}

/** The result of a line. A member who already has the same level and expiry date is unchanged. */
export type MemberOutcome = 'added' | 'changed' | 'unchanged'

export interface MemberImportOptions {
  /** Check all lines and write nothing. */
  readonly dryRun: boolean
  /** Give existing members the level and expiry date of the file. Without it, their lines are refused. */
  readonly update: boolean
  readonly refuse: (refusal: MemberRefusal) => void
  readonly done: (outcome: MemberOutcome, count: number) => void
}

interface Candidate {
  readonly line: ImportLine
  readonly source: Source
  readonly userId: number
  readonly level: number
  /** Undefined keeps the expiry date of a member. */
  readonly end: string | null | undefined
}

/** Lines that one transaction writes, because most of its time is the commit. */
const AT_ONCE = 100
/** The number of sources to remember while reading the file: files are often sorted by source. */
const SOURCES_KEPT = 1000

/** A line that cannot writeMember a membership, with the wrong column. */
class Wrong extends Failure {
  constructor(
    readonly attribute: Column | null,
    text: string
  ) {
    super(text)
  }
}

/** Adds the members of all valid lines, and reports the others. Written memberships stay, even if a later step fails. */
export async function importMembers(
  lines: AsyncIterable<ImportLine>,
  options: MemberImportOptions,
  origin: Origin
): Promise<void> {
  // The members of the whole file, because two lines could name the same one. Each takes some 50 bytes.
  const seen = new Map<string, number>()
  const sources = new Map<string, Source>()
  let batch: Candidate[] = []
  for await (const line of lines) {
    try {
      batch.push(claimed(await readLine(line, sources), seen))
    } catch (error) {
      options.refuse(refusalOf(line, error))
    }
    if (batch.length < AT_ONCE) continue
    await write(batch, options, origin)
    batch = []
  }
  await write(batch, options, origin)
}

function claimed(candidate: Candidate, seen: Map<string, number>): Candidate {
  const { source, userId, line } = candidate
  const key = `${source.type} ${source.id} ${userId}`
  const before = seen.get(key)
  if (before !== undefined) throw new Wrong('user', `is already on line ${before}`)
  seen.set(key, line.line)
  return candidate
}

async function readLine(line: ImportLine, sources: Map<string, Source>): Promise<Candidate> {
  if ('error' in line) throw new Wrong(null, line.error)
  const { values } = line
  if (Object.values(values).some(value => value.includes('\ufffd'))) throw new Wrong(null, 'the line is not UTF-8')
  const requiredValue = (column: Column) => {
    const text = values[column]?.trim()
    if (!text) throw new Wrong(column, 'is empty')
    return text
  }
  const path = requiredValue('path')
  const source = sources.get(path) ?? (await naming('path', () => requireSource(path)))
  if (sources.size < SOURCES_KEPT) sources.set(path, source)
  const { id: userId } = await naming('user', () => requireUser(requiredValue('user')))
  const level = await naming('level', () => readLevel(source, requiredValue('level')))
  // An empty cell means that the attribute is absent.
  const end = await naming('expires_at', () => readEnd(values.expires_at?.trim() || undefined))
  return { line, source, userId, level, end }
}

function readLevel(source: Source, text: string): number {
  const level = levelOf(text)
  if (level === undefined) throw new Wrong('level', `is not one of ${LEVEL_WORDS.join(', ')}`)
  checkLevel(source, level)
  return level
}

/** Adds the column to the error of a refusal. */
async function naming<T>(attribute: Column, read: () => Promise<T> | T): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Wrong || !isRefusal(error)) throw error
    throw new Wrong(attribute, error.message)
  }
}

/** Writes members together. If one is refused, writes them one by one to find out which. */
async function write(batch: readonly Candidate[], options: MemberImportOptions, origin: Origin): Promise<void> {
  if (options.dryRun || batch.length === 1) {
    for (const one of batch) await writeOne(one, options, origin)
    return
  }
  try {
    const outcomes = await transact(async () => {
      const done: MemberOutcome[] = []
      for (const one of batch) done.push(await writeMember(one, options, origin))
      return done
    })
    for (const outcome of outcomes) options.done(outcome, 1)
  } catch (error) {
    if (!isRefusal(error)) throw error
    for (const one of batch) await writeOne(one, options, origin)
  }
}

/** Rolls back what a dry run has written. */
class DryRunDone extends Error {
  constructor(readonly outcome: MemberOutcome) {
    super(outcome)
  }
}

async function writeOne(one: Candidate, options: MemberImportOptions, origin: Origin): Promise<void> {
  try {
    const outcome = await transact(async () => {
      const done = await writeMember(one, options, origin)
      if (options.dryRun) throw new DryRunDone(done)
      return done
    })
    options.done(outcome, 1)
  } catch (error) {
    if (error instanceof DryRunDone) options.done(error.outcome, 1)
    else options.refuse(refusalOf(one.line, error))
  }
}

async function writeMember(
  { source, userId, level, end }: Candidate,
  { update }: MemberImportOptions,
  origin: Origin
): Promise<MemberOutcome> {
  const known = await findMember(source, userId, { lock: true })
  const terms = { access_level: level, ...(end !== undefined && { expires_at: end }) }
  if (!known) {
    await addMember(source, { user_id: userId, ...terms }, origin)
    return 'added'
  }
  if (known.access_level === level && (end === undefined || end === known.expires_at)) return 'unchanged'
  if (!update) throw new Conflict('is already a member, with another level or expiry date: use --update to change it')
  await updateMember(source, userId, terms, origin)
  return 'changed'
}

const isRefusal = (error: unknown): error is Failure =>
  error instanceof Failure && !(error instanceof Unavailable) && !(error instanceof DiskFull)

/** Throws the error when it does not come from the line. */
function refusalOf(line: ImportLine, error: unknown): MemberRefusal {
  if (!isRefusal(error)) throw error
  const values = 'values' in line ? line.values : {}
  const names = { line: line.line, path: values.path || null, user: values.user || null }
  if (error instanceof Wrong) return { ...names, attribute: error.attribute, error: error.message }
  if (error instanceof Forbidden) return { ...names, attribute: 'level', error: LAST_OWNER }
  // The user or the source was removed in the meantime.
  if (error instanceof NotFound) return { ...names, attribute: 'path', error: 'no longer exists' }
  return { ...names, attribute: 'user', error: error.message }
}

const LAST_OWNER = 'cannot change: a group must keep an owner, and the owner of a personal project stays its Master'
