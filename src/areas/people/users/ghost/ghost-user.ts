// The ghost user has the issues, merge requests, comments and project snippets of deleted users whose contributions stay. Nobody can
// sign in as the ghost, and lists and counts of users leave it out.
import type { Origin } from '../../../../access/actor.js'
import { row } from '../../../../db/connect/sql.js'
import { Conflict } from '../../../../errors.js'
import { NO_PASSWORD } from '../../../../lib/password-hash.js'
import { newToken } from '../../../../secrets.js'
import { insertUsers } from '../users.js'
import { GHOST } from './ghost.js'

/** A user may have taken the name before: then the ghost gets a number. */
const NAMES = ['ghost', ...Array.from({ length: 99 }, (_, at) => `ghost${at + 1}`)]

/** Returns the id of the ghost user, who is created once. */
export async function ghostUser(origin: Origin): Promise<number> {
  for (const username of NAMES) {
    const known = await findGhost()
    if (known !== undefined) return known
    try {
      const body = { username, name: 'Ghost User', email: `${username}@gitstead.invalid`, password: '' }
      const [id] = await insertUsers(
        [{ body, passwordHash: NO_PASSWORD, privateToken: newToken(), reason: GHOST }],
        origin
      )
      if (id !== undefined) return id
    } catch (error) {
      // Somebody has the name; or another command has just created the ghost, which the next look finds.
      if (!(error instanceof Conflict)) throw error
    }
  }
  throw new Conflict('the names ghost to ghost99 are taken')
}

const findGhost = async (): Promise<number | undefined> =>
  (await row<{ id: number }>('select id from users where block_reason = ?', [GHOST]))?.id
