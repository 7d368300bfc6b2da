// Records when tokens and keys were last used.
import { log } from '../../log.js'
import { execute } from './sql.js'

/** Milliseconds after which the last use is stored again. Otherwise every use would cause a write. */
const AGE = 600_000

export interface Used {
  readonly id: number
  readonly lastUsedAt: Date | null
}

/** Records that a token or key was used. Returns immediately, and does not throw. */
export function noteLastUse(
  table: 'access_tokens' | 'oauth_tokens' | 'ssh_keys' | 'deploy_keys' | 'scim_tokens',
  { id, lastUsedAt }: Used
): void {
  const now = new Date()
  const old = new Date(now.getTime() - AGE)
  if (lastUsedAt && lastUsedAt > old) return
  // Of many concurrent calls that read the old time, only one writes.
  execute(`update ${table} set last_used_at = ? where id = ? and (last_used_at is null or last_used_at <= ?)`, [
    now,
    id,
    old
  ]).catch(error => log().warn({ table, error: String(error) }, 'cannot write the last use of a token or key'))
}
