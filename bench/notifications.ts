// Measures how much 5,000 watchers slow down a comment on an issue, and how long a job takes to queue their mails. The mails
// themselves wait, because their pace depends on the mail server.
import { setTimeout as sleep } from 'node:timers/promises'
import { execute, row } from '../src/db/connect/sql.js'
import { pauseQueue } from '../src/queue/administer.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { median, percentile, report, round } from './lib/figure.js'
import { ask, createProject } from './lib/rest.js'

const WATCHERS = 5000
const COMMENTS = 40
const LIMIT_MS = 20

async function seedWatchers(projectId: number): Promise<void> {
  const now = new Date()
  await execute(
    `insert into users (username, name, email, password_hash, confirmed_at, email_confirmed_at, created_at, updated_at)
     select concat('watcher-', seq), concat('Watcher ', seq), concat('watcher-', seq, '@example.org'), '-', ?, ?, ?, ?
     from seq_1_to_${WATCHERS}`,
    [now, now, now, now]
  )
  await execute(
    `insert into notification_settings (user_id, source_type, source_id, level, created_at, updated_at)
     select id, 'Project', ?, 2, ?, ? from users where username like 'watcher-%'`,
    [projectId, now, now]
  )
  await execute('analyze table users, notification_settings')
}

async function queued(): Promise<number> {
  const found = await row<{ total: number }>('select count(*) as total from mail_deliveries')
  return Number(found?.total ?? 0)
}

async function measure(appliance: Prepared): Promise<void> {
  const [plain, watched] = [await createProject(appliance, 'plain'), await createProject(appliance, 'watched')]
  await execute('update projects set visibility_level = 20')
  await seedWatchers(watched.id)
  await pauseQueue('mail')
  const issueOf = ({ id }: { id: number }) =>
    ask<{ id: number }>(appliance, 'POST', `/projects/${id}/issues`, { title: 'x' })
  const paths = [
    `/projects/${plain.id}/issues/${(await issueOf(plain)).id}/notes`,
    `/projects/${watched.id}/issues/${(await issueOf(watched)).id}/notes`
  ] as const
  const times: [number[], number[]] = [[], []]
  const waits: number[] = []
  const comment = async (which: 0 | 1) => {
    const before = performance.now()
    await ask(appliance, 'POST', paths[which], { body: 'It is *fine*' })
    times[which].push(performance.now() - before)
  }
  // The first comments prepare statements.
  while ((await queued()) < WATCHERS) await sleep(50)
  for (let warm = 0; warm < 5; warm++) await comment(0)
  times[0] = []
  const cost = countCost(appliance.parts)
  for (let number = 0; number < COMMENTS; number++) {
    await comment(0)
    const [before, began] = [await queued(), performance.now()]
    await comment(1)
    while ((await queued()) < before + WATCHERS) await sleep(10)
    waits.push(performance.now() - began)
  }
  const [without, having] = times
  report({
    name: `comment, ${WATCHERS} watchers: longer than with none`,
    value: median(having) - median(without),
    unit: 'ms p50',
    limit: LIMIT_MS,
    better: 'lower',
    detail: {
      none_p50_ms: round(median(without)),
      none_p90_ms: round(percentile(without, 0.9)),
      watched_p50_ms: round(median(having)),
      watched_p90_ms: round(percentile(having, 0.9)),
      comments: COMMENTS,
      ...cost(COMMENTS)
    }
  })
  report({
    name: `comment to ${WATCHERS} queued mails`,
    value: median(waits),
    unit: 'ms p50',
    limit: null,
    better: 'lower',
    detail: { p90_ms: round(percentile(waits, 0.9)) }
  })
}

await withAppliance({}, measure)
