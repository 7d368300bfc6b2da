// Variables by the API, in the database, and in the environment of a build.
import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { describeBuild } from '../../../../src/areas/ci/runners/job-description.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../builds/make-builds.js'
import { makeRunner } from '../runners/make-runners.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project()
  return { project, owner: app.as(project.owner), path: `/projects/${project.id}/variables` }
}

t.test('a variable is created, read, changed, listed and removed', async t => {
  const { owner, path } = await subject()
  const created = await owner.post(path, { key: 'API_KEY', value: 'sesame' })
  t.equal(created.statusCode, 201)
  t.same(created.json(), { key: 'API_KEY', value: 'sesame' })
  t.same((await owner.get(`${path}/API_KEY`)).json(), created.json())
  const changed = await owner.put(`${path}/API_KEY`, { value: '' })
  t.equal(changed.statusCode, 200)
  t.same(changed.json(), { key: 'API_KEY', value: '' })
  await owner.post(path, { key: 'ANOTHER', value: 'x' })
  const list = await owner.get(path)
  t.same(list.json(), [{ key: 'ANOTHER', value: 'x' }, changed.json()])
  t.equal(list.headers['x-total'], '2')
  const removed = await owner.delete(`${path}/API_KEY`)
  t.equal(removed.statusCode, 200)
  t.same(removed.json(), changed.json())
  const gone = await owner.get(`${path}/API_KEY`)
  t.equal(gone.statusCode, 404)
  t.same(gone.json(), { message: '404 Variable Not Found' })
})

t.test('wrong keys and values are refused by name, and nothing changes', async t => {
  const { owner, path } = await subject()
  await owner.post(path, { key: 'TAKEN', value: 'first' })
  const cases: [object, object][] = [
    [{ key: 'TAKEN', value: 'x' }, { message: { key: ['has already been taken'] } }],
    [{ key: 'with space', value: 'x' }, { message: { key: [/letters, digits and '_'/] } }],
    [{ key: 'a\nb', value: 'x' }, { message: { key: [/letters/] } }],
    [{ key: '', value: 'x' }, { message: { key: ["can't be blank"] } }],
    [{ key: 'K'.repeat(256), value: 'x' }, { message: { key: [/255/] } }],
    [{ key: 'LONG', value: 'é'.repeat(32_769) }, { message: { value: [/65536 bytes/] } }],
    [{ key: 'NUL', value: 'a\0b' }, { message: { value: [/null/] } }],
    [{ key: 'NONE' }, { error: 'value is missing' }],
    [{ value: 'x' }, { error: 'key is missing' }],
    [{ key: ['a'], value: 'x' }, { error: 'key is invalid' }]
  ]
  for (const [body, answer] of cases) {
    const res = await owner.post(path, body)
    t.equal(res.statusCode, 400, JSON.stringify(body).slice(0, 60))
    t.match(res.json(), answer)
  }
  t.equal((await owner.put(`${path}/TAKEN`, { value: 'a\0' })).statusCode, 400)
  t.same((await owner.get(path)).json(), [{ key: 'TAKEN', value: 'first' }])
})

t.test('keys that differ in case are different, and a variable belongs to its project', async t => {
  const { owner, path } = await subject()
  t.equal((await owner.post(path, { key: 'Key', value: '1' })).statusCode, 201)
  t.equal((await owner.post(path, { key: 'KEY', value: '2' })).statusCode, 201)
  t.same((await owner.get(`${path}/Key`)).json(), { key: 'Key', value: '1' })
  const other = await subject()
  t.equal((await other.owner.get(`${other.path}/Key`)).statusCode, 404)
})

t.test('the database has no value in clear, and the audit none at all', async t => {
  const { project, owner, path } = await subject()
  await owner.post(path, { key: 'SECRET', value: 'open sesame' })
  const stored = await row<{ value_encrypted: Buffer }>('select value_encrypted from variables where project_id = ?', [
    project.id
  ])
  t.notOk(stored?.value_encrypted.includes('sesame'))
  const audited = await row<{ action: string; changes: string }>(
    'select action, changes from audit_events order by id desc limit 1'
  )
  t.match(audited, { action: 'variable.create' })
  t.notMatch(audited?.changes, /sesame/)
})

t.test('a build gets the variables of its project as secrets, and they win over those of the file', async t => {
  const { project, owner, path } = await subject()
  await owner.post(path, { key: 'LEVEL', value: 'project' })
  await makePipeline(project, 'job: { script: x, variables: { LEVEL: file, OTHER: file } }\n')
  const runner = await makeRunner({ projects: [project.id] })
  const claim = await claimNext(runner)
  if (!claim) return t.fail('no claim')
  const { variables = [] } = (await describeBuild(claim, runner)) ?? {}
  const find = (key: string) => variables.filter(variable => variable.key === key)
  t.same(find('LEVEL'), [{ key: 'LEVEL', value: 'project', public: false }])
  t.same(find('OTHER'), [{ key: 'OTHER', value: 'file', public: true }])
})

t.test('a value that cannot be decrypted is an error, and can be set again', async t => {
  const { project, owner, path } = await subject()
  await owner.post(path, { key: 'LOST', value: 'sesame' })
  await execute("update variables set value_encrypted = 'of another key' where project_id = ?", [project.id])
  for (const answer of [await owner.get(path), await owner.get(`${path}/LOST`), await owner.delete(`${path}/LOST`)]) {
    t.equal(answer.statusCode, 500)
    t.match(answer.json(), { message: /^500 Internal Server Error - variable LOST cannot be decrypted/ })
  }
  t.same((await owner.put(`${path}/LOST`, { value: 'again' })).json(), { key: 'LOST', value: 'again' })
  t.same((await owner.get(path)).json(), [{ key: 'LOST', value: 'again' }])
})
