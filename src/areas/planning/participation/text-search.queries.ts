// Searches the texts of issues or merge requests in all projects.
import { type Fragment, padded, rows } from '../../../db/connect/sql.js'
import { and, contains } from '../../../db/lists/conditions.js'
import { type Kind, wordsOf } from './search-words.js'

/** A search reads this many titles, those of the newest records, so that its time does not grow with the instance. */
export const SEARCHED = 20_000
/** Records with a word that one search compares. */
const MOST_COMPARED = 5000
/** Words of a search that count. */
const MOST_ASKED = 8

interface Searched {
  readonly kind: Kind
  /** How `visible` names the table; it names the projects `p`. */
  readonly as: string
  readonly project: 'project_id' | 'target_project_id'
  /** The condition that the caller may see the record and its project. */
  readonly visible: Fragment
}

/**
 * Returns the ids of the newest records, newest first, at most `limit`: those with the text in their title, if they are among the
 * newest of all, and those of any age with all words of the text in their title or description.
 */
export async function idsByText(text: string, limit: number, searched: Searched): Promise<number[]> {
  const found = await Promise.all([idsByTitle(text, limit, searched), idsByWords(text, limit, searched)])
  return [...new Set(found.flat())].sort((one, other) => other - one).slice(0, limit)
}

async function idsByTitle(text: string, limit: number, { kind, as, project, visible }: Searched): Promise<number[]> {
  const { sql, values } = and(contains([`${as}.title`], text), visible)
  const found = await rows<{ id: number }>(
    `select ${as}.id from (select id from ${kind}s order by id desc limit ${SEARCHED}) newest
     straight_join ${kind}s ${as} on ${as}.id = newest.id straight_join projects p on p.id = ${as}.${project}
     where ${sql} order by ${as}.id desc limit ${Math.trunc(limit)}`,
    values
  )
  return found.map(({ id }) => id)
}

/** A word of a record may continue after the word that is searched for. */
const beginning = (word: Buffer): Buffer => Buffer.concat([word, Buffer.from('%')])

/**
 * Returns the ids of records whose texts have all words of a text, newest first, at most `limit`. Of a word that very many
 * records have, only the newest records that have exactly this word are compared.
 */
async function idsByWords(text: string, limit: number, { kind, as, project, visible }: Searched): Promise<number[]> {
  const words = wordsOf(text).slice(0, MOST_ASKED)
  if (words.length === 0) return []
  const counted = padded(words)
  const counts = await rows<{ count: number }>(
    counted
      .map(
        () =>
          `select count(*) as count from (select 1 from ${kind}_words where word like ? limit ${MOST_COMPARED}) found`
      )
      .join(' union all '),
    counted.map(beginning)
  )
  const [rarest, ...others] = words
    .map((word, at) => ({ word, count: counts[at]?.count ?? 0 }))
    .sort((one, other) => one.count - other.count)
  if (!rarest || rarest.count === 0) return []
  const isRare = rarest.count < MOST_COMPARED
  const candidates = isRare
    ? `select distinct ${kind}_id as id from ${kind}_words where word like ?`
    : `select ${kind}_id as id from ${kind}_words where word = ? order by ${kind}_id desc limit ${MOST_COMPARED}`
  const has = `exists (select 1 from ${kind}_words w where w.${kind}_id = ${as}.id and w.word like ?)`
  const { sql, values } = and(...others.map(({ word }) => ({ sql: has, values: [beginning(word)] })), visible)
  const found = await rows<{ id: number }>(
    `select ${as}.id from (${candidates}) c straight_join ${kind}s ${as} on ${as}.id = c.id
     straight_join projects p on p.id = ${as}.${project} where ${sql} order by ${as}.id desc limit ${Math.trunc(limit)}`,
    [isRare ? beginning(rarest.word) : rarest.word, ...values]
  )
  return found.map(({ id }) => id)
}
