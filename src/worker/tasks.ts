// Upkeep that the schedule drives. Each task may run twice, and beside itself.

import { execute } from '../db/sql.js'
import { NotFound } from '../errors.js'
import { forgetTicks } from '../queue/ticks.js'

export interface Task {
  /** When, as cron writes it. */
  readonly schedule: string
  readonly about: string
  /** Gives how many things it dealt with. */
  run(): Promise<number>
}

const BATCH = 1000
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

/** Deletes in batches, so that no statement locks much for long. */
async function deleteInBatches(sql: string, values: Date[]): Promise<number> {
  let all = 0
  for (;;) {
    const { affectedRows } = await execute(`${sql} limit ${BATCH}`, values)
    all += affectedRows
    if (affectedRows < BATCH) return all
  }
}

export const tasks: { readonly [name: string]: Task } = {
  expired_sessions: {
    schedule: '17 * * * *',
    about: 'removes sessions that have expired',
    run: () => deleteInBatches('delete from sessions where expires_at < ?', [new Date()])
  },
  old_ref_changes: {
    schedule: '23 3 * * *',
    about: 'removes ref changes that were settled 90 days ago',
    run: () => deleteInBatches("delete from ref_changes where state = 'done' and settled_at < ?", [daysAgo(90)])
  },
  old_deliveries: {
    schedule: '37 3 * * *',
    about: 'removes hook deliveries that ended 30 days ago, with their tries',
    run: async () => {
      const gone = await deleteInBatches("delete from hook_deliveries where state <> 'pending' and created_at < ?", [
        daysAgo(30)
      ])
      await execute('delete from hook_attempts where delivery_id not in (select id from hook_deliveries)')
      return gone
    }
  },
  old_ticks: {
    schedule: '47 3 * * *',
    about: 'removes ticks of the schedule older than two days',
    run: forgetTicks
  }
}

/** Runs a task by name; gives how many things it dealt with. Throws NotFound. */
export async function runTask(name: string): Promise<number> {
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined
  if (!task) throw new NotFound('Task')
  return task.run()
}
