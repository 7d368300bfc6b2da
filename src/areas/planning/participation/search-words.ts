// The words of the titles and descriptions of issues and merge requests, by which a search finds records of any age. A task adds
// them, so that writing a record costs nothing more; until then, a search finds the record by its title (text-search.queries.ts).
import { forgetWithPool } from '../../../db/connect/connection.js'
import { execute, marks, padded, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { batches } from '../../../lib/batches.js'
import type { Task, TaskContext } from '../../../queue/task.js'

/** Characters of a record that are read, and words of it that are kept. */
const LONGEST = 20_000
const MOST_WORDS = 300
/** Bytes. The rest of a longer word does not count. */
const LONGEST_WORD = 64
/** Shorter words are in too many records. */
const SHORTEST_WORD = 3

/** Stands next to the words of a record whose words are complete. */
const COMPLETE = Buffer.alloc(0)
/** Takes its place when the texts of the record change. */
const OLD = Buffer.alloc(1)

/** Returns the different words of a text, without case and accents: letters and digits, as UTF-8. */
export function wordsOf(text: string): Buffer[] {
  const plain = text
    .slice(0, LONGEST)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  const found = new Set<string>()
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (word.length >= SHORTEST_WORD) found.add(word)
    if (found.size === MOST_WORDS) break
  }
  return [...found].map(word => Buffer.from(word).subarray(0, LONGEST_WORD))
}

/** The statements that write the words of each kind of records. */
const WRITES = {
  issue: {
    renew: 'update issue_words set word = ? where word = ? and issue_id = ?',
    remove: 'delete from issue_words where issue_id in',
    insert: 'insert ignore into issue_words (word, issue_id) values'
  },
  merge_request: {
    renew: 'update merge_request_words set word = ? where word = ? and merge_request_id = ?',
    remove: 'delete from merge_request_words where merge_request_id in',
    insert: 'insert ignore into merge_request_words (word, merge_request_id) values'
  }
} as const
export type Kind = keyof typeof WRITES

/** Notes that the texts of a record have changed. Call it in the transaction of the change. */
export async function renewWords(kind: Kind, id: number): Promise<void> {
  await execute(WRITES[kind].renew, [OLD, COMPLETE, id])
}

const AT_ONCE = 20
const ROWS_AT_ONCE = 512

interface Texts {
  readonly id: number
  readonly title: string
  readonly description: string | null
}

/** Adds the words of records, and removes their old ones. */
async function indexRecords(kind: Kind, ids: readonly number[]): Promise<void> {
  const { remove, insert } = WRITES[kind]
  await transact(async () => {
    // The lock keeps the records until their words exist, which are deleted with them.
    const texts = await rows<Texts>(
      `select id, title, left(description, ${LONGEST}) as description from ${kind}s where id in (${marks(ids)})
       lock in share mode`,
      ids
    )
    await execute(`${remove} (${marks(ids)})`, ids)
    const pairs = texts.flatMap(({ id, title, description }) =>
      [COMPLETE, ...wordsOf(`${title}\n${description ?? ''}`)].map(word => [word, id] as const)
    )
    for (const some of batches(pairs, ROWS_AT_ONCE)) {
      const list = padded(some)
      await execute(`${insert} ${list.map(() => '(?, ?)').join(', ')}`, list.flat())
    }
  })
}

/** Records that one statement finds. */
const FOUND_AT_ONCE = 5000
/** A record may appear after others with higher ids: when its transaction takes long, or when several nodes of the database give out ids. */
const OVERLAP = 5000
/** Milliseconds between two looks at all records, which read a row for each. They find what other looks have missed. */
const WHOLE_MS = 86_400_000

/** When this process began to look at all records for the last time, by `performance.now()`. */
let wholeAt = Number.NEGATIVE_INFINITY
forgetWithPool(() => {
  wholeAt = Number.NEGATIVE_INFINITY
})

const missing = (kind: Kind, what: string): string =>
  `select ${what} from ${kind}s r left join ${kind}_words w on w.word = ? and w.${kind}_id = r.id where w.${kind}_id is null`

async function indexAll(kind: Kind, isWhole: boolean, { signal, count }: TaskContext): Promise<void> {
  const index = async (found: readonly { readonly id: number }[]) => {
    for (const some of batches(found, AT_ONCE)) {
      signal.throwIfAborted()
      await indexRecords(
        kind,
        some.map(({ id }) => id)
      )
      count(some.length)
    }
  }
  for (;;) {
    const old = `select ${kind}_id as id from ${kind}_words where word = ? limit ${FOUND_AT_ONCE}`
    const found = await rows<{ id: number }>(old, [OLD])
    await index(found)
    if (found.length < FOUND_AT_ONCE) break
  }
  // Each statement continues behind the last one: from the beginning, the time would grow with the square of the records.
  for (let last = isWhole ? 0 : (await lastComplete(kind)) - OVERLAP; ; ) {
    const found = await rows<{ id: number }>(
      `${missing(kind, 'r.id')} and r.id > ? order by r.id limit ${FOUND_AT_ONCE}`,
      [COMPLETE, Math.max(0, last)]
    )
    const end = found.at(-1)
    if (!end) return
    last = end.id
    await index(found)
  }
}

async function lastComplete(kind: Kind): Promise<number> {
  const found = await row<{ id: number | null }>(`select max(${kind}_id) as id from ${kind}_words where word = ?`, [
    COMPLETE
  ])
  return found?.id ?? 0
}

const KINDS: readonly Kind[] = ['issue', 'merge_request']

export const searchWords: Task = {
  name: 'search_words',
  schedule: '*/5 * * * *',
  about: 'lets searches find new and changed issues and merge requests by all their words',
  run: async context => {
    const began = performance.now()
    const isWhole = began - wholeAt >= WHOLE_MS
    for (const kind of KINDS) {
      if (!context.dryRun) await indexAll(kind, isWhole, context)
      else context.count((await row<{ total: number }>(missing(kind, 'count(*) as total'), [COMPLETE]))?.total)
    }
    if (isWhole && !context.dryRun) wholeAt = began
    return undefined
  }
}
