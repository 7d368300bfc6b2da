// Finds rows by a part of a text without reading all texts. Tables list the trigrams of each row: the groups of three letters or
// digits in its texts. A row that contains a search text has all trigrams of that text, so only rows with its rarest trigram must
// be compared.
//
// The trigrams consist of the weights that the collation gives characters, so they ignore case and accents as the comparison
// does. `like` compares single characters, and equal characters have equal weights. Therefore the trigrams never miss a row; they
// may find others, which the comparison removes. Spaces and signs are in no trigram: so the name and the path of a project have
// mostly the same ones.
//
// A full-text index over the same trigrams took 24 to 40 ms for words that this finds in 4 to 10, and no less space. A row of two
// bytes less, without the key by project, would need the old texts for each change.
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { batches } from '../../lib/batches.js'
import { PROSE_COLLATION } from '../connect/collations.js'
import { forgetWithPool } from '../connect/connection.js'
import { execute, type Fragment, padded, row, rows } from '../connect/sql.js'

/** A table whose rows are found by their texts. */
interface Searched {
  readonly find: string
  readonly insert: string
  readonly remove: string
  /** The numbers of rows with a trigram, at most MOST_COUNTED. They may be out of date: they only choose a way to search. */
  readonly counts: LRUCache<number, number>
}

const newCounts = () => new LRUCache<number, number>({ max: 5000, ttl: 600_000 })

/** Trigrams of the name, the path and the description. */
export const PROJECT_TEXTS: Searched = {
  find: 'select project_id from project_trigrams where trigram = ?',
  insert: 'insert ignore into project_trigrams (project_id, trigram) values',
  remove: 'delete from project_trigrams where project_id = ?',
  counts: newCounts()
}

/** Trigrams of the name, the username and the address. */
export const USER_TEXTS: Searched = {
  find: 'select user_id from user_trigrams where trigram = ?',
  insert: 'insert ignore into user_trigrams (user_id, trigram) values',
  remove: 'delete from user_trigrams where user_id = ?',
  counts: newCounts()
}

forgetWithPool(() => {
  for (const { counts } of [PROJECT_TEXTS, USER_TEXTS]) counts.clear()
})

export interface Texts {
  readonly id: number
  readonly texts: readonly (string | null | undefined)[]
}

const AT_ONCE = 512

/** Stores the trigrams of new rows. Call it in the transaction of the write. */
export async function addTrigrams({ insert }: Searched, records: readonly Texts[]): Promise<void> {
  const pairs: [id: number, trigram: number][] = []
  for (const { id, texts } of records) for (const trigram of await trigramsOf(texts)) pairs.push([id, trigram])
  for (const some of batches(pairs, AT_ONCE)) {
    const list = padded(some)
    await execute(`${insert} ${list.map(() => '(?, ?)').join(', ')}`, list.flat())
  }
}

/** Replaces the trigrams of a row whose texts have changed. Call it in the transaction of the write. */
export async function replaceTrigrams(searched: Searched, record: Texts): Promise<void> {
  await execute(searched.remove, [record.id])
  await addTrigrams(searched, [record])
}

/** The weights of `0` to `9` and `a` to `z`, so that the database is not asked for those of ASCII texts. */
const WEIGHTS = [
  0x1205, 0x1206, 0x1207, 0x1208, 0x1209, 0x120a, 0x120b, 0x120c, 0x120d, 0x120e, 0x120f, 0x1225, 0x123d, 0x1250,
  0x126b, 0x12a3, 0x12b0, 0x12d3, 0x12ec, 0x1305, 0x131e, 0x1330, 0x135f, 0x136d, 0x138e, 0x13b3, 0x13c8, 0x13da,
  0x1410, 0x1433, 0x1453, 0x147b, 0x148d, 0x1497, 0x149c, 0x14ad
]
const LEAST_OF_WORDS = 0x1205

/** Texts of ASCII characters with a weight: not of control characters, except for tabs and ends of lines. */
const ASCII = /^[\t-\r -~]*$/

async function trigramsOf(texts: Texts['texts']): Promise<ReadonlySet<number>> {
  const text = texts.filter(each => typeof each === 'string').join('\n')
  const weights = ASCII.test(text) ? asciiWeights(text) : await weightsOf(text)
  const found = new Set<number>()
  for (let at = 0; at + 6 <= weights.length; at += 2) {
    if ([at, at + 2, at + 4].every(place => weights.readUInt16BE(place) >= LEAST_OF_WORDS)) {
      found.add(crc32(weights.subarray(at, at + 6)))
    }
  }
  return found
}

/** Returns two bytes for each character, which are 0 unless it is a letter or digit. */
function asciiWeights(text: string): Buffer {
  const weights = Buffer.alloc(text.length * 2)
  for (let at = 0; at < text.length; at++)
    weights.writeUInt16BE(WEIGHTS[Number.parseInt(text.charAt(at), 36)] ?? 0, at * 2)
  return weights
}

async function weightsOf(text: string): Promise<Buffer> {
  const found = await row<{ weights: Buffer }>(`select weight_string(? collate ${PROSE_COLLATION}) as weights`, [text])
  return found?.weights ?? Buffer.alloc(0)
}

/** Of a long search text, only some trigrams are counted. */
const COUNTED_AT_ONCE = 8
/** A trigram with more rows than this is counted as having this many. The index counts them in 8 ms. */
export const MOST_COUNTED = 30_000

/** How to find the rows that may contain a search text. */
export interface Candidates {
  /** The statement that returns their ids. */
  readonly ids: Fragment
  /** About their number, and at most MOST_COUNTED. */
  readonly count: number
}

/**
 * Returns how to find the rows that may contain a search text. Undefined when it does not contain three letters or digits in a
 * row: then all rows must be compared.
 */
export async function candidatesOf({ find, counts }: Searched, search: string): Promise<Candidates | undefined> {
  const all = [...(await trigramsOf([search]))]
  const some = all.filter((_, at) => at % Math.ceil(all.length / COUNTED_AT_ONCE) === 0)
  const unknown = some.filter(trigram => !counts.has(trigram))
  if (unknown.length > 0) {
    const list = padded(unknown)
    const counted = await rows<{ count: number }>(
      list.map(() => `select count(*) as count from (${find} limit ${MOST_COUNTED}) found`).join(' union all '),
      list
    )
    counted.forEach(({ count }, at) => void counts.set(list[at] ?? 0, count))
  }
  const [rarest] = some
    .map(trigram => ({ trigram, count: counts.get(trigram) ?? 0 }))
    .sort((one, other) => one.count - other.count)
  return rarest && { ids: { sql: find, values: [rarest.trigram] }, count: rarest.count }
}
