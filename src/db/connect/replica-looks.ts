// Looks at the replica each second (replica.ts): how far it is behind.
import { failReplica, hasReplica, noteLateness, replica, VALID_MS } from './replica.js'
import { execute, row } from './sql.js'

/** Milliseconds between two looks. */
const LOOK_MS = 1000

/** Measures by how many milliseconds the replica is behind, at most. */
export async function measureReplica(): Promise<number> {
  // Of several servers, one moves the mark each second.
  await execute(
    `insert into database_marks (id, marked_at) values (1, now(3))
     on duplicate key update marked_at = if(marked_at < now(3) - interval 900000 microsecond, now(3), marked_at)`
  )
  const now = await row<{ at: Date }>('select now(3) as at')
  const began = performance.now()
  const seen = await askReplica('select marked_at as at from database_marks where id = 1')
  if (!now || !seen) throw new Error('the replica does not have the row of the mark yet')
  return Math.max(0, now.at.getTime() - seen.at.getTime()) + (performance.now() - began)
}

function askReplica(sql: string): Promise<{ at: Date } | undefined> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the replica did not answer in time')), VALID_MS)
    late.unref()
    replica.open().query(sql, (error, found) => {
      clearTimeout(late)
      if (error) reject(error)
      else resolve((found as unknown as { at: Date }[])[0])
    })
  })
}

/** Looks at the replica each second. Returns a function that stops this. */
export function watchReplica(): () => Promise<void> {
  if (!hasReplica()) return async () => undefined
  let looking = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const look = async () => {
    const began = performance.now()
    try {
      noteLateness(await measureReplica(), began)
    } catch (error) {
      failReplica(error)
    }
    if (!stopped) timer = setTimeout(again, LOOK_MS).unref()
  }
  const again = () => {
    looking = look()
  }
  again()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await looking
  }
}
