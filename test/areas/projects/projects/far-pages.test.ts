// Far pages of lists of projects begin at known places. They are the same as if everything before them was read. So is the page of a
// search that finds most projects.
import { audit } from '../../../../src/areas/ground/audit/audit.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { addTrigrams, PROJECT_TEXTS } from '../../../../src/db/lists/trigrams.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { numbersTo } from '../../../helpers/numbers.js'
import t from '../../../helpers/tap.js'

const MANY = 1500

t.test('far pages of lists of projects', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const owner = await app.make.user()
  const reader = await app.make.user()
  const found = await row<{ id: number }>('select id from namespaces where owner_id = ?', [owner.id])
  await execute(
    `insert into projects (namespace_id, name, path, storage, tag_list, runners_token_hash, runners_token_encrypted,
       visibility_level, last_activity_at, created_at, updated_at)
     select ?, concat('many-', seq), concat('many-', seq), 'default', '[]', unhex(sha2(concat('many', seq), 256)), '',
       if(seq % 7 = 0, 0, 20), now(), date_sub(now(3), interval mod(seq * 7919, 1000) minute), now()
     from ${numbersTo(MANY)}`,
    [found?.id ?? 0]
  )
  const wanted = async (condition: string, way: string) =>
    (
      await rows<{ id: number }>(`select id from projects where ${condition} order by created_at ${way}, id ${way}`)
    ).map(({ id }) => id)
  const check = async (why: string) => {
    for (const [path, asker, condition] of [
      ['/projects/all', admin, 'true'],
      ['/projects/owned', owner, `namespace_id = ${found?.id}`],
      ['/projects/visible', reader, 'visibility_level = 20']
    ] as const) {
      for (const way of ['desc', 'asc']) {
        const all = await wanted(condition, way)
        // Twice each, and the second time from a place.
        for (const page of [30, 30, 45, 12, 200, 2, 2]) {
          const answer = await app.as(asker).get(`${path}?page=${page}&sort=${way}`)
          const ids = answer.json().map(({ id }: { id: number }) => id)
          t.strictSame(
            [ids, answer.headers['x-total']],
            [all.slice((page - 1) * 20, page * 20), String(all.length)],
            `${why}: ${path}, ${way}, page ${page}`
          )
        }
      }
    }
  }

  await check('at first')
  const made = await app.as(reader).post('/projects', { name: 'made', visibility_level: 20 })
  t.equal(made.statusCode, 201)
  await check('after a new project')
  await app.as(admin).delete(`/projects/${made.json().id}`)
  await check('after its removal')
  await app.as(reader).post('/projects', { name: 'moved in', visibility_level: 20 })
  await transact(async () => {
    await execute("update projects set created_at = date_sub(now(3), interval 400 minute) where path = 'moved-in'")
    await audit(someOrigin, { action: 'project.create', target: { type: 'project', id: 1, name: 'it' } })
  })
  await check('after a project that is older than others')

  const texts = await rows<{ id: number; name: string }>("select id, name from projects where name like 'many-%'")
  await addTrigrams(
    PROJECT_TEXTS,
    texts.map(({ id, name }) => ({ id, texts: [name] }))
  )
  // The index finds all of them for both, and the texts decide.
  for (const search of ['many', 'many-1']) {
    const all = await wanted(`name like '%${search}%'`, 'desc')
    const answer = await app.as(admin).get(`/projects/all?search=${search}&page=2`)
    const ids = answer.json().map(({ id }: { id: number }) => id)
    t.strictSame([ids, answer.headers['x-total']], [all.slice(20, 40), String(all.length)], search)
  }
})
