import { execute } from '../../../../src/db/connect/sql.js'
import { newToken, tokenHash } from '../../../../src/secrets.js'

/** Makes a mirror that never runs by itself. A project has one pull mirror, which replaces an earlier one. */
export async function makeMirror(
  { id }: { readonly id: number },
  direction: 'pull' | 'push'
): Promise<{ id: number; token: string }> {
  const token = newToken()
  if (direction === 'pull') await execute("delete from mirrors where project_id = ? and direction = 'pull'", [id])
  const { insertId } = await execute(
    `insert into mirrors (project_id, direction, url, hook_token_hash, created_at, updated_at)
     values (?, ?, 'https://git.example.org/a.git', ?, now(3), now(3))`,
    [id, direction, direction === 'pull' ? tokenHash(token) : null]
  )
  return { id: insertId, token }
}
