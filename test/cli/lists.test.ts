// Tests `--all` of the lists, which prints everything, in parts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createHook } from '../../src/areas/ground/hooks/hooks.js'
import { root } from '../../src/config.js'
import { execute } from '../../src/db/connect/sql.js'
import { PART } from '../../src/db/lists/paginate.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'
import { numbersTo } from '../helpers/numbers.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(args, { environment })
/** More than two parts. */
const MANY = 2 * PART + 3

/** Inserts rows with one statement; `columns` are expressions of seq. */
const fill = (table: string, columns: { [name: string]: string }) =>
  execute(
    `insert into ${table} (${Object.keys(columns).join(', ')})
     select ${Object.values(columns).join(', ')} from ${numbersTo(MANY)}`
  )

t.test('every list prints everything, once and in order, as a table and as JSON', async t => {
  const user = await factory.user({ username: 'ada' })
  const hook = await createHook({ url: 'https://hooks.example.org/' }, someOrigin)
  await fill('jobs', {
    queue: "'default'",
    name: "'user.forget'",
    payload: "'{}'",
    state: "'delayed'",
    attempts: '0',
    priority: '100',
    run_at: "'2099-01-01'",
    created_at: 'now()'
  })
  await fill('ssh_keys', {
    user_id: String(user.id),
    title: "concat('key ', seq)",
    public_key: "concat('ssh-ed25519 A', seq)",
    fingerprint: "concat('f', seq)",
    created_at: 'now()'
  })
  await fill('hook_deliveries', {
    hook_id: String(hook.id),
    event_key: "concat('k', seq)",
    event: "'project_create'",
    payload: "'{}'",
    created_at: 'now()'
  })
  const lists: [name: string, least: number, ...args: string[]][] = [
    ['jobs', MANY, 'jobs', 'list'],
    ['keys', MANY, 'keys', 'list', '--user', 'ada'],
    ['deliveries', MANY, 'hooks', 'deliveries', String(hook.id)],
    ['users', 1, 'users', 'list'],
    ['tokens', 0, 'tokens', 'list'],
    ['audit_events', 1, 'audit', 'list'],
    ['runs', 0, 'maintenance', 'last'],
    ['broadcasts', 0, 'broadcasts', 'list']
  ]
  for (const [name, least, ...args] of lists) {
    const { code, stdout, stderr, json } = await run(...args, '--all', '--json')
    t.equal(code, 0, stderr)
    const { [name]: records, total } = json() as { [name: string]: { id: number }[] } & { total: never }
    t.equal(total, records?.length, name)
    t.ok((records?.length ?? 0) >= least, name)
    const ids = records?.map(({ id }) => id) ?? []
    t.same(
      ids,
      [...new Set(ids)].sort((one, other) => other - one),
      `${name} are in order`
    )
    t.equal(stdout.split('\n').length, ids.length + 3, 'one line per record')
    const text = await run(...args, '--all')
    t.equal(
      text.stdout.split('\n').length,
      ids.length === 0 ? 2 : ids.length + 2,
      `${name}: a heading, and a line each`
    )
    t.equal(text.stderr, '')
  }
  const limited = (await run('jobs', 'list', '--limit', '1', '--json')).json() as { jobs: object[]; total: number }
  const everything = (await run('jobs', 'list', '--all', '--json')).json() as { jobs: object[]; total: number }
  t.equal(limited.total, everything.total)
  t.same(everything.jobs[0], limited.jobs[0], 'the records have the same fields')
  t.equal((await run('jobs', 'list', '--all', '--limit', '3')).code, 2)
})

t.test('a list ends when its reader closes the pipe', async t => {
  const args = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'bin/gitstead'), 'jobs', 'list', '--all', '--json']
  const child = spawn('env', args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  const [chunk] = await once(child.stdout, 'data')
  t.match(String(chunk), /^\{"jobs":\[\n\{/)
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
})
