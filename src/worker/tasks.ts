// Upkeep that the schedule drives. Each task may run twice, and beside itself.
import { removeOldDeliveries } from '../areas/admin/deliveries.js'
import { removeOldChanges } from '../areas/repository/ref-changes.js'
import { removeExpiredSessions } from '../areas/users/credentials.js'
import { NotFound } from '../errors.js'
import { forgetTicks } from '../queue/ticks.js'

export interface Task {
  /** When, as cron writes it. */
  readonly schedule: string
  readonly about: string
  /** Gives how many things it dealt with. */
  run(): Promise<number>
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

export const tasks: { readonly [name: string]: Task } = {
  expired_sessions: {
    schedule: '17 * * * *',
    about: 'removes sessions that have expired',
    run: removeExpiredSessions
  },
  old_ref_changes: {
    schedule: '23 3 * * *',
    about: 'removes ref changes that were settled 90 days ago',
    run: () => removeOldChanges(daysAgo(90))
  },
  old_deliveries: {
    schedule: '37 3 * * *',
    about: 'removes hook deliveries that ended 30 days ago, with their tries',
    run: () => removeOldDeliveries(daysAgo(30))
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
