import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { revision, version } from '../../src/version.js'
import { cli, cliProcess } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

t.test('--version prints the version', async t => {
  const { code, stdout } = await cliProcess(['--version'])
  t.equal(code, 0)
  t.equal(stdout, `gitstead ${version}${revision === 'unknown' ? '' : ` (${revision})`}\n`)
})

t.test('help lists the commands', async t => {
  const { code, stdout } = await cli(['help'])
  t.equal(code, 0)
  for (const name of ['up', 'server', 'worker', 'status', 'doctor', 'openapi', 'db', 'jobs', 'users']) {
    t.match(stdout, new RegExp(`^ +${name} `, 'm'))
  }
})

t.test('a usage error is one line and exit code 2', async t => {
  const cases: [string[], RegExp][] = [
    [['frobnicate'], /^gitstead: command frobnicate not found: run gitstead help for a list\n$/],
    [
      ['users', 'crate', '--username', 'ada'],
      /^gitstead: command users crate not found: did you mean gitstead users create\?\n$/
    ],
    [['users', 'list', 'x'], /^gitstead: unexpected argument x: see gitstead users list --help\n$/],
    [['help', 'nope'], /^gitstead: command nope not found: run gitstead help for a list\n$/],
    [['stattus', 'x'], /^gitstead: command stattus x not found: did you mean gitstead status\?\n$/],
    [['users', 'create', '--username', 'ada'], /^gitstead: .*Missing required flag.*\n$/],
    [['up', '--port', 'abc'], /^gitstead: Parsing --port Expected an integer but received: abc\n$/],
    [['up', '--port', '70000'], /^gitstead: Parsing --port .*70000.*\n$/],
    [['status', '--bogus'], /^gitstead: Nonexistent flag: --bogus\n$/],
    [['jobs', 'retry'], /^gitstead: give the numbers of jobs, or --dead for all dead jobs\n$/],
    [['jobs', 'retry', '1', '--dead'], /^gitstead: give the numbers of jobs, or --dead for all dead jobs\n$/],
    [
      ['db', 'rollback'],
      /^gitstead: this destroys data: add --yes to confirm, or --dry-run to see what would be lost\n$/
    ]
  ]
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await cli(args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, expected, args.join(' '))
    t.equal(stdout, '', args.join(' '))
  }
})

t.test('with --json, an unknown command is reported as JSON', async t => {
  const { code, json } = await cli(['frobnicate', '--json'])
  t.equal(code, 2)
  t.match(json(), { error: { code: 'usage', message: /^command frobnicate not found/ } })
})

t.test('an invalid configuration is reported in one line with the key', async t => {
  const home = t.testdir({ 'config.yaml': 'port: 8080\nhooks:\n  alow: []\n' })
  const { code, stderr } = await cli(['status', '--home', home])
  t.equal(code, 1)
  t.equal(stderr, 'gitstead: configuration: unknown key hooks.alow\n')
  const wrong = await cli(['status', '--home', t.testdir()], { environment: { GITSTEAD_QUEUE_LEASE: 'soon' } })
  t.equal(wrong.code, 1)
  t.equal(
    wrong.stderr,
    'gitstead: configuration: queue.lease must be a whole number from 3 to 2000000 (it is "soon")\n'
  )
})

t.test('a command warns about an environment variable that is not a setting', async t => {
  const environment = { GITSTEAD_PROT: '81', GITSTEAD_LOG_LEVEL: 'info', GITSTEAD_SOMETHING_ELSE: '' }
  const { code, stderr } = await cli(['config', 'show', '--home', t.testdir()], { environment })
  t.equal(code, 0)
  t.same(stderr.trim().split('\n'), [
    'gitstead: warning: GITSTEAD_PROT is not a setting: did you mean GITSTEAD_PORT?',
    'gitstead: warning: GITSTEAD_SOMETHING_ELSE is not a setting: `gitstead config show` lists all settings'
  ])
})

