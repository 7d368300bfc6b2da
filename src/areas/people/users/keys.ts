import type { Origin } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { noteLastUse, type Used } from '../../../db/connect/last-use.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, Taken } from '../../../errors.js'
import { lineProblem } from '../../../lib/text-line.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { keySnapshot } from '../../ground/activity/snapshots.js'
import { audit } from '../../ground/audit/audit.js'
import { countKeys, findKey, isDeployKey, type KeyRow } from './keys.queries.js'
import type { KeyBody } from './keys.schema.js'
import { readSshPublicKey } from './ssh-public-key.js'
import { holdUserAlone } from './users.queries.js'

/** Not specified: the maximum number of keys of a user. There is a limit because their list has no pages. */
const MOST = 1000

interface Owner {
  readonly id: number
  readonly username: string
}

/** A key that can be added. */
export interface ReadKey {
  readonly title: string
  readonly text: string
  readonly fingerprint: string
}

/** Reads a key. Throws Invalid when it is not a public key. */
export async function readKey(body: KeyBody): Promise<ReadKey> {
  const title = body.title.trim()
  const problem = lineProblem(title)
  if (problem) throw new Invalid('title', problem)
  const { text, fingerprint } = await readSshPublicKey(body.key)
  return { title, text, fingerprint }
}

/** Adds an SSH key to a user. Throws Invalid when it is not a public key or exceeds the limit; Taken when a user already has it. */
export const addKey = async (owner: Owner, body: KeyBody, origin: Origin): Promise<KeyRow> =>
  insertReadKey(owner, await readKey(body), origin)

/** How a key came. Without `mail`, the owner gets no mail about it; `provider` gave it, and may take it back. */
interface Given {
  readonly mail?: boolean
  readonly provider?: string | null
}

/** Does the same with a key that was read. */
export function insertReadKey(
  owner: Owner,
  { title, text, fingerprint }: ReadKey,
  origin: Origin,
  { mail = true, provider = null }: Given = {}
): Promise<KeyRow> {
  return transact(async () => {
    await holdUserAlone(owner.id)
    // A key opens either one account or some projects: its holder could not know which, and a stranger could take it over.
    if (await isDeployKey(fingerprint)) throw new Taken('fingerprint')
    if ((await countKeys(owner.id)) >= MOST) throw new Invalid('key', `is one too many (maximum is ${MOST})`)
    const row = { user_id: owner.id, title, public_key: text, fingerprint, created_at: new Date(), last_used_at: null }
    const key = await insertKey(row, provider)
    await publish({
      kind: 'key.added',
      key: keySnapshot(key, owner),
      ...(mail && { owner: { id: owner.id, title, fingerprint, by: doerOf(origin, owner.id) } })
    })
    await audit(origin, {
      action: 'key.create',
      target: targetOf(key),
      changes: { user: { after: owner.username }, fingerprint: { after: `SHA256:${fingerprint}` } }
    })
    return key
  })
}

/** Removes an SSH key of a user and returns it; undefined when the user has no key with this id. */
export async function deleteKey(owner: Owner, id: number, origin: Origin): Promise<KeyRow | undefined> {
  return transact(async () => {
    const key = await findKey(owner.id, id)
    if (!key) return undefined
    const { affectedRows } = await execute('delete from ssh_keys where id = ?', [id])
    // A concurrent request was faster and published the event.
    if (affectedRows === 0) return undefined
    await publish({ kind: 'key.removed', key: keySnapshot(key, owner) })
    await audit(origin, {
      action: 'key.delete',
      target: targetOf(key),
      changes: { user: { before: owner.username }, fingerprint: { before: `SHA256:${key.fingerprint}` } }
    })
    return key
  })
}

/** Notes that the SSH key of a user is used now. */
export const noteKeyUse = (key: Used): void => noteLastUse('ssh_keys', key)

async function insertKey(key: Omit<KeyRow, 'id'>, provider: string | null): Promise<KeyRow> {
  try {
    const { insertId } = await execute(
      'insert into ssh_keys (user_id, title, public_key, fingerprint, created_at, provider) values (?, ?, ?, ?, ?, ?)',
      [key.user_id, key.title, key.public_key, key.fingerprint, key.created_at, provider]
    )
    return { id: insertId, ...key }
  } catch (error) {
    if (duplicateKey(error)) throw new Taken('fingerprint')
    throw error
  }
}

const targetOf = ({ id, title }: KeyRow) => ({ type: 'key', id, name: title })
