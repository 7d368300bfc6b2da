import { lowerMarks, row, rows } from '../../../../db/connect/sql.js'

/** Returns the username of the user who has an address; undefined when nobody has it. */
export async function holderOfAddress(email: string): Promise<string | undefined> {
  const found = await row<{ username: string }>(
    `select u.username from users u where u.email_key = lower(?)
       or u.id = (select e.user_id from emails e where e.email_key = lower(?) and e.confirmed_at is not null)`,
    [email, email]
  )
  return found?.username
}

/** Returns the paths of these groups that exist, in lower case. */
export async function existingGroups(paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set()
  const sql = `select path from namespaces where kind = 'group' and path_key in (${lowerMarks(paths)})`
  return new Set((await rows<{ path: string }>(sql, paths)).map(({ path }) => path.toLowerCase()))
}