t.test('commands that use a database', async t => {
  const { databaseUrl, home: first } = await testDatabase()
  const home = join(t.testdir(), 'home')
  mkdirSync(home, { mode: 0o700 })
  copyFileSync(join(first, 'secrets.json'), join(home, 'secrets.json'))
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl, GITSTEAD_PORT: '0' }
  const run = (args: string[], input?: string) => cli(args, { environment, input })
  const create = (username: string, rest: string[] = []) =>
    run(
      ['users', 'create', '--username', username, '--email', `${username}@example.org`, '--name', 'Ada', ...rest],
      'long enough\n'
    )

  t.test('users create prints the user with the private token', async t => {
    const { code, json } = await create('ada', ['--admin', '--password-stdin', '--json'])
    t.equal(code, 0)
    t.match(json(), { username: 'ada', is_admin: true, state: 'active', private_token: /^[\w-]{20}$/ })
  })

  t.test('users create refuses a taken address with exit code 4, also as JSON', async t => {
    const { code, stderr } = await create('ada', ['--password-stdin'])
    t.equal(code, 4)
    t.equal(stderr, 'gitstead: Email has already been taken\n')
    const asJson = await create('ada', ['--password-stdin', '--json'])
    t.equal(asJson.code, 4)
    t.same(asJson.json(), { error: { code: 'conflict', message: 'Email has already been taken' } })
  })

  t.test('users create reads a password from a file, and takes exactly one source', async t => {
    const file = join(t.testdir({ password: 'from a file\nmore\n' }), 'password')
    t.equal((await create('bert', ['--password-file', file])).code, 0)
    t.equal((await create('carl')).code, 2)
    t.equal((await create('carl', ['--password-file', file, '--password-stdin'])).code, 2)
    t.equal((await create('carl', ['--password-file', '/nowhere'])).code, 2)
    const { code, stderr } = await run(
      ['users', 'create', '--username', 'c', '--email', 'c', '--name', 'C', '--password-stdin'],
      'short\n'
    )
    t.equal(code, 2)
    t.match(stderr, /^gitstead: email is invalid; password is too short \(minimum is 8 characters\)\n$/)
  })

  t.test('the jobs commands show waiting jobs, pause and resume queues', async t => {
    const stats = await run(['jobs', 'stats', '--json'])
    t.equal(stats.code, 0)
    t.match(stats.json(), { queues: { default: { backlog: 2 } }, processes: [], jobs: { enqueued: 2 }, paused: [] })
    const list = await run(['jobs', 'list', '--queue', 'default', '--json'])
    t.match(list.json(), {
      jobs: [{ name: 'event.published', state: 'ready', payload: { event: { kind: 'user.created' } } }, {}]
    })
    t.equal((await run(['jobs', 'pause', 'hooks'])).stdout, 'paused hooks\n')
    t.match((await run(['jobs', 'stats', '--json'])).json(), { paused: ['hooks'] })
    t.equal((await run(['jobs', 'resume', 'hooks'])).stdout, 'resumed hooks\n')
    const unknown = await run(['jobs', 'pause', 'nothing'])
    t.equal(unknown.code, 2)
    t.match(
      unknown.stderr,
      /^gitstead: queue is not one of default, builds, hooks, mail, maintenance, imports, mirrors\n$/
    )
  })

  t.test('jobs retry and discard print how many jobs they changed', async t => {
    t.equal((await run(['jobs', 'retry', '4711'])).code, 3)
    const { jobs } = (await run(['jobs', 'list', '--json'])).json() as { jobs: { id: number }[] }
    const ids = jobs.map(({ id }) => String(id))
    t.same((await run(['jobs', 'discard', ...ids, '--yes', '--json'])).json(), { discarded: 2, failed: [] })
    t.equal((await run(['jobs', 'retry', '--dead'])).stdout, 'retried 0\n')
  })

  t.test('db status and rollback --dry-run change nothing', async t => {
    const { migrations } = (await run(['db', 'status', '--json'])).json() as {
      migrations: { name: string; applied_at: string }[]
    }
    t.ok(migrations.length > 0 && migrations.every(({ applied_at }) => applied_at !== null))
    const { json } = await run(['db', 'rollback', '--dry-run', '--json'])
    t.match(json(), { rolled_back: [migrations.at(-1)?.name], dry_run: true })
    t.same((await run(['db', 'migrate', '--json'])).json(), { applied: [] })
  })

  t.test('status and doctor report and change nothing', async t => {
    const status = await run(['status', '--json'])
    t.equal(status.code, 5, 'no server, no worker')
    t.match(status.json(), { ok: false, server: { up: false }, database: { up: true, schema: 'current' }, workers: [] })
    const doctor = await run(['doctor', '--json'])
    t.equal(doctor.code, 0)
    const { checks } = doctor.json() as { checks: { name: string; ok: boolean }[] }
    t.ok(checks.length >= 8 && checks.every(({ ok }) => ok))
  })

  t.test('doctor prints the remedy of a fault', async t => {
    chmodSync(join(home, 'secrets.json'), 0o644)
    const { code, stdout } = await run(['doctor'])
    t.equal(code, 1)
    t.match(stdout, /FAIL {2}secrets .*other users can read .*\n +-> chmod 600 /)
  })

  t.test('a database that does not answer is exit code 5', async t => {
    const away = { ...environment, GITSTEAD_DATABASE_URL: 'mysql://root:x@127.0.0.1:1/x' }
    const { code, stderr } = await cli(['jobs', 'stats'], { environment: away })
    t.equal(code, 5)
    t.equal(stderr, 'gitstead: the database is not available\n')
  })
})

t.test('while the appliance is down, a command starts the private database itself', async t => {
  const home = join(t.testdir(), 'home')
  const create = (name: string) =>
    cli(
      [
        'users',
        'create',
        '--username',
        name,
        '--email',
        `${name}@example.org`,
        '--name',
        name,
        '--password-stdin',
        '--json'
      ],
      { environment: { GITSTEAD_HOME: home }, input: 'long enough\n' }
    )
  const both = await Promise.all([create('ada'), create('bert')])
  t.same(
    both.map(({ code }) => code),
    [0, 0]
  )
  t.same(both.map(({ stderr }) => stderr).sort(), ['', `gitstead: created a new appliance in ${home}\n`])
  const { code, json } = await cli(['status', '--json'], { environment: { GITSTEAD_HOME: home } })
  t.equal(code, 5)
  t.match(json(), { database: { up: false } })
})

t.test('openapi prints the document without a database', async t => {
  const { code, json } = await cli(['openapi'], { environment: { GITSTEAD_HOME: join(t.testdir(), 'home') } })
  t.equal(code, 0)
  t.match(json(), { openapi: '3.1.0', paths: { '/api/v3/projects/{id}': { get: {} } } })
})
