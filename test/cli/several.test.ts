// Tests commands with several arguments: each is handled and reported, and a failure of one does not stop the others.
import { rows } from '../../src/db/connect/sql.js'
import { enqueue } from '../../src/queue/enqueue.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const run = (...args: string[]) =>
  cli(args, { environment: { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl } })
const states = async () =>
  (await rows<{ name: string }>("select concat(username, ' ', state) as name from users order by id")).map(
    ({ name }) => name
  )

t.test('users are blocked one after another, and a wrong name is reported', async t => {
  await factory.admin({ username: 'boss' })
  for (const username of ['ada', 'bob', 'eve']) await factory.user({ username })
  const text = await run('users', 'block', 'ada', 'ghost', 'boss', 'bob')
  t.equal(text.stdout, 'blocked user ada\nblocked user bob\n')
  t.equal(
    text.stderr,
    'gitstead: ghost: no user is called "ghost"\ngitstead: boss: the last active administrator cannot be blocked\n'
  )
  t.equal(text.code, 1, 'they failed for different reasons')
  t.same(await states(), ['boss active', 'ada blocked', 'bob blocked', 'eve active'])
  const json = await run('users', 'unblock', 'ada', 'ghost', '--json')
  t.equal(json.code, 3)
  t.match(json.json(), {
    results: [
      { argument: 'ada', ok: true, result: { username: 'ada', state: 'active' } },
      { argument: 'ghost', ok: false, error: { code: 'not_found', message: 'no user is called "ghost"' } }
    ]
  })
  t.match(await run('users', 'unblock', 'ada', '--yess'), { code: 2, stdout: '', stderr: /--yess/ })
})

t.test('several users are deleted after one --yes, and a dry run deletes none', async t => {
  t.equal((await run('users', 'delete', 'bob', 'eve')).code, 2, 'it needs --yes')
  const dry = await run('users', 'delete', 'bob', 'ghost', 'eve', '--dry-run', '--json')
  t.equal(dry.code, 3)
  t.match(dry.json(), {
    results: [
      { result: { would_delete: { username: 'bob' } } },
      { ok: false },
      { result: { would_delete: { username: 'eve' } } }
    ]
  })
  t.equal((await states()).length, 4)
  const done = await run('users', 'delete', 'bob', 'boss', 'eve', '--yes')
  t.equal(done.code, 4)
  t.match(done.stdout, /^deleted user bob \(id \d+\)\ndeleted user eve \(id \d+\)\n$/)
  t.match(done.stderr, /^gitstead: boss: .*administrator.*\n$/)
  t.same(await states(), ['boss active', 'ada active'])
})

t.test('jobs and queues, with the numbers that do not exist', async t => {
  const job = await enqueue('repository.optimise', { projectId: 1 })
  const both = await run('jobs', 'discard', String(job), '999999', '--yes', '--json')
  t.same(both.json(), {
    discarded: 1,
    failed: [
      { argument: 999999, error: { code: 'not_found', message: 'no job that can be discarded has the number 999999' } }
    ]
  })
  t.equal(both.code, 3)
  t.match(await run('jobs', 'show', '1', 'x'), { code: 2, stderr: /it is "x"/ })
  const paused = await run('jobs', 'pause', 'hooks', 'nothing', 'mail')
  t.match(paused, {
    code: 2,
    stdout: 'paused hooks\npaused mail\n',
    stderr: /^gitstead: nothing: queue is not one of /
  })
})

t.test('a single argument prints its own result or failure', async t => {
  t.match((await run('users', 'show', 'ada', '--json')).json(), { username: 'ada' })
  const missing = await run('users', 'show', 'ghost', '--json')
  t.same(missing.json(), { error: { code: 'not_found', message: 'no user is called "ghost"' } })
  t.equal(missing.code, 3)
})
