// Variables by the API, in the database, and in the environment of a build.
import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { describeBuild } from '../../../../src/areas/ci/runners/job-description.js'
import { projectVariables } from '../../../../src/areas/ci/variables/variables.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { maskedVariables } from '../../../../src/db/migrations/0102-masked-variables.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../builds/make-builds.js'
import { makeRunner } from '../runners/make-runners.js'
import { makeVariable } from './make-variables.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project()
  return { project, owner: app.as(project.owner), path: `/projects/${project.id}/variables` }
}

t.test('a variable is created, read, changed, listed and removed', async t => {
  const { owner, path } = await subject()
  const created = await owner.post(path, { key: 'API_KEY', value: 'sesame' })
  t.equal(created.statusCode, 201)
  const usual = { masked: false, protected: false, environment_scope: '*' }
  t.same(created.json(), { key: 'API_KEY', value: 'sesame', ...usual })
  t.same((await owner.get(`${path}/API_KEY`)).json(), created.json())
  const changed = await owner.put(`${path}/API_KEY`, { value: '' })
  t.equal(changed.statusCode, 200)
  t.same(changed.json(), { key: 'API_KEY', value: '', ...usual })
  await owner.post(path, { key: 'ANOTHER', value: 'x' })
  const list = await owner.get(path)
  t.same(list.json(), [{ key: 'ANOTHER', value: 'x', ...usual }, changed.json()])
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
    [{ key: ['a'], value: 'x' }, { error: 'key is invalid' }],
    [{ key: 'M', value: 'short', masked: true }, { message: { value: [/too short to be masked/] } }],
    [{ key: 'M', value: 'x', masked: 'perhaps' }, { error: 'masked is invalid' }],
    [{ key: 'S', value: 'x', environment_scope: '' }, { message: { environment_scope: ["can't be blank"] } }],
    [{ key: 'S', value: 'x', environment_scope: 'a,b' }, { message: { environment_scope: [/can contain only/] } }],
    [{ key: 'S', value: 'x', environment_scope: 'a'.repeat(256) }, { message: { environment_scope: [/255/] } }]
  ]
  for (const [body, answer] of cases) {
    const res = await owner.post(path, body)
    t.equal(res.statusCode, 400, JSON.stringify(body).slice(0, 60))
    t.match(res.json(), answer)
  }
  t.equal((await owner.put(`${path}/TAKEN`, { value: 'a\0' })).statusCode, 400)
  t.match((await owner.get(path)).json(), [{ key: 'TAKEN', value: 'first' }])
  t.equal((await owner.get(path)).json().length, 1)
})

