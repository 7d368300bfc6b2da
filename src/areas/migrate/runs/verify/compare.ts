// Compares the records of a project at the source with those of its archive here. Both are in the order of kinds, but records of one kind
// may be in another order on each side: so each waits for the one with the same identity.
import { hash } from 'node:crypto'
import { receiverOf } from '../../../../webhooks/url.js'
import { KINDS, type Kind, RECORDS, REFS } from '../../../upkeep/project-archives/format.js'
import { openArchive } from '../../../upkeep/project-archives/read-archive.js'
import { readLines } from '../spool.js'

const MOST_SHOWN = 20
/** Records of one side that wait for the other. Each takes about a kilobyte. One that waits longer counts as missing. */
const MOST_WAITING = 50_000

export interface Compared {
  /** Numbers of records by kind where both sides differ. */
  readonly counts: { readonly [kind: string]: { readonly there: number; readonly here: number } }
  readonly compared: number
  readonly different: number
  /** The first differences, such as `issue 5: title`. */
  readonly differences: readonly string[]
  /** The branches and tags that differ; the first of them. */
  readonly refs: readonly string[]
}

interface Comparing {
  /** Those of the source. */
  readonly refs: readonly { readonly ref: string; readonly id: string }[]
  /** The username of the owner of the project here; the path of its group otherwise. */
  readonly owner: string
}

type Values = { readonly [name: string]: unknown }
type Side = 'there' | 'here'

/** Compares the records of a file, and refs, with those of an archive. */
export async function compare(records: string, file: string, { refs, owner }: Comparing): Promise<Compared> {
  const archive = await openArchive(file)
  // Here, the owner of a namespace is a member of its projects; most forges do not list owners.
  const isOwner = ({ kind, username }: Values) => kind === 'member' && username === owner
  try {
    const counts = new Map<string, { there: number; here: number }>()
    const sides = {
      there: groupsOf(readLines(records), isOwner),
      here: groupsOf(archive.lines(RECORDS), isOwner)
    }
    const differences: string[] = []
    let [compared, different] = [0, 0]
    const differs = (text: string) => {
      if (++different <= MOST_SHOWN) differences.push(text)
    }
    for (let group = 0; group < GROUPS; group++) {
      const waiting = { there: new Waiting(), here: new Waiting() }
      const take = async (side: Side, other: Side): Promise<boolean> => {
        const values = await sides[side](group)
        if (!values) return false
        const kind = String(values.kind)
        const known = counts.get(kind) ?? { there: 0, here: 0 }
        known[side]++
        counts.set(kind, known)
        const key = identityOf(values, known[side])
        const mine = { name: nameOf(values), fields: fieldsOf(values) }
        const found = waiting[other].take(key)
        if (found) {
          compared++
          const [one, two] = side === 'there' ? [mine, found] : [found, mine]
          const fields = Object.keys(one.fields).filter(field => one.fields[field] !== two.fields[field])
          if (fields.length > 0) differs(`${one.name}: ${fields.join(', ')}`)
        } else {
          const missing = waiting[side].add(key, mine)
          if (missing) differs(`${missing.name}: ${MISSING[side]}`)
        }
        return true
      }
      for (let more = true; more; ) more = [await take('there', 'here'), await take('here', 'there')].includes(true)
      for (const side of ['there', 'here'] as const)
        for (const { name } of waiting[side].all()) differs(`${name}: ${MISSING[side]}`)
    }
    const uneven = [...counts].filter(([, { there, here }]) => there !== here)
    const found = new Map<string, string>()
    for await (const line of archive.lines(REFS)) {
      const { ref, id } = JSON.parse(line) as { ref: string; id: string }
      found.set(ref, id)
    }
    const wrong = refs.filter(({ ref, id }) => !ref.startsWith('refs/internal/') && found.get(ref) !== id)
    return {
      counts: Object.fromEntries(uneven),
      compared,
      different,
      differences,
      refs: wrong.slice(0, MOST_SHOWN).map(({ ref }) => ref)
    }
  } finally {
    archive.close()
  }
}

