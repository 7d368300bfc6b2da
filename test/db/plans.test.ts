// Frequent statements find their rows with the index that was made for them, and sort nothing. The tests read the plans
// of the database itself, with so many rows that it prefers no other plan.
import type { Actor } from '../../src/access/actor.js'
import { countUnfinishedBuilds } from '../../src/areas/ci/builds/build-counts.queries.js'
import { listBuilds } from '../../src/areas/ci/builds/builds.queries.js'
import { expiredArtifacts } from '../../src/areas/ci/builds/files/expired-artifacts.js'
import { runningBuilds } from '../../src/areas/ci/builds/running.queries.js'
import { changePipeline } from '../../src/areas/ci/pipelines/build-changes.js'
import { listPipelines } from '../../src/areas/ci/pipelines/pipelines.queries.js'
import { builtInRunner } from '../../src/areas/ci/runners/built-in-runner.js'
import {
  findAbandonedBuilds,
  findOverdueBuilds,
  findWaitingBuilds
} from '../../src/areas/ci/runners/waiting-builds.queries.js'
import { listAuditEvents } from '../../src/areas/ground/audit/audit.queries.js'
import { deliverEvent } from '../../src/areas/ground/hooks/deliveries.js'
import { listDeliveries } from '../../src/areas/ground/hooks/deliveries.queries.js'
import { findSudoUser } from '../../src/areas/people/credentials/credentials.js'
import { listUsers, requireUser } from '../../src/areas/people/users/users.queries.js'
import { listMergeRequests } from '../../src/areas/planning/merge-requests/merge-requests.queries.js'
import { listProjects } from '../../src/areas/projects/projects/project-list.queries.js'
import { findProject } from '../../src/areas/projects/projects/projects.queries.js'
import { execute } from '../../src/db/connect/sql.js'
import { claimJobs } from '../../src/queue/claim.js'
import { enqueueAll } from '../../src/queue/enqueue.js'
import { queueMetrics } from '../../src/queue/metrics.js'
import { queuesOverview } from '../../src/queue/overview.js'
import { registerProcess } from '../../src/queue/processes.js'
import { testDatabase } from '../helpers/database.js'
import { numbersTo } from '../helpers/numbers.js'
import { type Plan, plansOf, stepOf } from '../helpers/plans.js'
import t from '../helpers/tap.js'

await testDatabase()
await fill()

const actor = (id: number, admin = false): Actor => ({
  user: { id, username: `u${id}`, name: '', email: '', admin, external: false },
  by: 'private',
  sudoer: null,
  scopes: ['api']
})
/** The other statements with an order look for what has changed since the totals were counted. */
const OF_TOTALS = /^select id, action from audit_events|^select id from \w+ order by id desc limit 1$/
const listings = (plans: readonly Plan[]) =>
  plans.filter(({ statement }) => / order by /.test(statement) && !OF_TOTALS.test(statement))
const listing = (plans: readonly Plan[]) => listings(plans)[0]
const sorts = (plan: Plan | undefined) => plan?.steps.filter(({ Extra }) => /filesort/.test(Extra ?? ''))

t.test('a claim reads along its index', async t => {
  const process = await registerProcess({ queues: ['default'], concurrency: 1 })
  const plan = (await plansOf(() => claimJobs('default', process, 50))).find(({ statement }) =>
    /order by priority/.test(statement)
  )
  t.equal(stepOf(plan, 'jobs')?.key, 'jobs_lane')
  t.same(sorts(plan), [])
})

