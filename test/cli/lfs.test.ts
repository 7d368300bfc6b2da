// What projects have in LFS on the command line, and the check of doctor that finds lost files.
import { createHash, randomBytes } from 'node:crypto'
import { rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { storeObject } from '../../src/areas/projects/lfs/objects.js'
import { lfsFilesCheck } from '../../src/cli/doctor/integrity.js'
import { execute } from '../../src/db/connect/sql.js'
import { nameOfLfsObject } from '../../src/storage/lfs.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, type TestProject } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(['lfs', 'list', ...args], { environment })

async function store(project: TestProject, size: number): Promise<string> {
  const bytes = randomBytes(size)
  const oid = createHash('sha256').update(bytes).digest('hex')
  await storeObject(project.id, { oid, size }, () => Readable.from([bytes]))
  return oid
}

t.test('projects with their objects and limits', async t => {
  t.match((await run('--json')).json(), { projects: [], total: 0, unused: { objects: 0 } })
  const [small, large, none] = [await factory.project(), await factory.project(), await factory.project()]
  await store(small, 10)
  for (const size of [1000, 2000]) await store(large, size)
  const held = await store(large, 500)
  await execute('update lfs_links set held = true where oid = ?', [held])
  const nobody = await store(none, 70)
  await execute('delete from lfs_links where oid = ?', [nobody])
  t.match((await run('--json')).json(), {
    projects: [
      { project: large.path, project_id: large.id, objects: 3, bytes: 3000, held_bytes: 500, limit_bytes: Number },
      { project: small.path, objects: 1, bytes: 10, held_bytes: 0 }
    ],
    total: 2,
    unused: { objects: 1, bytes: 70 }
  })
  t.match(await run(small.path), { code: 0, stdout: new RegExp(`${small.path} +1 `) })
  t.notMatch((await run(small.path)).stdout, large.path)
  t.match(await run('--limit', '1'), { code: 0, stderr: /1 of 2 projects/, stdout: /no project has 1 objects/ })
  t.match(await run('no/such'), { code: 3 })
})

t.test('doctor finds files that are missing or have another size', async t => {
  const context = { all: true, serverUp: false, now: new Date(), serverUrl: '' }
  const project = await factory.project()
  const [whole, lost, cut] = [await store(project, 11), await store(project, 12), await store(project, 13)]
  t.match(await lfsFilesCheck.examine(context), /^looked at \d+ of \d+ files$/)
  rmSync(join(home, nameOfLfsObject(lost)))
  truncateSync(join(home, nameOfLfsObject(cut)), 5)
  for (const all of [true, false]) {
    const error = await Promise.resolve(lfsFilesCheck.examine({ ...context, all })).catch(error => error)
    t.match(error, { message: /^2 files in LFS are missing or damaged; looked at 7 of 7 files$/ })
    t.same([...error.details].sort(), [`${cut}: 5 instead of 13 bytes`, `${lost}: missing`].sort())
    t.notMatch(error.details.join(), whole)
  }
})