t.test('keys that differ in case are different, and a variable belongs to its project', async t => {
  const { owner, path } = await subject()
  t.equal((await owner.post(path, { key: 'Key', value: '1' })).statusCode, 201)
  t.equal((await owner.post(path, { key: 'KEY', value: '2' })).statusCode, 201)
  t.match((await owner.get(`${path}/Key`)).json(), { key: 'Key', value: '1' })
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

t.test('a value that cannot be decrypted is an error, and can be set again or removed', async t => {
  const { project, owner, path } = await subject()
  await owner.post(path, { key: 'LOST', value: 'sesame' })
  await execute("update variables set value_encrypted = 'of another key' where project_id = ?", [project.id])
  for (const answer of [await owner.get(path), await owner.get(`${path}/LOST`)]) {
    t.equal(answer.statusCode, 500)
    t.match(answer.json(), { message: /^500 Internal Server Error - variable LOST cannot be decrypted/ })
  }
  t.match((await owner.put(`${path}/LOST`, { value: 'again' })).json(), { key: 'LOST', value: 'again' })
  t.match((await owner.get(path)).json(), [{ key: 'LOST', value: 'again' }])
  await execute("update variables set value_encrypted = 'of another key' where project_id = ?", [project.id])
  const removed = await owner.delete(`${path}/LOST`)
  t.equal(removed.statusCode, 200)
  t.same(removed.json(), { key: 'LOST', masked: true, protected: false, environment_scope: '*' })
  t.same((await owner.get(path)).json(), [])
})

t.test('values from before the column `masked` stay masked line by line until somebody changes them', async t => {
  const { project, owner, path } = await subject()
  await makeVariable(project, 'KEY', 'first line of a key\nsecond line of a key')
  await makeVariable(project, 'SHORT', 'a b')
  await makeVariable(project, 'SHOWN', 'first line of a text', false)
  for (const statement of maskedVariables.up) await execute(String(statement))
  await makeVariable(project, 'NEW', 'open sesame')
  const masked = async () => {
    const found = await projectVariables(project.id)
    return found.filter(variable => variable.masked).map(({ key }) => key)
  }
  t.same(await masked(), ['KEY'])
  t.match((await owner.get(path)).json(), [
    { key: 'KEY', masked: true },
    { key: 'NEW', masked: false },
    { key: 'SHORT', masked: false },
    { key: 'SHOWN', masked: false }
  ])
  t.match((await owner.put(`${path}/SHORT`, { value: 'b c' })).json(), { masked: false }, 'it can be changed')
  t.match((await owner.put(`${path}/KEY`, { value: 'a new text' })).json(), { masked: false }, 'by the default')
})

t.test('values of at least 8 characters without white space are masked, unless somebody chooses', async t => {
  const { owner, path } = await subject()
  const masked = async (body: object) => (await owner.post(path, body)).json().masked
  t.equal(await masked({ key: 'A', value: 'sesame12' }), true)
  t.equal(await masked({ key: 'B', value: 'sesame1' }), false)
  t.equal(await masked({ key: 'C', value: 'open sesame' }), false)
  t.equal(await masked({ key: 'D', value: 'open sesame', masked: true }), true)
  t.equal(await masked({ key: 'E', value: 'production', masked: false }), false)
  t.match((await owner.put(`${path}/A`, { value: 'short' })).json(), { masked: false }, 'by the new value')
  t.match((await owner.put(`${path}/E`, { value: 'preproduction' })).json(), { masked: false }, 'the choice stays')
  const short = await owner.put(`${path}/D`, { value: 'short' })
  t.equal(short.statusCode, 400)
  t.match(short.json(), { message: { value: [/too short to be masked/] } })
})

t.test('a key may have several scopes, and then a request names one', async t => {
  const { owner, path } = await subject()
  await owner.post(path, { key: 'HOST', value: 'all' })
  t.equal((await owner.post(path, { key: 'HOST', value: 'one', environment_scope: 'review/*' })).statusCode, 201)
  const taken = await owner.post(path, { key: 'HOST', value: 'x', environment_scope: 'review/*' })
  t.match(taken.json(), { message: { key: ['has already been taken'] } })
  for (const res of [
    await owner.get(`${path}/HOST`),
    await owner.put(`${path}/HOST`, { value: 'x' }),
    await owner.delete(`${path}/HOST`)
  ]) {
    t.equal(res.statusCode, 409)
    t.match(res.json(), { message: /filter\[environment_scope\]/ })
  }
  const scoped = `${path}/HOST?filter[environment_scope]=review/*`
  t.match((await owner.get(scoped)).json(), { value: 'one', environment_scope: 'review/*' })
  const moved = await owner.put(scoped, { value: 'two', environment_scope: 'staging', protected: true })
  t.match(moved.json(), { value: 'two', environment_scope: 'staging', protected: true })
  t.equal((await owner.get(scoped)).statusCode, 404)
  const clash = await owner.put(`${path}/HOST`, {
    value: 'x',
    environment_scope: '*',
    filter: { environment_scope: 'staging' }
  })
  t.match(clash.json(), { message: { key: ['has already been taken'] } })
  t.match((await owner.delete(`${path}/HOST?filter[environment_scope]=*`)).json(), { value: 'all' })
  t.match((await owner.get(`${path}/HOST`)).json(), { value: 'two' })
})

t.test('a build gets variables for its environment and its branch, and the most exact scope wins', async t => {
  const { project, owner, path } = await subject()
  const put = (key: string, value: string, more: object = {}) => owner.post(path, { key, value, ...more })
  await put('HOST', 'any')
  await put('HOST', 'review', { environment_scope: 'review/*' })
  await put('HOST', 'exact', { environment_scope: 'review/a' })
  await put('HOST', 'secret', { environment_scope: 'review/b', protected: true })
  await put('ONLY', 'staging', { environment_scope: 'staging' })
  await put('KEY', 'for-protected', { protected: true })
  const file = `plain: {script: x}
a: {script: x, environment: {name: review/a, url: 'https://$HOST'}}
b: {script: x, environment: {name: review/$NAME}, variables: {NAME: b}}
c: {script: x, environment: {name: staging}}
`
  const runner = await makeRunner({ projects: [project.id] })
  const given = async () => {
    const claim = await claimNext(runner)
    const { variables = [] } = (claim && (await describeBuild(claim, runner))) ?? {}
    const values = new Map(variables.map(({ key, value }) => [key, value]))
    return ['HOST', 'ONLY', 'KEY', 'CI_ENVIRONMENT_URL'].map(key => values.get(key))
  }
  await makePipeline(project, file)
  t.same(await given(), ['any', undefined, 'for-protected', undefined])
  t.same(await given(), ['exact', undefined, 'for-protected', 'https://exact'])
  t.same(await given(), ['secret', undefined, 'for-protected', undefined])
  t.same(await given(), ['any', 'staging', 'for-protected', undefined])
  await app.make.branch(project, 'open')
  await owner.post(`/projects/${project.id}/pipeline`, { ref: 'open' })
  t.same(await given(), ['any', undefined, undefined, undefined])
  t.same(await given(), ['exact', undefined, undefined, 'https://exact'])
  t.same(await given(), ['review', undefined, undefined, undefined], 'not the protected one')
})

t.test('rules see only variables that every build of the branch gets', async t => {
  const { project, owner, path } = await subject()
  await owner.post(path, { key: 'KEY', value: 'x', protected: true })
  await owner.post(path, { key: 'HOST', value: 'x', environment_scope: 'staging' })
  const file = `always: {script: x}
key: {script: x, rules: [{if: $KEY}]}
host: {script: x, rules: [{if: $HOST}]}
`
  const names = (builds: readonly { name: string }[]) => builds.map(({ name }) => name)
  t.same(names(await makePipeline(project, file)), ['always', 'key'])
  await app.make.branch(project, 'open')
  await owner.post(`/projects/${project.id}/pipeline`, { ref: 'open' })
  const open = await rows<{ name: string }>("select name from builds where project_id = ? and ref = 'open'", [
    project.id
  ])
  t.same(names(open), ['always'])
})
