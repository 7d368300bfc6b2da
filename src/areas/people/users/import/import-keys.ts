// The SSH keys of imported users. The import checks them before it writes, as it does with claims.
import { marks, rows } from '../../../../db/connect/sql.js'
import { Invalid } from '../../../../errors.js'
import { type ReadKey, readKey } from '../keys.js'

/** Not specified: the maximum number of keys in a row. Each takes five statements in the transaction of a hundred users. */
const MOST = 20

/** The holder of the keys for one project or more, instead of a user. */
const DEPLOY_KEY = 0

/**
 * Reads the keys of a cell: one on each line, or with `;` between them. The comment of a key becomes its title. Throws Invalid for
 * a text that is no public key; `ssh_keys` names the key by its position.
 */
export async function readKeys(cell: string): Promise<ReadKey[]> {
  const texts = cell.split(/[\n;]/).flatMap(text => text.trim() || [])
  if (texts.length > MOST) throw new Invalid('ssh_keys', `has more than ${MOST} keys`)
  const keys = new Map<string, ReadKey>()
  for (const [at, text] of texts.entries()) {
    const key = await readKey({ title: titleOf(text), key: text }).catch(error => {
      if (!(error instanceof Invalid)) throw error
      const { fingerprint, ...others } = error.errors
      const why = fingerprint ? 'cannot be read' : Object.values(others).flat().join(', ')
      throw new Invalid('ssh_keys', `key ${at + 1} ${why}`)
    })
    keys.set(key.fingerprint, key)
  }
  return [...keys.values()]
}

const titleOf = (text: string): string => {
  const comment = text.split(/\s+/).slice(2).join(' ')
  return comment === '' ? 'imported key' : comment.slice(0, 255)
}

/** Returns who has each of these keys: the id of a user, or `DEPLOY_KEY`. */
export async function holdersOf(fingerprints: readonly string[]): Promise<Map<string, number>> {
  if (fingerprints.length === 0) return new Map()
  const among = marks(fingerprints)
  const found = await rows<{ fingerprint: string; user_id: number }>(
    `select fingerprint, user_id from ssh_keys where fingerprint in (${among})
     union all select fingerprint, ${DEPLOY_KEY} from deploy_keys where fingerprint in (${among})`,
    [...fingerprints, ...fingerprints]
  )
  return new Map(found.map(({ fingerprint, user_id: userId }) => [fingerprint, Number(userId)]))
}

/** The lines of the file that have named each key. */
export type SeenKeys = Map<string, number>

/**
 * Returns the keys that a user does not have yet; `id` is undefined for a new user. Throws Invalid for a key of somebody else, in the
 * database or in another line of the file.
 */
export function newKeys(
  keys: readonly ReadKey[],
  { id, line, holders, seen }: { id?: number; line: number; holders: Map<string, number>; seen: SeenKeys }
): ReadKey[] {
  for (const { fingerprint } of keys) {
    const holder = holders.get(fingerprint)
    const text = `SHA256:${fingerprint}`
    if (holder === DEPLOY_KEY) throw new Invalid('ssh_keys', `${text} is a deploy key`)
    if (holder !== undefined && holder !== id) throw new Invalid('ssh_keys', `${text} belongs to another user`)
    const other = seen.get(fingerprint)
    if (other !== undefined) throw new Invalid('ssh_keys', `${text} stands in line ${other}, too`)
  }
  for (const { fingerprint } of keys) seen.set(fingerprint, line)
  return keys.filter(({ fingerprint }) => !holders.has(fingerprint))
}