t.test('a claim finds the lanes with ready jobs with one index step each', async t => {
  const process = await registerProcess({ queues: ['hooks'], concurrency: 1 })
  for (const lane of [1, 2]) {
    const payloads = Array.from({ length: 3000 }, (_, deliveryId) => ({ deliveryId }))
    await enqueueAll('hook.deliver', payloads, { lane })
  }
  await execute('analyze table jobs')
  const plans = await plansOf(() => claimJobs('hooks', process, 4))
  const lanes = plans.filter(({ statement }) => /lane >= /.test(statement))
  for (const plan of lanes) t.match(stepOf(plan, 'jobs'), { key: 'jobs_lane', Extra: /Using index/ })
  const claims = plans.filter(({ statement }) => /order by priority/.test(statement))
  t.same([lanes.length, claims.length > 0], [4, true])
  for (const claim of [...lanes, ...claims]) {
    t.equal(stepOf(claim, 'jobs')?.key, 'jobs_lane')
    t.same(sorts(claim), [])
  }
  await execute("delete from jobs where queue = 'hooks'")
})

t.test('the backlog is counted in the index', async t => {
  const [plan] = await plansOf(() => queueMetrics())
  t.match(stepOf(plan, 'jobs'), { key: 'jobs_lane', Extra: /Using index/ })
})

t.test('the dashboard', async t => {
  const plans = await plansOf(() => Promise.all([queuesOverview(), runningBuilds()]))
  const about = (text: RegExp) => plans.find(({ statement }) => text.test(statement))

  t.test('counts jobs in the index', async t => {
    t.match(stepOf(about(/group by queue, state/), 'jobs'), { key: 'jobs_lane', Extra: /Using index/ })
  })

  t.test('reads along the failures, and finds their jobs by id', async t => {
    const plan = about(/job_failures/)
    t.match(stepOf(plan, 'job_failures'), { key: 'job_failures_at', Extra: /Using index/ })
    t.match(stepOf(plan, 'j'), { key: 'PRIMARY' })
  })

  t.test('reads only the minutes that are shown', async t => {
    t.equal(stepOf(about(/queue_minutes/), 'queue_minutes')?.key, 'PRIMARY')
  })

  t.test('reads only running builds', async t => {
    const step = stepOf(about(/from builds/), 'b')
    t.equal(step?.key, 'builds_queue')
    t.ok((step?.rows ?? Number.POSITIVE_INFINITY) < 100)
  })
})

t.test('names are found by their keys', async t => {
  const plans = await plansOf(async () => {
    await findProject('U8/P7', actor(7))
    await findSudoUser('U7')
    await requireUser('u7@EXAMPLE.org')
  })
  const steps = plans.flatMap(plan => plan.steps).filter(({ table }) => ['s', 'p', 'u'].includes(table ?? ''))
  t.same(
    steps.map(({ key }) => key),
    ['namespaces_path', 'projects_path', 'users_username', 'users_username,users_email']
  )
})

t.test('projects', async t => {
  const cases = [
    { scope: 'all', order_by: undefined, key: 'projects_created' },
    { scope: 'visible', order_by: undefined, key: 'projects_created' },
    { scope: 'visible', order_by: 'name', key: 'projects_by_name' },
    { scope: 'visible', order_by: 'path', key: 'projects_by_path' },
    { scope: 'visible', order_by: 'updated_at', key: 'projects_updated' },
    { scope: 'visible', order_by: 'last_activity_at', key: 'projects_activity' }
  ] as const
  for (const { scope, order_by, key } of cases) {
    t.test(`${scope}, by ${order_by ?? 'creation'}`, async t => {
      const plan = listing(await plansOf(() => listProjects(scope, { order_by }, actor(7))))
      t.equal(stepOf(plan, 'p')?.key === 'PRIMARY' ? plan?.steps.find(({ key: used }) => used === key)?.key : key, key)
      t.ok(plan?.steps.some(({ key: used }) => used === key))
      t.notOk(
        plan?.steps.some(({ table, key: used }) => table === 'p' && used === null),
        'no scan of the table'
      )
    })
  }

  for (const scope of ['member', 'owned'] as const) {
    t.test(`the list of one ${scope} reads few rows`, async t => {
      const plan = listing(await plansOf(() => listProjects(scope, {}, actor(7))))
      const most = Math.max(...(plan?.steps ?? []).map(({ rows }) => rows ?? 0))
      t.ok(most < 1000, `${most} rows`)
    })
  }
})

