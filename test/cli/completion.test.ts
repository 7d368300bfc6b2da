// Tests the names that a shell proposes: with real bash and a real appliance, and without an appliance.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHook } from '../../src/areas/ground/hooks/hooks.js'
import { createApplication } from '../../src/areas/people/credentials/oauth-applications.js'
import { root } from '../../src/config.js'
import { execute } from '../../src/db/connect/sql.js'
import { enqueue } from '../../src/queue/enqueue.js'
import { cliProcess } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const names = async (kind: string, start = '', more: string[] = [], env: NodeJS.ProcessEnv = environment) => {
  const { code, stdout, stderr } = await cliProcess(['__names', kind, start, '--seconds', '600', ...more], {
    environment: env
  })
  t.equal(code, 0)
  t.equal(stderr, '')
  return stdout.split('\n').filter(Boolean)
}

const ada = await factory.user({ username: 'ada', name: 'Ada L.' })
await factory.user({ username: 'adam', name: 'Adam' })
await factory.user({ username: 'bob', name: 'Bob' })
const project = await factory.project({ owner: ada, name: 'Engine', path: 'engine' })
await factory.group({ path: 'admirals' })
const hook = await createHook({ url: 'https://hooks.example.org/in?token=whsec99' }, someOrigin)
await factory.group({ path: 'machines' })
const application = await createApplication({ name: 'notes', redirect_uri: 'https://example.org/' }, someOrigin)
const job = await enqueue('user.forget', { userId: 1 })
await execute("update jobs set state = 'dead' where id = ?", [job])

t.test('names of records begin with the typed text', async t => {
  t.same(await names('users', 'ad'), ['ada\tAda L.', 'adam\tAdam'])
  t.same(await names('users', 'AD'), [], 'the shell compares exactly')
  t.same(await names('users', 'a%'), [])
  t.same(await names('projects', 'ada/e'), [`${project.path}\tEngine`])
  t.same(await names('groups', 'ma'), ['machines\tmachines'])
  t.same((await names('namespaces', 'a')).sort(), ['ada\tada', 'adam\tadam', 'admirals\tadmirals'])
  t.same(await names('applications'), [`${application.row.id}\tnotes`])
  t.same(await names('groups', 'ad'), ['admirals\tadmirals'])
  t.same(await names('sources', 'ad'), ['admirals\tadmirals', `${project.path}\tEngine`])
  t.same(await names('sources', 'ada/'), [`${project.path}\tEngine`])
  t.same(await names('hooks'), [`${hook.id}\thttps://hooks.example.org/in?token=redacted`])
  t.same(await names('jobs'), [`${job}\tuser.forget, dead`])
  t.same(await names('builds'), [])
  mkdirSync(join(home, 'backups/20261121T020000Z-3f9a'), { recursive: true })
  t.same(await names('backups'), ['20261121T020000Z-3f9a', 'latest'])
  t.same(await names('nothing'), [])
})

t.test('without an appliance that answers there are no names, and no home is created', async t => {
  const folder = join(t.testdir(), 'none')
  t.same(await names('users', '', ['--home', folder], {}), [])
  t.same(await names('backups', '', ['--home', folder], {}), [])
  t.notOk(existsSync(folder))
  const wrong = t.testdir({ 'config.yaml': 'port: x\n' })
  t.same(await names('users', '', ['--home', wrong], {}), [])
  t.same(await names('users', '', [], { ...environment, GITSTEAD_DATABASE_URL: 'mysql://u:p@127.0.0.1:1/x' }), [])
})

t.test('bash looks up names, and knows fixed names itself', async t => {
  const folder = t.testdir({ bin: {} })
  symlinkSync(join(root, 'bin/gitstead'), join(folder, 'bin/gitstead'))
  writeFileSync(join(folder, 'script'), (await cliProcess(['completion', 'bash'])).stdout)
  const cases: [line: string, proposed: string][] = [
    ['users block ad', 'ada adam'],
    ['users block bob a', 'ada adam'],
    ['keys list --user b', 'bob'],
    [`users show --home ${home} b`, 'bob'],
    ['groups show a', 'admirals'],
    ['members list ad', `admirals ${project.path}`],
    ['hooks show ', String(hook.id)],
    ['projects archive ada/', project.path],
    ['projects transfer ada/', project.path],
    ['projects transfer ada/engine ma', 'machines'],
    ['projects list --namespace ada', 'ada adam'],
    ['projects create bo', 'bob'],
    ['oauth grants revoke ada ', String(application.row.id)],
    ['jobs retry ', String(job)],
    ['jobs pause ma', 'mail maintenance'],
    ['jobs list --queue h', 'hooks'],
    ['maintenance run old_j', 'old_jobs'],
    ['settings get default_projects', 'default_projects_limit'],
    ['backup verify 2', '20261121T020000Z-3f9a']
  ]
  const asks = cases.map(([line]) => {
    const words = line.split(' ')
    return `COMP_WORDS=(gitstead ${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
      _gitstead; echo "\${COMPREPLY[*]}"`
  })
  const { NODE_OPTIONS: _, ...clean } = process.env
  const answers = execFileSync('bash', ['--norc', '-u'], {
    cwd: folder,
    // The test must not depend on how busy the machine is.
    input: ['source ./script', '_gitstead_seconds=600', 'compopt() { :; }', ...asks].join('\n'),
    encoding: 'utf8',
    env: { ...clean, ...environment, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  }).split('\n')
  for (const [at, [line, proposed]] of cases.entries()) t.equal(answers[at], proposed, line)
})
