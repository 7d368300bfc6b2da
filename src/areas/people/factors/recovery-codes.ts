// One-time codes for people who have lost their second factor. The database has only a keyed hash of each: a copy of it does not
// help to guess them.
import { randomInt } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid } from '../../../errors.js'
import { signature } from '../../../secrets.js'
import { holdUserAlone } from '../users/users.queries.js'
import { type Owner, recordChange } from './changes.js'

const CODES = 10
/** Without letters and digits that look alike. */
const SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789'
/** 59 bits. */
const LENGTH = 12

/** Returns a code as it was made, from what a person entered; undefined for anything else. */
export function recoveryCodeIn(text: string): string | undefined {
  const bare = text.toLowerCase().replace(/[\s-]/g, '')
  return bare.length === LENGTH && [...bare].every(sign => SIGNS.includes(sign)) ? bare : undefined
}

const hashOf = (userId: number, code: string): Buffer => signature('a recovery code', `${userId} ${code}`)

/** Replaces the recovery codes of a user. Returns the new ones, which nothing else shows. Call it inside `transact`. */
export async function replaceRecoveryCodes(userId: number): Promise<readonly string[]> {
  const codes = Array.from({ length: CODES }, newCode)
  await execute('delete from recovery_codes where user_id = ?', [userId])
  await execute(
    `insert into recovery_codes (user_id, code_hash) values ${codes.map(() => '(?, ?)').join(', ')}`,
    codes.flatMap(code => [userId, hashOf(userId, code)])
  )
  return codes.map(code => code.replace(/....(?=.)/g, '$&-'))
}

const newCode = () => Array.from({ length: LENGTH }, () => SIGNS[randomInt(SIGNS.length)]).join('')

/** Uses a code up. Returns false when the user has no such code, also when it was used a moment ago. */
export function useRecoveryCode(owner: Owner, code: string, origin: Origin): Promise<boolean> {
  return transact(async () => {
    const { affectedRows } = await execute('delete from recovery_codes where user_id = ? and code_hash = ?', [
      owner.id,
      hashOf(owner.id, code)
    ])
    if (affectedRows === 0) return false
    const found = await row<{ total: number }>('select count(*) as total from recovery_codes where user_id = ?', [
      owner.id
    ])
    const left = Number(found?.total ?? 0)
    await recordChange(
      {
        owner,
        action: 'recovery_code.use',
        changes: { left: { before: left + 1, after: left } },
        mail: { what: 'recovery_code_used', left }
      },
      origin
    )
    return true
  })
}

/** Gives a user new recovery codes, and makes the old ones worthless. Throws Invalid for a user without a second factor. */
export function renewRecoveryCodes(owner: Owner, origin: Origin): Promise<readonly string[]> {
  return transact(async () => {
    await holdUserAlone(owner.id)
    const on = await row('select 1 from users where id = ? and two_factor_at is not null', [owner.id])
    if (!on) throw new Invalid('base', 'there is no second factor yet')
    const codes = await replaceRecoveryCodes(owner.id)
    await recordChange({ owner, action: 'recovery_code.renew', mail: { what: 'recovery_codes_renewed' } }, origin)
    return codes
  })
}
