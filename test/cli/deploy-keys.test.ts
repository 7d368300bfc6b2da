import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import { newKey } from '../helpers/ssh-keys.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: string[], input?: string) => cli(args, { environment, ...(input !== undefined && { input }) })

t.test('deploy keys are added, listed and removed', async t => {
  const { path } = await factory.project()
  const key = newKey()
  const added = await run(['deploy-keys', 'add', '--project', path, '--title', 'server', '--push', '--json'], key)
  const { id } = JSON.parse(added.stdout) as { id: number }
  t.match(JSON.parse(added.stdout), { title: 'server', key, can_push: true })
  const everywhere = await run(['deploy-keys', 'add', '--public', '--title', 'mirror'], newKey())
  t.match(everywhere.stdout, /^deploy key \d+ of all projects reads \(SHA256:/)
  const ofProject = await run(['deploy-keys', 'list', '--project', path, '--json'])
  t.match(JSON.parse(ofProject.stdout), { total: 1, deploy_keys: [{ id, public: false, projects: [path] }] })
  t.match((await run(['deploy-keys', 'list', '--all'])).stdout, /mirror.*public.*\n.*server.*push/)
  const removed = await run(['deploy-keys', 'remove', String(id), '999999', '--yes', '--json'])
  t.equal(removed.code, 3)
  t.match(removed.stdout, /"deleted"/)
  t.match(JSON.parse((await run(['deploy-keys', 'list', '--json'])).stdout), { total: 1 })
  t.match(await run(['deploy-keys', 'add', '--project', 'no/such', '--title', 'x'], key), {
    code: 3,
    stderr: /no project is called "no\/such"/
  })
})
