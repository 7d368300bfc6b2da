// Story: the clock of the database had jumped by minutes, so that a lock of a task that ran looked as if it had ended, and a command that had
// just started began the same task once more.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { takeLock } from '../../../../src/areas/upkeep/maintenance/maintenance-lock.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testDatabase } from '../../../helpers/database.js'

await testDatabase()

/** Locks of other machines. */
await execute(
  `insert into maintenance_locks (task, holder, lease_until)
   values ('old_ticks', 'living#1#1', now(3) - interval 1 minute), ('old_jobs', 'dead#1#1', now(3) - interval 1 minute)`
)
const renewed = sleep(2000).then(() =>
  execute("update maintenance_locks set lease_until = now(3) + interval 30 second where task = 'old_ticks'")
)
const [living, dead] = await Promise.allSettled([takeLock('old_ticks'), takeLock('old_jobs'), renewed])

t.test('a process that has just started does not take the lock of a holder that renews it', async t => {
  t.match(living, { status: 'rejected', reason: { name: 'AlreadyRunning' } })
  t.match(await row("select holder from maintenance_locks where task = 'old_ticks'"), { holder: 'living#1#1' })
})

t.test('it takes the lock of a holder that does not', async t => {
  t.equal(dead.status, 'fulfilled')
  if (dead.status === 'fulfilled') await dead.value.release()
})
