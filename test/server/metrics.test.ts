// The metrics of the appliance for Prometheus.
import t from 'tap'
import { addDelivery } from '../../src/areas/ground/hooks/deliveries.js'
import { createHook } from '../../src/areas/ground/hooks/hooks.js'
import { signInByPassword } from '../../src/areas/people/credentials/password-sign-in.js'
import { queueMail } from '../../src/areas/reach/mail/outbox.js'
import { createBackup } from '../../src/areas/upkeep/backup/create.js'
import { execute } from '../../src/db/connect/sql.js'
import { prepareHome } from '../../src/home.js'
import { enqueue } from '../../src/queue/enqueue.js'
import { metricsText } from '../../src/server/metrics.js'
import { endBuild, makePipeline } from '../areas/ci/builds/make-builds.js'
import { makeMirror } from '../areas/code/mirrors/make-mirrors.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'
import { runJobs } from '../helpers/jobs.js'

await testDatabase()
prepareHome()

t.test('builds, jobs, deliveries, mails, disks and backups have metrics', async t => {
  const project = await factory.project()
  const [one] = await makePipeline(project, 'one:\n  script: [make]\ntwo:\n  script: [make]\n')
  if (!one) throw new Error('no builds')
  await endBuild(one, { status: 'failed' })
  await execute('delete from jobs')
  await makeMirror(project, 'push')
  const hook = await createHook({ url: 'http://127.0.0.1:1/' }, someOrigin)
  await addDelivery(hook, { key: 'k', event: 'push', body: '{}' })
  await runJobs()
  await enqueue('maintenance.run', { task: 'x' })
  await execute("update jobs set state = 'dead' where queue = 'maintenance'")
  await createBackup({}, someOrigin)
  const now = new Date()
  const states = ['waiting', 'waiting', 'failed', 'held', 'sent']
  const recipients = states.map((state, at) => ({
    userId: null,
    address: `${at}-${state}@example.org`,
    reason: 'test'
  }))
  await queueMail({ once: 'metrics', kind: 'test', facts: { sent_at: now.toISOString() }, recipients })
  await execute("update mail_deliveries set state = substring(address, 3, locate('@', address) - 3)")
  await execute("insert into mail_bounces (address, error, bounced_at) values ('gone@example.org', '550', ?)", [now])
  await execute("delete from jobs where queue = 'mail'")
  const { text } = await metricsText()
  for (const line of [
    'gitstead_builds{status="failed"} 1',
    'gitstead_builds{status="pending"} 1',
    'gitstead_builds{status="success"} 0',
    'gitstead_jobs{queue="maintenance",state="dead"} 1',
    'gitstead_jobs{queue="hooks",state="delayed"} 1',
    'gitstead_jobs{queue="mail",state="ready"} 0',
    'gitstead_jobs_failed 1',
    'gitstead_mirrors{direction="push",result="never"} 1',
    'gitstead_mirrors{direction="pull",result="failed"} 0',
    'gitstead_hook_deliveries{state="pending"} 1',
    'gitstead_hook_deliveries{state="dead"} 0',
    'gitstead_hooks_failing 1',
    'gitstead_mail_deliveries{state="waiting"} 2',
    'gitstead_mail_deliveries{state="failed"} 1',
    'gitstead_mail_deliveries{state="held"} 1',
    'gitstead_mail_deliveries{state="sent"} 1',
    'gitstead_mail_deliveries{state="canceled"} 0',
    'gitstead_mail_bounced 1',
    'gitstead_git_spooled_bytes 0'
  ]) {
    t.ok(text.includes(`${line}\n`), line)
  }
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find(line => line.startsWith(`${name} `))
        ?.split(' ')[1]
    )
  t.ok(value('gitstead_backup_age_seconds') >= 0)
  t.ok(value('gitstead_disk_free_bytes{folder="home"}') > 0)
  t.ok(value('gitstead_disk_size_bytes{folder="home"}') > value('gitstead_disk_free_bytes{folder="home"}'))
})

t.test('attempts to sign in are counted by door and outcome', async t => {
  const user = await factory.user({ password: 'a long and right password' })
  const counts = async () => {
    const { text } = await metricsText()
    return (door: string, outcome: string) =>
      Number(text.split(`gitstead_sign_ins{door="${door}",outcome="${outcome}"} `)[1]?.split('\n')[0])
  }
  const before = await counts()
  const address = '192.0.2.9'
  const attempt = (password: string, door: 'api' | 'git') =>
    signInByPassword(user.username, password, { address, door }).catch(() => null)
  t.ok(await attempt('a long and right password', 'api'))
  for (let guess = 0; guess < 12; guess++) t.equal(await attempt('wrong', 'git'), null)
  const after = await counts()
  for (const [door, outcome, more] of [
    ['api', 'ok', 1],
    ['api', 'failed', 0],
    ['git', 'failed', 10],
    ['git', 'refused', 2],
    ['page', 'ok', 0],
    ['oidc', 'away', 0]
  ] as const) {
    t.equal(after(door, outcome) - before(door, outcome), more, `${door} ${outcome}`)
  }
})
