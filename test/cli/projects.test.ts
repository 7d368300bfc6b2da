import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { execute } from '../../src/db/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'

t.test('projects show', async t => {
  const { databaseUrl } = await testDatabase()
  const home = join(t.testdir(), 'home')
  mkdirSync(home, { mode: 0o700 })
  const show = (...args: string[]) =>
    cli(['projects', 'show', ...args], { environment: { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl } })
  const project = await factory.project()
  await execute("update projects set import_state = 'failed', import_error = 'no answer' where id = ?", [project.id])

  const { code, json } = await show(project.path, '--json')
  t.equal(code, 0)
  t.match(json(), {
    id: project.id,
    path_with_namespace: project.path,
    visibility: 'private',
    archived: false,
    import_status: 'failed',
    import_error: 'no answer'
  })
  t.match((await show(String(project.id))).stdout, /^import_error: no answer$/m)
  const missing = await show('no/such', '--json')
  t.equal(missing.code, 3)
})