const MISSING = { there: 'is not here', here: 'is only here' }

interface Waiter {
  readonly name: string
  readonly fields: { readonly [name: string]: string }
}

/** The records of one side for which the other side has had none yet, in their order. */
class Waiting {
  private readonly byKey = new Map<string, Waiter[]>()
  private size = 0

  take(key: string): Waiter | undefined {
    const same = this.byKey.get(key)
    const first = same?.shift()
    if (!first) return undefined
    this.size--
    if (same?.length === 0) this.byKey.delete(key)
    return first
  }

  /** Returns the one that has waited for too long. */
  add(key: string, waiter: Waiter): Waiter | undefined {
    const same = this.byKey.get(key)
    if (same) same.push(waiter)
    else this.byKey.set(key, [waiter])
    if (++this.size <= MOST_WAITING) return undefined
    const [oldest = key] = this.byKey.keys()
    return this.take(oldest)
  }

  *all(): Generator<Waiter> {
    for (const same of this.byKey.values()) yield* same
  }
}

/** What comes after its pipeline is in no order of kinds. */
const GROUPS = KINDS.indexOf('pipeline') + 1
const groupOf = ({ kind }: Values) => Math.min(KINDS.indexOf(kind as Kind), GROUPS - 1)

/** Returns a function that returns the next record of a group of kinds for which `leavesOut` is false; null without more of this group. */
function groupsOf(
  lines: AsyncGenerator<string>,
  leavesOut: (values: Values) => boolean
): (group: number) => Promise<Values | null> {
  let held: Values | null | undefined
  const next = async () => {
    for (;;) {
      const { value, done } = await lines.next()
      const values = done ? null : (JSON.parse(value) as Values)
      if (values === null || !leavesOut(values)) return values
    }
  }
  return async group => {
    held ??= await next()
    if (held === null || groupOf(held) > group) return null
    const values = held
    held = undefined
    return values
  }
}

/** The fields by which a record is the same on both sides. Records of other kinds are the same by their position. */
const IDENTITY: { readonly [K in Kind]?: readonly string[] } = {
  member: ['username'],
  label: ['title'],
  milestone: ['iid'],
  protected_branch: ['name'],
  release: ['tag'],
  hook: ['url'],
  variable: ['key', 'environment_scope'],
  environment: ['name'],
  issue: ['iid'],
  merge_request: ['iid'],
  note: ['on', 'created_at']
}

function identityOf(values: Values, position: number): string {
  const fields = IDENTITY[values.kind as Kind]
  return JSON.stringify([values.kind, ...(fields ? fields.map(name => comparable(name, values[name])) : [position])])
}

/** What this appliance decides itself. */
const OWN = new Set([
  'merge_status',
  'counters',
  'last_activity_at',
  'username',
  'avatar',
  'updated_by',
  'member created_at'
])
/** Characters. A longer text waits as its hash. */
const SHORT = 64

/** Returns what is compared of a record. */
function fieldsOf(values: Values): Waiter['fields'] {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => !OWN.has(values.kind === 'member' ? `member ${name}` : name))
      .map(([name, value]) => {
        const text = JSON.stringify(comparable(name, value)) ?? ''
        return [name, text.length > SHORT ? hash('sha256', text, 'base64') : text]
      })
  )
}

/** The order of people and labels says nothing, and the password in the URL of a hook does not come along. */
function comparable(name: string, value: unknown): unknown {
  if (name === 'url' && typeof value === 'string') return receiverOf(value)
  if (!Array.isArray(value)) return value
  return [...value].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
}

function nameOf({ kind, iid, number, title, name, on }: Values): string {
  const { type, number: of } = (on ?? {}) as { readonly type?: string; readonly number?: number }
  return `${kind} ${iid ?? number ?? title ?? name ?? (type === undefined ? '' : `about ${type} ${of}`)}`.trim()
}