t.test('the membership of the caller in each project of a list is one look-up', async t => {
  for (const scope of ['all', 'visible', 'owned'] as const) {
    const plan = listing(await plansOf(() => listProjects(scope, {}, actor(7))))
    t.equal(stepOf(plan, 'm')?.key, 'members_source', scope)
  }
})

t.test('builds', async t => {
  for (const [scope, key] of [
    [undefined, 'builds_project'],
    [['success'], 'builds_project_status']
  ] as const) {
    t.test(`newest first, ${scope ?? 'all'}`, async t => {
      const plan = listing(await plansOf(() => listBuilds(1, { scope: scope && [...scope] })))
      t.ok(plan?.steps.some(({ key: used }) => used === key || used === 'builds_project'))
      t.notOk(plan?.steps.some(({ table, Extra }) => table === 'b' && /filesort/.test(Extra ?? '')))
    })
  }

  t.test('a page near the beginning is read along the index, a far one by its ids', async t => {
    const places = async (page: number) => {
      const plan = listing(await plansOf(() => listBuilds(1, { page })))
      return plan?.steps.filter(({ table }) => table === 'b').map(({ key }) => key)
    }
    t.same(await places(1), ['builds_project'])
    t.same(await places(40), ['PRIMARY', 'builds_project'])
  })
})

t.test('a runner that requests a build', async t => {
  const shared = (await plansOf(async () => findWaitingBuilds(await builtInRunner(), 10))).find(({ statement }) =>
    /tag_list_hash/.test(statement)
  )
  const steps = shared?.steps ?? []

  t.test('takes one step for each project and list of tags', async t => {
    const step = steps.find(({ table, Extra }) => table === 'builds' && /group-by/.test(Extra ?? ''))
    t.match(step, { key: 'builds_queue', Extra: /Using index for group-by/ })
    t.equal(stepOf(shared, 'b')?.key, 'PRIMARY')
  })

  t.test('reads only running builds', async t => {
    const step = stepOf(shared, 'r')
    t.equal(step?.key, 'builds_queue')
    t.ok((step?.rows ?? Number.POSITIVE_INFINITY) < 100)
  })

  t.test('finds abandoned and overdue builds with the same index', async t => {
    const plans = await plansOf(async () => {
      const runner = await builtInRunner()
      await findAbandonedBuilds(runner, 10)
      await findOverdueBuilds(runner, { before: new Date(), soon: new Date() }, 10)
    })
    const steps = plans.flatMap(plan => plan.steps).filter(({ table }) => table === 'b' || table === 'w')
    t.same(
      steps.map(({ key }) => key).filter(key => key !== 'builds_queue' && key !== 'PRIMARY'),
      []
    )
    t.ok(steps.length >= 4)
  })
})

t.test('a change of a build', async t => {
  const plans = await plansOf(() => changePipeline(1, async () => undefined))
  t.equal(
    stepOf(
      plans.find(({ statement }) => /from pipeline_stages/.test(statement)),
      'pipeline_stages'
    )?.key,
    'PRIMARY'
  )
  t.notOk(
    plans.some(({ statement }) => /from builds/.test(statement)),
    'reads no builds'
  )
})

t.test('pipelines', async t => {
  t.test('newest first', async t => {
    const plan = listing(await plansOf(() => listPipelines(1, {})))
    t.equal(stepOf(plan, 'l')?.key, 'pipelines_project')
    t.same(sorts(plan), [])
  })

  t.test('running pipelines', async t => {
    const plan = listing(await plansOf(() => listPipelines(1, { scope: 'running' })))
    t.equal(stepOf(plan, 'l')?.key, 'pipelines_status')
    t.same(sorts(plan), [])
  })

  t.test('finds the newest pipeline of each branch in the index', async t => {
    const plan = listing(await plansOf(() => listPipelines(1, { scope: 'branches' })))
    t.match(stepOf(plan, 'm'), { key: 'pipelines_newest', Extra: /Using index/ })
  })
})

