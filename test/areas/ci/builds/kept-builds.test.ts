// Kept records of builds: each list shows every change at once, also those that another process has made.
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline } from './make-builds.js'

const app = await testApp(t)
const project = await app.make.project()
const owner = app.as(project.owner)
const [build] = await makePipeline(project, 'one: {script: [a]}\ntwo: {script: [b]}\n')
if (!build) throw new Error('no builds')
await beginBuild(build)
await endBuild(build, { status: 'success', artifacts: Buffer.from('zip') })

const single = async () => (await owner.get(`/projects/${project.id}/builds/${build.id}`)).json()
const listed = async (path = 'builds') => {
  const list = (await owner.get(`/projects/${project.id}/${path}`)).json() as { id: number }[]
  return list.find(({ id }) => id === build.id)
}

t.test('a list whose builds are kept answers the same, with one statement less', async t => {
  const ask = () => owner.get(`/projects/${project.id}/builds`)
  const first = await ask()
  t.equal(first.json().length, 2)
  const again = await ask()
  t.equal(again.body, first.body)
  t.equal(again.headers.etag, first.headers.etag)
  const kept = await countStatements(ask)
  await execute("update builds set stage = 'other' where id = ?", [build.id])
  t.equal(await countStatements(ask), kept + 1, 'the build that has changed')
  t.not((await ask()).headers.etag, first.headers.etag)
  const known = await owner.inject({
    method: 'GET',
    url: `/api/v3/projects/${project.id}/builds`,
    headers: { 'if-none-match': String((await ask()).headers.etag) }
  })
  t.equal(known.statusCode, 304)
})

t.test('every column of a build and of what belongs to it counts, also when another program writes it', async t => {
  const { pipeline_id, user_id, runner_id } = (await row<{ pipeline_id: number; user_id: number; runner_id: number }>(
    'select pipeline_id, user_id, runner_id from builds where id = ?',
    [build.id]
  )) ?? { pipeline_id: 0, user_id: 0, runner_id: 0 }
  const day = new Date('2026-01-02T03:04:05.678Z')
  const columns: readonly (readonly [
    table: string,
    id: number,
    values: { readonly [column: string]: string | number | Date | null }
  ])[] = [
    ['pipelines', pipeline_id, { ref: 'other', sha: 'a'.repeat(40), status: 'failed' }],
    ['runners', runner_id, { description: 'other', active: 0, is_shared: 0, name: 'other' }],
    [
      'users',
      user_id,
      {
        ...{ name: 'Other', username: 'other', bio: 'b', location: 'l', messenger: 'm', professional_network: 'p' },
        ...{ microblog: 'x', website_url: 'https://w.example', organization: 'o', admin: 1, created_at: day }
      }
    ],
    [
      'builds',
      build.id,
      {
        ...{ name: 'other', stage: 'third', ref: 'other', tag: 1, status: 'failed', coverage: 12.5 },
        ...{ created_at: day, started_at: day, finished_at: day, artifacts_filename: 'other.zip', artifacts_size: 9 },
        ...{ artifacts_expire_at: day, erased_at: day, user_id: null, runner_id: null, sha: 'b'.repeat(40) }
      }
    ]
  ]
  for (const [table, id, values] of columns) {
    for (const [column, value] of Object.entries(values)) {
      await listed()
      const { affectedRows } = await execute(`update ${table} set ${column} = ? where id = ?`, [value, id])
      t.equal(affectedRows, 1, `${table}.${column}`)
      t.same(await listed(), await single(), `${table}.${column}`)
    }
  }
})

t.test('lists of a commit and of a status use the same records', async t => {
  await execute("update builds set sha = ?, status = 'success' where id = ?", [build.sha, build.id])
  t.same(await listed(`repository/commits/${build.sha}/builds`), await single())
  t.same(await listed('builds?scope=success'), await single())
})

t.test('a build that is removed is no longer listed', async t => {
  t.ok(await listed())
  await execute('delete from builds where id = ?', [build.id])
  t.notOk(await listed())
})
