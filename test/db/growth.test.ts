// Work whose result stays the same reads as many rows in large tables as in small ones. `npm run bench growth` measures all of it.
import { expiredArtifacts } from '../../src/areas/ci/builds/files/expired-artifacts.js'
import { oldBuilds } from '../../src/areas/ci/builds/files/old-builds.js'
import { oldRefChanges } from '../../src/areas/code/refs/old-ref-changes.js'
import { activeProjects } from '../../src/areas/code/repository/stale-locks.js'
import { findDue } from '../../src/areas/code/repository/upkeep.js'
import { oldDeliveries } from '../../src/areas/ground/hooks/old-deliveries.js'
import { oldEvents } from '../../src/areas/reach/events/old-events.js'
import { forgetUser } from '../../src/areas/upkeep/removal/user-deletion.js'
import { loadConfig } from '../../src/config.js'
import { execute } from '../../src/db/connect/sql.js'
import type { Task } from '../../src/queue/task.js'
import { testDatabase } from '../helpers/database.js'
import { numbersTo } from '../helpers/numbers.js'
import { rowsRead } from '../helpers/rows-read.js'
import t from '../helpers/tap.js'

await testDatabase()
loadConfig({ port: 0, archive: { builds: 365, events: 365 } })
t.teardown(() => void loadConfig({ port: 0 }))

const USER = 77
const signal = new AbortController().signal

const perform = ({ run }: Task, dryRun = true) => run({ dryRun, signal, count: () => undefined, note: () => undefined })

/** Each finds a few rows, however large the tables are. */
const WORK: readonly [what: string, work: () => Promise<unknown>][] = [
  ['expired artifacts', () => perform(expiredArtifacts)],
  ['old deliveries', () => perform(oldDeliveries)],
  ['old changes of refs', () => perform(oldRefChanges, false)],
  ['repositories that may have old locks', () => activeProjects()],
  ['repositories that may need a repack', () => findDue()],
  ['old events', () => perform(oldEvents)],
  ['old builds', () => perform(oldBuilds)],
  ['forgetting a user', () => forgetUser(USER, signal)]
]

async function fill(from: number, to: number): Promise<void> {
  await execute(
    `insert into projects (id, namespace_id, name, path, storage, tag_list, runners_token_hash, runners_token_encrypted,
       last_activity_at, created_at, updated_at)
     select seq, seq, concat('p', seq), concat('p', seq), 'default', '[]', unhex(sha2(seq, 256)), '',
       if(seq <= 5, now(3), '2020-01-01'), '2020-01-01', '2020-01-01' from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into repository_upkeeps (project_id, looked_at) select seq, now(3) - interval if(seq <= 5, 40, 0) day
     from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into repository_checks (project_id, looked_at, fingerprint, contents_at)
     select seq, now(3), repeat('a', 32), if(seq <= 5, null, now(3)) from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into pipelines (id, project_id, ref, tag, sha, before_sha, status, source, user_id, created_at, updated_at)
     select seq, seq, 'master', false, '', '', 'success', 'push', if(seq mod 1000 = 1, ${USER}, 1),
       now(3) - interval if(seq <= 5, 600, 10) day, now(3) from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into builds (id, pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, plan, artifacts_size, artifacts_attempt, artifacts_expire_at, created_at, updated_at)
     select seq, seq, seq, if(seq <= 5, ${USER}, 1), 'a', 'test', 0, 'master', false, '', 'success', 'on_success', false, '[]',
       '{}', 1, 1, now(3) + interval if(seq <= 5, -1, 10) day, now(3), now(3) from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into ref_changes (id, project_id, ref, old_id, new_id, user_id, source, state, process, created_at, settled_at)
     select seq, seq, 'refs/heads/master', '', '', if(seq <= 5, ${USER}, 1), 'http', 'done', '',
       now(3) - interval if(seq <= 5, 100, 10) day, now(3) - interval if(seq <= 5, 100, 10) day from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into activity_events (id, happening_id, project_id, author_id, action, created_at)
     select seq, seq, seq, 1, 'opened', now(3) - interval if(seq <= 5, 600, 10) day from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into hook_deliveries (id, hook_id, event_key, event, payload, state, created_at)
     select seq, 1, seq, 'push', '{}', 'delivered', now(3) - interval if(seq <= 5, 100, 10) day from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into issues (id, project_id, iid, title, author_id, updated_by_id, created_at, updated_at)
     select seq, seq, 1, 'a', 1, if(seq <= 5, ${USER}, null), now(3), now(3) from ${numbersTo(to, from)}`
  )
  await execute(
    `insert into notes (id, project_id, noteable_type, noteable_id, author_id, note, updated_by_id, created_at, updated_at)
     select seq, seq, 'Issue', seq, 1, 'a', if(seq <= 5, ${USER}, null), now(3), now(3) from ${numbersTo(to, from)}`
  )
  await execute(
    `analyze table projects, repository_upkeeps, repository_checks, pipelines, builds, ref_changes, activity_events,
       hook_deliveries, issues, notes`
  )
}

t.test('four times as many rows cost the same', async t => {
  await fill(1, 2000)
  const small = new Map<string, number>()
  for (const [what, work] of WORK) small.set(what, await rowsRead(work))
  await fill(2001, 8000)
  for (const [what, work] of WORK) {
    const [before, after] = [small.get(what) ?? 0, await rowsRead(work)]
    t.ok(before > 0, `${what} reads rows`)
    t.ok(after <= before * 1.5 + 30, `${what}: ${before} rows, then ${after}`)
  }
})
