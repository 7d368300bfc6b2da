// Tests the commands for hooks, the audit and jobs, as scripts use them.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.js'
import { execute } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { runJobs } from '../helpers/jobs.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'
import { receiver } from '../webhooks/receiver.js'

const { home, databaseUrl } = await testDatabase()
mkdirSync(home, { recursive: true, mode: 0o700 })
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({ port: 0 })

const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: string[], input?: string) => cli(args, { environment, input })
const json = async <T>(args: string[], input?: string) => {
  const { code, stdout, stderr } = await run([...args, '--json'], input)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
  return JSON.parse(stdout) as T
}
interface Hook {
  id: number
}

t.test('hooks are added, listed, shown and removed', async t => {
  const hook = await json<Hook>(
    ['hooks', 'add', '--url', 'https://ada:hunter22@hooks.example.org/', '--token-stdin', '--no-push-events'],
    'the token\n'
  )
  t.match(hook, {
    url: 'https://ada:redacted@hooks.example.org/',
    push_events: false,
    tag_push_events: false,
    enable_ssl_verification: true,
    has_token: true,
    failures: 0,
    resting_until: null,
    pending_deliveries: 0,
    dead_deliveries: 0
  })
  const file = join(t.testdir({ token: 'another\n' }), 'token')
  const other = await json<Hook>(
    ['hooks', 'add', '--url', 'http://two.example.org/', '--token-file', file, '--tag-push-events'].concat(
      '--no-enable-ssl-verification'
    )
  )
  t.match(other, { push_events: true, tag_push_events: true, enable_ssl_verification: false, has_token: true })
  t.match(await json(['hooks', 'list']), { hooks: [{ id: hook.id }, { id: other.id }] })
  t.match(await json(['hooks', 'show', String(other.id)]), other)
  const shown = [await run(['hooks', 'list']), await run(['hooks', 'show', String(hook.id)])]
  for (const { stdout } of shown) {
    t.match(stdout, /https:\/\/ada:redacted@hooks\.example\.org\//)
    t.notMatch(stdout, /hunter22|the token/)
  }
  t.match(await json(['hooks', 'remove', String(hook.id), '--dry-run']), { would_delete: { id: hook.id } })
  t.match(await json(['hooks', 'remove', String(hook.id), '--yes']), {
    deleted: { id: hook.id, pending_deliveries: 0 }
  })
  t.equal((await run(['hooks', 'show', String(hook.id)])).code, 3)
  await json(['hooks', 'remove', String(other.id), '--yes'])
  t.equal((await run(['hooks', 'list'])).stdout, 'none\n')
})

t.test('each error is one line with its exit code', async t => {
  const cases: [string[], number, RegExp][] = [
    [['hooks', 'add', '--url', 'nowhere'], 2, /^gitstead: --url is not an http or https URL\n$/],
    [['hooks', 'add'], 2, /Missing required flag url/],
    [
      ['hooks', 'add', '--url', 'http://x/', '--token-stdin', '--token-file', 'x'],
      2,
      /give exactly one source of the token/
    ],
    [['hooks', 'add', '--url', 'http://x/', '--token-file', '/nowhere'], 2, /--token-file \/nowhere .*ENOENT/],
    [['hooks', 'show', 'x'], 2, /^gitstead: expected a number of at least 1 \(it is "x"\)\n$/],
    [['hooks', 'remove', '4711', '--yes'], 3, /^gitstead: no hook has the number 4711\n$/],
    [['hooks', 'test', '4711'], 3, /no hook has the number 4711/],
    [['hooks', 'deliveries', '4711'], 3, /no hook has the number 4711/],
    [['hooks', 'deliveries', '1', '--state', 'lost'], 2, /--state=lost/],
    [['hooks', 'delivery', '4711', '1'], 3, /no hook has the number 4711/],
    [['hooks', 'redeliver'], 2, /^gitstead: give the numbers of up to 1000 deliveries, or --dead --hook ID .*\n$/],
    [['hooks', 'redeliver', 'all'], 2, /give the numbers of up to 1000 deliveries/],
    [['hooks', 'redeliver', '4711'], 3, /^gitstead: no delivery has the number 4711\n$/],
    [['hooks', 'redeliver', '--dead'], 2, /--hook/],
    [['hooks', 'redeliver', '--dead', '--hook', '4711'], 3, /no hook has the number 4711/],
    [['audit', 'list', '--since', 'often'], 2, /^gitstead: --since must be a date .* \(it is "often"\)\n$/],
    [['audit', 'list', '--until', '7'], 2, /--until must be a date/],
    [['audit', 'list', '--limit', '0'], 2, /limit/],
    [['jobs', 'show', '4711'], 3, /^gitstead: no job has the number 4711\n$/],
    [['jobs', 'list', '--queue', 'x'], 2, /queue is not one of/],
    [['jobs', 'discard', '4711', '--dry-run'], 3, /no job that can be discarded has the number 4711/]
  ]
  for (const [args, expected, line] of cases) {
    const { code, stdout, stderr } = await run(args, '')
    t.equal(code, expected, args.join(' '))
    t.match(stderr, line, args.join(' '))
    t.equal(stderr.split('\n').length, 2, args.join(' '))
    t.equal(stdout, '', args.join(' '))
  }
  const long = await run(['hooks', 'add', '--url', 'http://x/', '--token-stdin'], `${'x'.repeat(501)}\n`)
  t.equal(long.code, 2)
  t.match(long.stderr, /^gitstead: token is too long \(maximum is 500 characters\)\n$/)
})

t.test('hooks events lists each event with the operations that emit it', async t => {
  const { events } = await json<{ events: { event: string; operations: string[] }[] }>(['hooks', 'events'])
  const push = new Map(events.map(each => [each.event, each])).get('push')
  t.match(push, { flag: 'push_events' })
  for (const operation of ['POST /projects/:id/repository/files', 'git push']) {
    t.ok(push?.operations.includes(operation), operation)
  }
  t.match((await run(['hooks', 'events'])).stdout, /^deploykey_create +- +POST .projects.:id.deploy_keys/m)
})

t.test('a hook is tested, and its deliveries are shown and repeated', async t => {
  const state = { status: 500 }
  const { port, received } = await receiver(t, response => response.writeHead(state.status).end('so be it'))
  const { id } = await json<Hook>(
    ['hooks', 'add', '--url', `http://127.0.0.1:${port}/`, '--token-stdin'],
    'the token\n'
  )

  t.test('without a worker, hooks test --wait times out and says why', async t => {
    const { code, stderr } = await run(['hooks', 'test', String(id), '--wait', '--seconds', '1'])
    t.equal(code, 5)
    t.match(
      stderr,
      /^gitstead: delivery \d+ was not tried within 1 s: no worker runs; the next worker that starts .*\n$/
    )
    await json(['jobs', 'pause', 'hooks'])
    const paused = await run(['hooks', 'test', String(id), '--wait', '--seconds', '1'])
    t.equal(paused.code, 5)
    t.match(paused.stderr, /the queue is paused, run gitstead jobs resume hooks\n$/)
    await json(['jobs', 'resume', 'hooks'])
    const { payload, delivery } = await json<{ payload: object; delivery: object }>(['hooks', 'test', String(id)])
    t.match(delivery, { hook_id: id, state: 'pending', attempts: 0, payload, tries: [] })
  })

  t.test('with a worker, hooks test --wait shows the first attempt', async t => {
    await runJobs()
    await execute('delete from jobs')
    const failing = run(['hooks', 'test', String(id), '--wait', '--seconds', '600', '--json'])
    await until('the sample to be sent', async () => (await runJobs()).includes('hook.deliver'))
    const failed = await failing
    t.equal(failed.code, 1)
    t.match(failed.json(), { delivery: { state: 'pending', tries: [{ status: 500, response_body: 'so be it' }] } })
    state.status = 200
    const passing = run(['hooks', 'test', String(id), '--wait', '--seconds', '600'])
    await until('the sample to be sent', async () => (await runJobs()).includes('hook.deliver'))
    const { code, stdout } = await passing
    t.equal(code, 0)
    t.match(stdout, /^state: delivered$/m)
    t.match(stdout, /^> X-Gitstead-Token: \[redacted\]$/m)
    t.match(stdout, /^answer: so be it$/m)
  })

  t.test('deliveries are listed, shown and repeated', async t => {
    const list = await json<{ deliveries: { id: number }[]; total: number }>(['hooks', 'deliveries', String(id)])
    t.equal(list.total, list.deliveries.length)
    const newest = list.deliveries[0]?.id ?? 0
    t.match(list.deliveries[0], { state: 'delivered', last_attempt: { status: 200 } })
    t.match(await json(['hooks', 'deliveries', String(id), '--state', 'delivered', '--limit', '1']), {
      deliveries: [{ id: newest }],
      total: 1
    })
    const shown = await run(['hooks', 'delivery', String(id), String(newest), '--json'])
    t.match(shown.json(), { id: newest, payload: { event_name: 'project_create' }, tries: [{ status: 200 }] })
    t.notMatch(shown.stdout, 'the token')
    await execute("update hook_deliveries set state = 'dead' where id < ?", [newest])
    const before = received.length
    t.match(await json(['hooks', 'redeliver', String(newest)]), { redelivered: 1, deliveries: [Number] })
    t.match(await json(['hooks', 'redeliver', '--dead', '--hook', String(id)]), { redelivered: list.total - 1 })
    t.match(await json(['hooks', 'redeliver', '--dead', '--hook', String(id)]), { redelivered: 0, deliveries: [] })
    await runJobs()
    t.equal(received.length - before, list.total)
  })
})

t.test('audit list shows what the commands changed', async t => {
  const { audit_events: events, total } = await json<{ audit_events: { action: string }[]; total: number }>([
    'audit',
    'list',
    '--since',
    '1h'
  ])
  t.equal(events.length, total)
  const actions = new Set(events.map(({ action }) => action))
  for (const action of ['hook.create', 'hook.delete', 'hook.redeliver', 'queue.pause', 'queue.resume']) {
    t.ok(actions.has(action), action)
  }
  t.match(events[0], { via: 'command', actor_id: null, actor_name: String, address: String })
  const filtered = await json<{ total: number }>(['audit', 'list', '--action', 'queue.pause', '--target-id', 'hooks'])
  t.equal(filtered.total, 1)
  t.match(await json(['audit', 'list', '--until', '2020-01-01']), { audit_events: [], total: 0 })
  const { stdout } = await run(['audit', 'list', '--limit', '1', '--action', 'hook.redeliver'])
  t.match(stdout, /^TIME +ACTOR +VIA +FROM +ACTION +TARGET +CHANGED\n.*hook\.redeliver +hook \d+ \(http.*\n$/)
})

t.test('jobs show prints a job with the changes that sysadmins made to it', async t => {
  await execute('delete from jobs')
  const { id } = await json<Hook>(['hooks', 'add', '--url', 'http://hooks.example.org/'])
  await json(['hooks', 'test', String(id)])
  const { jobs, total } = await json<{ jobs: { id: number }[]; total: number }>([
    'jobs',
    'list',
    '--name',
    'hook.deliver'
  ])
  t.equal(total, 1)
  const job = jobs[0]?.id ?? 0
  await execute("update jobs set state = 'dead', error = 'Error: no\n    at line 1' where id = ?", [job])
  t.same(await json(['jobs', 'retry', '--dead']), { retried: 1 })
  await execute("update jobs set state = 'dead' where id = ?", [job])
  t.same(await json(['jobs', 'retry', String(job)]), { retried: 1, failed: [] })
  const shown = await json<object>(['jobs', 'show', String(job)])
  t.match(shown, {
    id: job,
    queue: 'hooks',
    name: 'hook.deliver',
    state: 'ready',
    payload: { deliveryId: Number },
    error: 'Error: no\n    at line 1',
    history: [{ action: 'job.retry', target_id: String(job), via: 'command' }]
  })
  const { stdout } = await run(['jobs', 'show', String(job)])
  t.match(stdout, /^payload: \{"deliveryId":\d+\}$/m)
  t.match(stdout, /^error: Error: no\nerror: {5}at line 1$/m)
  t.match(await json(['jobs', 'discard', String(job), '--dry-run']), { would_discard: 1, jobs: [{ id: job }] })
  t.match(await json(['jobs', 'list']), { total: 1 }, 'nothing was changed')
  t.same(await json(['jobs', 'discard', String(job), '--yes']), { discarded: 1, failed: [] })
  t.match(await json(['hooks', 'deliveries', String(id)]), { deliveries: [{ state: 'canceled' }] })
})
