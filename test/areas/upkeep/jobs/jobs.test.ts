// What a sysadmin can do with jobs and queues, and what the audit log records.
import { deliverEvent } from '../../../../src/areas/ground/hooks/deliveries.js'
import { createHook } from '../../../../src/areas/ground/hooks/hooks.js'
import {
  discardableJobs,
  discardJobs,
  MOST_JOBS,
  pauseQueue,
  resumeQueue,
  retryJobs
} from '../../../../src/areas/upkeep/jobs/jobs.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { pausedQueues } from '../../../../src/queue/administer.js'
import { claimJobs } from '../../../../src/queue/claim.js'
import { enqueue } from '../../../../src/queue/enqueue.js'
import { registerProcess, unregisterProcess } from '../../../../src/queue/processes.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import { eventJob } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'

await testDatabase()

const origin = { ...someOrigin, name: 'ada', via: 'command' as const }
const job = (name: string) => enqueue('event.published', eventJob(name))
const dead = (id: number) => execute("update jobs set state = 'dead', attempts = 12 where id = ?", [id])
const states = async () => {
  const found = await rows<{ id: number; state: string; attempts: number }>('select id, state, attempts from jobs')
  return Object.fromEntries(found.map(({ id, state, attempts }) => [id, `${state} ${attempts}`]))
}
const events = () =>
  rows<{ action: string; actor_name: string; target_type: string; target_id: string; target_name: string }>(
    `select action, actor_name, target_type, target_id, target_name, changes from audit_events
     where action <> 'hook.create' order by id`
  )

t.beforeEach(async () => {
  for (const table of ['jobs', 'audit_events', 'paused_queues', 'hook_deliveries'])
    await execute(`delete from ${table}`)
})

t.test('a retry by ids retries the possible jobs, and each gets a row in the audit log', async t => {
  const [one, two] = [await job('a'), await job('b')]
  await dead(one)
  t.equal(await retryJobs([one, two, 999_999], origin), 1, 'the second job is already ready')
  t.same(await states(), { [one]: 'ready 0', [two]: 'ready 0' })
  t.match(await events(), [
    {
      action: 'job.retry',
      actor_name: 'ada',
      target_type: 'job',
      target_id: String(one),
      target_name: 'event.published',
      changes: '{"state":{"before":"dead"},"attempts":{"before":12}}'
    }
  ])
  await t.rejects(retryJobs([two], origin), { name: 'NotFound' })
  t.equal((await events()).length, 1, 'a refusal leaves no row')
})

t.test('a retry of all dead jobs is one row in the audit log', async t => {
  const ids = [await job('a'), await job('b'), await job('c')]
  await dead(ids[0] ?? 0)
  await dead(ids[1] ?? 0)
  t.match(await discardableJobs('dead'), { total: 2, jobs: [{ id: ids[1] }, { id: ids[0] }] })
  t.equal(await retryJobs('dead', origin), 2)
  t.equal(await retryJobs('dead', origin), 0, 'nothing to do is not a failure')
  t.match(await events(), [{ action: 'job.retry', target_id: 'dead', changes: '{"count":{"after":2}}' }])
})

t.test('a discard removes jobs, except running ones', async t => {
  const id = await job('a')
  const process = await registerProcess({ queues: ['default'], concurrency: 1 })
  await claimJobs('default', process, 1)
  await t.rejects(discardJobs([id], origin), { name: 'NotFound' })
  await t.rejects(discardableJobs([id]), { name: 'NotFound' })
  const other = await job('b')
  t.match(await discardableJobs([id, other]), { total: 1, jobs: [{ id: other }] })
  t.equal(await discardJobs([id, other], origin), 1)
  t.same(Object.keys(await states()), [String(id)])
  await unregisterProcess(process)
  t.match(await events(), [{ action: 'job.discard', target_id: String(other) }])
})

t.test('a delivery whose job is discarded does not wait forever', async t => {
  await createHook({ url: 'http://hooks.example.org/' }, origin)
  await deliverEvent('key', { system: { event: 'project_create', payload: () => ({}) } })
  const [found] = await rows<{ id: number }>("select id from jobs where name = 'hook.deliver'")
  await discardJobs([found?.id ?? 0], origin)
  t.match(await rows('select state from hook_deliveries'), [{ state: 'canceled' }])
})

t.test('a call with too many jobs is refused', async t => {
  const many = Array.from({ length: MOST_JOBS + 1 }, (_, at) => at + 1)
  await t.rejects(retryJobs(many, origin), { name: 'BadParameters', error: /at most 1000/ })
})

t.test('queues can be paused and resumed; the audit log has only real changes', async t => {
  await pauseQueue('hooks', origin)
  await pauseQueue('hooks', origin)
  t.same(await pausedQueues(), ['hooks'])
  await resumeQueue('hooks', origin)
  await resumeQueue('hooks', origin)
  t.same(await pausedQueues(), [])
  await t.rejects(pauseQueue('nothing', origin), { name: 'Invalid' })
  t.match(await events(), [
    { action: 'queue.pause', target_type: 'queue', target_id: 'hooks' },
    { action: 'queue.resume', target_type: 'queue', target_id: 'hooks' }
  ])
})
