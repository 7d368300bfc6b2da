import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const PATH = '/broadcast_messages'
const HOUR = 3_600_000

const app = await testApp(t)
const root = await app.make.admin()
const admin = app.as(root)
const create = async (body: object) => (await admin.post(PATH, body)).json()
const audited = async (action: string) =>
  row<{ changes: string; target_name: string; actor_name: string }>(
    'select changes, target_name, actor_name from audit_events where action = ? order by id desc limit 1',
    [action]
  )

t.test('only administrators may use them', async t => {
  const user = app.as(await app.make.user())
  const { id } = await create({ message: 'm' })
  for (const path of [PATH, `${PATH}/${id}`]) {
    t.equal((await app.nobody.get(path)).statusCode, 401)
    t.equal((await user.get(path)).statusCode, 403)
  }
  for (const asker of [app.nobody, user]) {
    const status = asker === user ? 403 : 401
    t.equal((await asker.post(PATH, { message: 'm' })).statusCode, status)
    t.equal((await asker.put(`${PATH}/${id}`, { message: 'm' })).statusCode, status)
    t.equal((await asker.delete(`${PATH}/${id}`)).statusCode, status)
  }
  t.equal((await admin.get(`${PATH}/${id}`)).json().message, 'm', 'the message has not changed')
})

t.test('POST sets the defaults', async t => {
  const before = Date.now()
  const res = await admin.post(PATH, { message: 'Down at noon', id: 99, active: false })
  t.equal(res.statusCode, 201)
  const message = res.json()
  t.same(Object.keys(message), ['id', 'message', 'starts_at', 'ends_at', 'color', 'font', 'active'])
  t.match(message, { message: 'Down at noon', color: '#E75E40', font: '#FFFFFF', active: true })
  t.not(message.id, 99)
  const [starts, ends] = [Date.parse(message.starts_at), Date.parse(message.ends_at)]
  t.ok(starts >= before && starts <= Date.now(), 'it starts now')
  t.equal(ends - starts, HOUR, 'and ends in an hour')
  t.same((await admin.get(`${PATH}/${message.id}`)).json(), message)
  t.match(await audited('broadcast.create'), { target_name: 'Down at noon', actor_name: root.username })
})

t.test('POST accepts all attributes', async t => {
  const all = {
    message: 'Neue <b>Platten</b> &\nmehr',
    starts_at: '2030-01-02T03:04:05.678Z',
    ends_at: '2030-01-03T00:00:00.000Z',
    color: '#abc',
    font: '#012345'
  }
  t.match(await create(all), { ...all, active: false })
})

t.test('times are ISO 8601, in any zone', async t => {
  for (const [text, expected] of [
    ['2030-01-02', '2030-01-02T00:00:00.000Z'],
    ['2030-01-02T03:04', '2030-01-02T03:04:00.000Z'],
    ['2030-01-02 03:04:05', '2030-01-02T03:04:05.000Z'],
    ['2030-01-02T03:04:05+02:00', '2030-01-02T01:04:05.000Z'],
    ['2030-01-02T03:04:05-0130', '2030-01-02T04:34:05.000Z'],
    ['2028-02-29T23:59:59.5z', '2028-02-29T23:59:59.500Z']
  ] as const) {
    t.equal((await create({ message: 'm', starts_at: text })).starts_at, expected, text)
  }
  for (const starts_at of [
    'soon',
    '2030-02-30',
    '2030-13-01',
    '2030-01-01T24:30',
    '2030-01-01T10:61',
    '2030-01-01T10:00+25:00',
    '0000-01-01',
    '1969-12-31',
    '99999-01-01',
    1893456000,
    ['2030-01-01'],
    { a: 1 }
  ]) {
    const res = await admin.post(PATH, { message: 'm', starts_at })
    t.equal(res.statusCode, 400, JSON.stringify(starts_at))
    t.equal(res.json().error, 'starts_at is invalid')
  }
})

t.test('a message is active from the start to the end, both included', async t => {
  const { viewBroadcast } = await import('../../../../src/areas/reach/broadcasts/broadcasts.view.js')
  const [starts_at, ends_at] = [new Date(1000), new Date(2000)]
  const active = (at: number) =>
    viewBroadcast({ id: 1, message: '', starts_at, ends_at, color: '', font: '' }, new Date(at)).active
  t.same([999, 1000, 1500, 2000, 2001].map(active), [false, true, true, true, false])
})