t.test('merge requests', async t => {
  for (const [query, key] of [
    [{}, 'merge_requests_created'],
    [{ state: 'all', order_by: 'updated_at' }, 'merge_requests_updated'],
    [{ state: 'opened' }, 'merge_requests_phase_created'],
    [{ state: 'merged', order_by: 'updated_at', page: 40 }, 'merge_requests_phase_updated'],
    [{ page: 40 }, 'merge_requests_created']
  ] as const) {
    t.test(`by ${JSON.stringify(query)}`, async t => {
      // The second time, a far page begins at a known place.
      const twice = async () => [
        await listMergeRequests(1, query, actor(7)),
        await listMergeRequests(1, query, actor(7))
      ]
      const plans = listings(await plansOf(twice))
      t.equal(plans.length, 'page' in query ? 2 : 1)
      for (const { steps } of plans) {
        const found = steps.filter(({ table }) => table === 'm')
        t.same(
          found.map(step => step.key),
          'page' in query ? ['PRIMARY', key] : [key]
        )
        if ('page' in query) t.match(found[1]?.Extra, /Using index/)
        t.notMatch(found.at(-1)?.Extra ?? '', /filesort|temporary/)
      }
    })
  }

  t.test('by their numbers', async t => {
    const plan = listing(await plansOf(() => listMergeRequests(1, { iid: [7, 9] }, actor(7))))
    t.ok(plan?.steps.some(({ key }) => key === 'merge_requests_iid'))
  })
})

t.test('deliveries of a hook', async t => {
  for (const state of [undefined, 'dead'] as const) {
    t.test(`newest first, ${state ?? 'all'}`, async t => {
      const plan = listing(await plansOf(() => listDeliveries(1, { state })))
      const found = plan?.steps.filter(({ table }) => table === 'hook_deliveries') ?? []
      t.equal(found.length, state ? 1 : 4)
      for (const step of found) {
        t.equal(step.key, 'hook_deliveries_waiting')
        t.notMatch(step.Extra, /filesort/, 'the index returns them in order')
      }
      t.equal(stepOf(plan, 'd')?.key, 'PRIMARY')
    })
  }
})

t.test('hooks of an event: those of the instance and of its project', async t => {
  const [plan] = await plansOf(() =>
    deliverEvent('key', {
      system: { event: 'tag_push', payload: () => ({}) },
      project: { id: 7, event: 'tag_push', payload: () => ({}) }
    })
  )
  t.equal(stepOf(plan, 'hooks')?.key, 'hooks_project')
})

t.test('the audit', async t => {
  for (const [filter, key] of [
    [{}, 'PRIMARY'],
    [{ actor: 'u7' }, 'audit_events_actor'],
    [{ action: 'user.block' }, 'audit_events_action'],
    [{ target_type: 'user', target_id: '7' }, 'audit_events_target']
  ] as const) {
    t.test(`by ${Object.keys(filter).join(' and ') || 'creation'}`, async t => {
      const plan = listing(await plansOf(() => listAuditEvents(filter, {})))
      t.equal(stepOf(plan, 'audit_events')?.key, key)
      t.notMatch(stepOf(plan, 'audit_events')?.Extra, /filesort/)
    })
  }
})

t.test('users are read in the order of their ids', async t => {
  const plan = listing(await plansOf(() => listUsers({}, { admin: true })))
  t.equal(stepOf(plan, 'u')?.key, 'PRIMARY')
  t.same(sorts(plan), [])
})

t.test('unfinished builds are counted without reading those that have ended', async t => {
  const [plan] = await plansOf(() => countUnfinishedBuilds())
  const step = stepOf(plan, 'builds')
  t.equal(step?.key, 'builds_queue')
  t.match(step?.Extra, /Using index/)
  t.ok(Number(step?.rows) < 15_000, `${step?.rows} of 25,000 rows`)
})

