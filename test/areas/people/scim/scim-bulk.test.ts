// Many operations in one request, as in RFC 7644, 3.7.
import { row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { auditOf, directory } from './directory.js'

const app = await testApp(t)
const ask = await directory(app)
const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest'

interface Answer {
  readonly method: string
  readonly bulkId?: string
  readonly location?: string
  readonly version?: string
  readonly status: string
  readonly response?: { readonly scimType?: string; readonly detail: string }
}

const bulk = async (Operations: object[], more: object = {}) => {
  const { status, body } = await ask('POST', '/Bulk', { schemas: [BULK], Operations, ...more })
  return { status, body, answers: (body.Operations ?? []) as Answer[] }
}
const user = (name: string, more: object = {}) => ({
  method: 'POST',
  path: '/Users',
  bulkId: name,
  data: { userName: `${name}@example.com`, ...more }
})
const idOf = (answer: Answer | undefined) => answer?.location?.split('/').at(-1) ?? ''
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

t.test('operations of all kinds, with references to what the request creates', async t => {
  const { status, body, answers } = await bulk([
    {
      method: 'POST',
      path: '/Groups',
      bulkId: 'team',
      data: { displayName: 'Team', members: [{ value: 'bulkId:ann' }, { value: 'bulkId:ben' }] }
    },
    user('ann'),
    user('ben'),
    {
      method: 'PATCH',
      path: '/Users/bulkId:ben',
      data: { Operations: [{ op: 'replace', path: 'displayName', value: 'Ben' }] }
    }
  ])
  t.equal(status, 200)
  t.same(body.schemas, ['urn:ietf:params:scim:api:messages:2.0:BulkResponse'])
  t.same(statuses(answers), ['201', '201', '201', '200'])
  t.match(answers[1], { method: 'POST', bulkId: 'ann', location: /\/scim\/v2\/Users\/\d+$/, version: /^W\/"/ })
  const [group, ann, ben] = answers.map(idOf)
  t.match((await ask('GET', `/Groups/${group}`)).body.members, [{ value: ann }, { value: ben }])
  t.match((await ask('GET', `/Users/${ben}`)).body, { displayName: 'Ben', groups: [{ value: group }] })
  t.match(await auditOf('user', ann ?? ''), ['okta scim user.create', 'okta scim scim_user.create'])
  const path = `/Users/${ann}`
  const next = await bulk([
    { method: 'put', path, data: { userName: 'ann@example.com', displayName: 'Ann' } },
    { method: 'DELETE', path, version: answers[1]?.version },
    { method: 'DELETE', path: `/Groups/${group}` }
  ])
  t.same(statuses(next.answers), ['200', '412', '204'])
  t.match(next.answers[1], { location: /\/Users\/\d+$/, response: { status: '412' } })
  t.equal((await ask('GET', `/Groups/${group}`)).status, 404)
})

t.test('an operation that fails stops no others, unless the client wants it', async t => {
  const wrong: object[] = [
    { method: 'POST', path: '/Users', data: { userName: 'x@example.com' } },
    { method: 'POST', path: '/Users/1', bulkId: 'a', data: {} },
    { method: 'POST', path: '/Users', bulkId: 'b' },
    { method: 'POST', path: '/Users', bulkId: 'c', data: { userName: 'no address' } },
    { method: 'GET', path: '/Users/1' },
    { method: 'PUT', path: '/Users', data: {} },
    { method: 'PATCH', path: '/Users/1', data: { Operations: 'x' } },
    { method: 'DELETE', path: '/Users/999999' },
    { method: 'DELETE', path: '/Users/../Groups' },
    { method: 'DELETE', path: '/Bulk' },
    { method: 'DELETE', path: '/Users/bulkId:nobody' }
  ]
  const { answers } = await bulk([...wrong, user('carl')])
  t.same(statuses(answers), [...Array(7).fill('400'), '404', '400', '400', '400', '201'])
  for (const { response } of answers.slice(0, -1)) t.match(response, { schemas: [/Error$/], detail: /./ })
  const few = await bulk(
    [user('dora'), user('carl'), user('emil'), user('carla', { userName: 'carl@example.com' }), user('fay')],
    {
      failOnErrors: 2
    }
  )
  t.same(statuses(few.answers), ['201', '409', '201', '409'])
  t.equal(few.answers[1]?.response?.scimType, 'uniqueness')
  t.notOk(await row("select 1 from scim_users where user_name = 'fay@example.com'"))
})

t.test('references that nothing can resolve end the request', async t => {
  const group = (bulkId: string, ...members: string[]) => ({
    method: 'POST',
    path: '/Groups',
    bulkId,
    data: { displayName: `Circle ${bulkId}`, members: members.map(value => ({ value: `bulkId:${value}` })) }
  })
  const { answers } = await bulk([
    group('one', 'two'),
    group('two', 'one'),
    group('three', 'bad'),
    user('bad', { emails: [{ value: 'no address' }] })
  ])
  t.same(statuses(answers), ['400', '400', '400', '400'])
  t.match(answers[0]?.response?.detail, /^bulkId:two names no resource that this request has created$/)
  t.equal((await bulk([user('twice'), user('twice')])).status, 400, 'a name must be unique')
})

t.test('a request is limited in operations and bytes', async t => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ method: 'DELETE', path: `/Users/${1_000_000 + at}` }))
  t.equal((await bulk(many(101))).status, 413)
  t.equal((await bulk(many(100))).answers.length, 100)
  const large = await bulk([user('large', { title: 'x'.repeat(1_048_576) })])
  t.match([large.status, large.body], [413, { status: '413' }])
  t.equal((await bulk([], { Operations: 'x' })).status, 400)
  t.match((await ask('GET', '/Bulk')).headers.allow, 'POST')
  let deep: object = {}
  for (let level = 0; level < 5000; level++) deep = { deep }
  t.same(statuses((await bulk([user('deep', { title: deep })])).answers), ['201'])
})