const invalid: [string, object, object][] = [
  ['a long message', { message: 'x'.repeat(10_001) }, { message: ['is too long (maximum is 10000 characters)'] }],
  ['a long colour', { font: '#'.repeat(17) }, { font: ['is too long (maximum is 16 characters)'] }],
  ['a blank message', { message: '' }, { message: ["can't be blank"] }],
  ['a message of spaces', { message: ' \n' }, { message: ["can't be blank"] }],
  ['blank times', { starts_at: '', ends_at: ' ' }, { starts_at: ["can't be blank"], ends_at: ["can't be blank"] }],
  ...['red', '#12', '#12345', '#ggg', '#fff;', '#fff}', 'url(x)', '#1234567'].map(
    color =>
      [
        `${color} as a colour`,
        { color, font: color },
        {
          color: ['must be a valid color code'],
          font: ['must be a valid color code']
        }
      ] as [string, object, object]
  )
]
for (const [what, body, message] of invalid) {
  t.test(`refuses ${what}`, async t => {
    const { id } = await create({ message: 'kept' })
    for (const res of [await admin.post(PATH, { message: 'm', ...body }), await admin.put(`${PATH}/${id}`, body)]) {
      t.equal(res.statusCode, 400)
      t.same(res.json().message, message)
    }
    t.equal((await admin.get(`${PATH}/${id}`)).json().message, 'kept')
  })
}

t.test('refuses wrong types and too long texts', async t => {
  for (const [body, error] of [
    [{}, 'message is missing'],
    [{ message: null }, 'message is missing'],
    [{ message: ['m'] }, 'message is invalid'],
    [{ message: { a: 'm' } }, 'message is invalid'],
    [{ message: 'm', color: ['#fff'] }, 'color is invalid']
  ] as const) {
    const res = await admin.post(PATH, body)
    t.equal(res.statusCode, 400)
    t.equal(res.json().error, error)
  }
  t.equal((await create({ message: '😀'.repeat(5000) })).message.length, 10_000, 'the longest allowed text fits')
})

t.test('colours may be blank', async t => {
  t.match(await create({ message: 'm', color: '', font: '' }), { color: '', font: '' })
})

t.test('PUT changes only the given attributes', async t => {
  const before = await create({ message: 'first' })
  const res = await admin.put(`${PATH}/${before.id}`, { ends_at: '2020-01-01T00:00:00Z', font: '#000' })
  t.equal(res.statusCode, 200)
  t.same(res.json(), { ...before, ends_at: '2020-01-01T00:00:00.000Z', font: '#000', active: false })
  t.same(JSON.parse((await audited('broadcast.update'))?.changes ?? ''), {
    ends_at: { before: before.ends_at, after: '2020-01-01T00:00:00.000Z' },
    font: { before: '#FFFFFF', after: '#000' }
  })
  t.same((await admin.put(`${PATH}/${before.id}`, {})).json(), res.json(), 'an empty change changes nothing')
})

t.test('DELETE returns the deleted message', async t => {
  const message = await create({ message: 'gone soon' })
  const res = await admin.delete(`${PATH}/${message.id}`)
  t.equal(res.statusCode, 200)
  t.same(res.json(), message)
  t.match(await audited('broadcast.delete'), { target_name: 'gone soon' })
  for (const answer of [
    await admin.delete(`${PATH}/${message.id}`),
    await admin.get(`${PATH}/${message.id}`),
    await admin.put(`${PATH}/${message.id}`, { message: 'm' }),
    await admin.get(`${PATH}/0`),
    await admin.get(`${PATH}/4294967296`)
  ]) {
    t.equal(answer.statusCode, 404)
    t.same(answer.json(), { message: '404 Not found' })
  }
  t.equal((await admin.get(`${PATH}/first`)).statusCode, 400)
})

t.test('GET lists by id, in pages', async t => {
  await execute('delete from broadcast_messages')
  for (const message of ['a', 'b', 'c']) await create({ message })
  const messages = async (query: Record<string, number>) => {
    const res = await admin.get(PATH, query)
    t.equal(res.statusCode, 200)
    t.equal(res.headers['x-total'], '3')
    return res.json().map(({ message }: { message: string }) => message)
  }
  t.same(await messages({}), ['a', 'b', 'c'])
  t.same(await messages({ per_page: 2, page: 2 }), ['c'])
  t.same(await messages({ page: 9 }), [])
})