t.test('the removal of expired artifacts reads only those', async t => {
  const context = { dryRun: true, signal: new AbortController().signal, count: () => undefined, note: () => undefined }
  const [plan] = await plansOf(() => expiredArtifacts.run(context))
  t.equal(stepOf(plan, 'builds')?.key, 'builds_expiring')
  t.same(sorts(plan), [])
})

async function fill(): Promise<void> {
  const at = "date_add('2026-01-01', interval seq minute)"
  for (const statement of [
    `insert into users (username, name, email, password_hash, created_at, updated_at)
     select concat('u', seq), concat('User ', seq), concat('u', seq, '@example.org'), '', ${at}, ${at} from ${numbersTo(500)}`,
    `insert into namespaces (kind, owner_id, name, path, created_at, updated_at)
     select 'user', seq, concat('u', seq), concat('u', seq), ${at}, ${at} from ${numbersTo(500)}`,
    `insert into projects (namespace_id, creator_id, name, path, storage, visibility_level, tag_list,
       runners_token_hash, runners_token_encrypted, last_activity_at, created_at, updated_at)
     select 1 + seq % 500, 1, concat('p', seq), concat('p', seq), 'default', 10 * (seq % 3), '',
       unhex(sha2(seq, 256)), '', ${at}, ${at}, ${at} from ${numbersTo(20000)}`,
    `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
     select 'project', seq, 1 + seq % 500, 40, ${at}, ${at} from ${numbersTo(10000)}`,
    `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
     select 1 + seq % 4, concat('b', seq % 50), false, sha1(seq), sha1(0), if(seq % 500 = 0, 'running', 'success'),
       'push', ${at}, ${at} from ${numbersTo(20000)}`,
    `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, plan, created_at, updated_at)
     select seq, 1 + seq % 4, 'test', 'test', 0, concat('b', seq % 50), false, sha1(seq),
       if(seq % 10 = 0, 'failed', 'success'), 'on_success', false, '[]', '{}', ${at}, ${at} from ${numbersTo(20000)}`,
    `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, tag_list_hash, plan, queued_at, created_at, updated_at)
     select seq, 1 + seq % 4, 'next', 'test', 0, 'b', false, sha1(seq), 'pending', 'on_success', false, '[]',
       unhex(md5('[]')), '{}', ${at}, ${at}, ${at} from ${numbersTo(5000)}`,
    `insert into pipeline_stages (pipeline_id, position, name, success) select seq, 0, 'test', 1 from ${numbersTo(20000)}`,
    `insert into jobs (queue, name, payload, state, run_at, created_at)
     select if(seq % 2, 'default', 'hooks'), 'x', '{}', if(seq % 3, 'ready', 'dead'), ${at}, ${at} from ${numbersTo(20000)}`,
    `insert into job_failures (job_id, failed_at) select id, run_at from jobs where state = 'dead'`,
    `insert into queue_minutes (minute, queue, process_id, processed)
     select date_add(utc_timestamp(), interval -seq minute), 'default', 1, 1 from ${numbersTo(20000, 0)}`,
    `insert into merge_requests (iid, target_project_id, source_project_id, target_branch, source_branch, title, state, author_id,
       created_at, updated_at)
     select seq, 1, 1, 'master', concat('b', seq), '', elt(1 + seq % 3, 'opened', 'closed', 'merged'), 1 + seq % 500, ${at}, ${at}
     from ${numbersTo(10000)}`,
    `insert into hooks (project_id, url, created_at, updated_at)
     select nullif(seq div 2, 0), 'http://x.example.org/', ${at}, ${at} from ${numbersTo(20000)}`,
    'analyze table merge_requests, hooks, pipeline_stages, job_failures, queue_minutes, users, namespaces, projects, members, pipelines, builds, jobs'
  ]) {
    await execute(statement)
  }
}
