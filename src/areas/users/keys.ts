import type { Origin } from '../../access/actor.js'
import { duplicateKey } from '../../db/failure.js'
import { execute } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { Invalid, Taken } from '../../errors.js'
import { lineProblem } from '../../lib/line.js'
import { doerOf } from '../activity/doers.js'
import { tell } from '../activity/happenings.js'
import { keySnapshot } from '../activity/snapshots.js'
import { audit } from '../audit/audit.js'
import { countKeys, findKey, isDeployKey, type KeyRow } from './keys.queries.js'
import type { KeyBody } from './keys.schema.js'
import { readSshPublicKey } from './ssh-public-key.js'
import { holdUser } from './users.queries.js'

/** Not specified: how many keys a user may have. There is a limit because their list has no pages. */
const MOST = 1000

interface Owner {
  readonly id: number
  readonly username: string
}

/** Adds an SSH key to a user. Throws Invalid when it is not a public key, or one too many; Taken when a user has it. */
export async function addKey(owner: Owner, body: KeyBody, origin: Origin): Promise<KeyRow> {
  const title = body.title.trim()
  const problem = lineProblem(title)
  if (problem) throw new Invalid('title', problem)
  const { text, fingerprint } = await readSshPublicKey(body.key)
  return transact(async () => {
    await holdUser(owner.id)
    // A key opens one account or some projects: the holder could not know which, and a stranger could take it over.
    if (await isDeployKey(fingerprint)) throw new Taken('fingerprint')
    if ((await countKeys(owner.id)) >= MOST) throw new Invalid('key', `is one too many (maximum is ${MOST})`)
    const key = await insertKey({
      user_id: owner.id,
      title,
      public_key: text,
      fingerprint,
      created_at: new Date(),
      last_used_at: null
    })
    await tell({
      kind: 'key.added',
      key: keySnapshot(key, owner),
      owner: { id: owner.id, title, fingerprint, by: doerOf(origin, owner.id) }
    })
    await audit(origin, {
      action: 'key.create',
      target: targetOf(key),
      changes: { user: { after: owner.username }, fingerprint: { after: `SHA256:${fingerprint}` } }
    })
    return key
  })
}

/** Removes an SSH key of a user and gives it; undefined when the user has no key with this id. */
export async function deleteKey(owner: Owner, id: number, origin: Origin): Promise<KeyRow | undefined> {
  return transact(async () => {
    const key = await findKey(owner.id, id)
    if (!key) return undefined
    const { affectedRows } = await execute('delete from ssh_keys where id = ?', [id])
    // Another request was faster, and has told the happening.
    if (affectedRows === 0) return undefined
    await tell({ kind: 'key.removed', key: keySnapshot(key, owner) })
    await audit(origin, {
      action: 'key.delete',
      target: targetOf(key),
      changes: { user: { before: owner.username }, fingerprint: { before: `SHA256:${key.fingerprint}` } }
    })
    return key
  })
}

async function insertKey(key: Omit<KeyRow, 'id'>): Promise<KeyRow> {
  try {
    const { insertId } = await execute(
      'insert into ssh_keys (user_id, title, public_key, fingerprint, created_at) values (?, ?, ?, ?, ?)',
      [key.user_id, key.title, key.public_key, key.fingerprint, key.created_at]
    )
    return { id: insertId, ...key }
  } catch (error) {
    if (duplicateKey(error)) throw new Taken('fingerprint')
    throw error
  }
}

const targetOf = ({ id, title }: KeyRow) => ({ type: 'key', id, name: title })
