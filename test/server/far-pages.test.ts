// Far pages begin at places that earlier pages have left: each list returns the same page whatever was requested before.
import { execute, rows } from '../../src/db/connect/sql.js'
import { makePipeline } from '../areas/ci/builds/make-builds.js'
import { testApp } from '../helpers/app.js'
import { numbersTo } from '../helpers/numbers.js'
import t from '../helpers/tap.js'

const COUNT = 700
const PER_PAGE = 10

const app = await testApp(t)
const admin = app.as(await app.make.admin())
const owner = await app.make.user()
const project = await app.make.project({ owner })
const group = await app.make.group({ owner, path: 'crowd' })
const [build] = await makePipeline(project, 'one: {script: [a]}\n')
const numbers = numbersTo(COUNT)

await execute(
  `insert into users (username, name, email, password_hash, created_at, updated_at)
   select concat('many', seq), 'Many', concat('many', seq, '@example.org'), '', now(3), now(3) from ${numbers}`
)
await execute(
  `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
   select 'namespace', ?, id, 20, now(3), now(3) from users where username like 'many%'`,
  [group.id]
)
await execute(
  `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
   select project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at
   from pipelines join ${numbers} on true where project_id = ?`,
  [project.id]
)
await execute(
  `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when, allow_failure, tag_list,
     tag_list_hash, plan, created_at, updated_at)
   select pipeline_id, project_id, concat(name, seq), stage, stage_index, ref, tag, sha, if(seq mod 3, 'failed', 'success'), start_when,
     allow_failure, tag_list, tag_list_hash, plan, created_at, updated_at
   from builds join ${numbers} on true where id = ?`,
  [build?.id ?? 0]
)
/** The ids of each list, in its order. */
const idsOf = async (sql: string, id: number) => (await rows<{ id: number }>(sql, [id])).map(({ id }) => id)
const LISTS: readonly (readonly [path: string, ids: number[]])[] = [
  [
    `/projects/${project.id}/builds`,
    await idsOf('select id from builds where project_id = ? order by id desc', project.id)
  ],
  [
    `/projects/${project.id}/builds?scope[]=failed`,
    await idsOf("select id from builds where project_id = ? and status = 'failed' order by id desc", project.id)
  ],
  [
    `/projects/${project.id}/pipelines`,
    await idsOf('select id from pipelines where project_id = ? order by id desc', project.id)
  ],
  [
    `/groups/${group.id}/members`,
    await idsOf(
      "select user_id as id from members where source_type = 'namespace' and source_id = ? order by user_id",
      group.id
    )
  ],
  ['/users', await idsOf("select id from users where id > ? and state <> 'ghost' order by id desc", 0)]
]

let seed = 7
const random = (below: number) => {
  seed = (seed * 1103515245 + 12345) % 2147483648
  return Math.floor((seed / 2147483648) * below)
}

for (const [path, ids] of LISTS) {
  t.test(path, async t => {
    const last = Math.ceil(ids.length / PER_PAGE)
    const random40 = Array.from({ length: 40 }, () => 1 + random(last))
    // Next to each other and far from each other, in both halves, from both sides.
    for (const page of [1, 22, 23, 24, 22, 40, 39, 38, last, last - 1, last - 2, last, ...random40]) {
      const answer = await admin.inject({
        method: 'GET',
        url: `/api/v3${path}${path.includes('?') ? '&' : '?'}per_page=${PER_PAGE}&page=${page}`
      })
      const found = (answer.json() as { id: number }[]).map(({ id }) => id)
      t.same(found, ids.slice((page - 1) * PER_PAGE, page * PER_PAGE), `page ${page}`)
    }
  })
}
