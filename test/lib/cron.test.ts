import { createTask } from 'node-cron'
import { tasks } from '../../src/areas/upkeep/maintenance/maintenance-tasks.js'
import { nextDue, previousDue } from '../../src/lib/cron.js'
import t from '../helpers/tap.js'

const at = (text: string) => new Date(`${text}Z`)

t.test('finds the next time and the previous one', async t => {
  const cases: [schedule: string, now: string, previous: string, next: string][] = [
    ['17 * * * *', '2026-03-01T00:16:59', '2026-02-28T23:17:00', '2026-03-01T00:17:00'],
    ['17 * * * *', '2026-03-01T00:17:00', '2026-03-01T00:17:00', '2026-03-01T01:17:00'],
    ['23 3 * * *', '2026-01-01T00:00:00', '2025-12-31T03:23:00', '2026-01-01T03:23:00'],
    ['29 */4 * * *', '2026-01-01T05:00:00', '2026-01-01T04:29:00', '2026-01-01T08:29:00'],
    ['0,30 9-10 * * *', '2026-01-01T10:15:00', '2026-01-01T10:00:00', '2026-01-01T10:30:00'],
    ['0 0 29 2 *', '2028-02-28T00:00:00', '2024-02-29T00:00:00', '2028-02-29T00:00:00'],
    ['59 23 29 2 *', '2099-01-01T00:00:00', '2096-02-29T23:59:00', '2104-02-29T23:59:00'],
    ['0 0 29 2 1', '2080-01-01T00:00:00', '2072-02-29T00:00:00', '2112-02-29T00:00:00'],
    ['0 0 1 1 *', '2026-01-01T00:00:00', '2026-01-01T00:00:00', '2027-01-01T00:00:00'],
    ['0 0 * * 0', '2026-11-21T12:00:00', '2026-11-15T00:00:00', '2026-11-22T00:00:00']
  ]
  for (const [schedule, now, previous, next] of cases) {
    t.same(nextDue(schedule, at(now)), at(next), `${schedule} after ${now}`)
    t.same(previousDue(schedule, at(now)), at(previous), `${schedule} by ${now}`)
  }
})

t.test('throws when the text is not a schedule', async t => {
  for (const schedule of [
    '',
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '*/0 * * * *',
    '5-1 * * * *',
    'x * * * *',
    '-1 * * * *'
  ]) {
    t.throws(() => nextDue(schedule, new Date()), RangeError, schedule)
  }
  t.throws(() => nextDue('0 0 30 2 *', new Date()), RangeError, 'a day that never comes')
})

t.test('every task has the times that node-cron computes', async t => {
  for (const { name, schedule } of tasks) {
    const task = createTask(schedule, () => undefined, { timezone: 'UTC', name })
    await task.start()
    const now = new Date()
    const expected = task.getNextRun()
    await task.destroy()
    t.same(nextDue(schedule, now), expected, name)
  }
})
