// Boards through the API.
import { execute } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { makeLabel } from '../labels/make-labels.js'

const app = await testApp(t)

async function subject() {
  const group = await app.make.group()
  const project = await app.make.project({ owner: await app.make.admin(), group })
  const owner = app.as(project.owner)
  const boards = `/projects/${project.id}/boards`
  const [board] = (await owner.get(boards)).json()
  const lists = `${boards}/${board.id}/lists`
  const add = async (title: string) =>
    (await owner.post(lists, { label_id: await makeLabel({ project: project.id }, title) })).json()
  const order = async () =>
    (await owner.get(lists))
      .json()
      .map(({ label, position }: { label: { name: string }; position: number }) => [label.name, position])
  return { group, project, owner, boards, board, lists, add, order }
}

t.test('a project has one board, which the first request creates', async t => {
  const { owner, boards, board, add } = await subject()
  t.same(board, { id: board.id, lists: [] })
  const list = await add('doing')
  t.same((await owner.get(boards)).json(), [{ id: board.id, lists: [list] }])
})

t.test('lists are added, moved and removed', async t => {
  const { owner, lists, add, order } = await subject()
  const [a, , c] = [await add('a'), await add('b'), await add('c')]
  t.same(a, { id: a.id, label: { name: 'a', color: '#fff', description: null }, position: 0 })
  t.same((await owner.get(`${lists}/${a.id}`)).json(), a)
  const moved = await owner.put(`${lists}/${c.id}`, { position: 0 })
  t.equal(moved.statusCode, 200)
  t.same(moved.json(), { ...c, position: 0 })
  t.same(await order(), [
    ['c', 0],
    ['a', 1],
    ['b', 2]
  ])
  await owner.put(`${lists}/${c.id}`, { position: 2 })
  t.same(await order(), [
    ['a', 0],
    ['b', 1],
    ['c', 2]
  ])
  const removed = await owner.delete(`${lists}/${a.id}`)
  t.equal(removed.statusCode, 200)
  t.same(removed.json(), a)
  t.same(await order(), [
    ['b', 0],
    ['c', 1]
  ])
  t.equal((await owner.get(`${lists}/${a.id}`)).statusCode, 404)
})

t.test('a list is deleted with its label', async t => {
  const { project, owner, add, order } = await subject()
  await add('a')
  await add('b')
  await owner.delete(`/projects/${project.id}/labels`, { name: 'a' })
  t.same(await order(), [['b', 0]])
})

t.test('refused requests', async t => {
  const { group, project, owner, boards, lists, add } = await subject()
  const list = await add('a')
  const foreign = await makeLabel({ project: (await app.make.project()).id }, 'x')
  const shared = await makeLabel({ group: group.id }, 'of the group')
  t.match((await owner.post(lists, { label_id: shared })).json(), { label: { name: 'of the group' }, position: 1 })
  const moved = { message: { error: 'List could not be moved!' } }
  const missing = { message: { error: 'Label not found!' } }
  const cases = [
    [await owner.post(lists, { label_id: shared }), 400, { message: { label_id: ['has already been taken'] } }],
    [await owner.post(lists, { label_id: foreign }), 400, missing],
    [await owner.post(lists, { label_id: 999_999 }), 400, missing],
    [await owner.post(lists), 400, { error: 'label_id is missing' }],
    [await owner.put(`${lists}/${list.id}`, { position: 0 }), 400, moved],
    [await owner.put(`${lists}/${list.id}`, { position: 2 }), 400, moved],
    [await owner.put(`${lists}/${list.id}`, { position: -1 }), 400, moved],
    [await owner.put(`${lists}/${list.id}`), 400, { error: 'position is missing' }],
    [await owner.get(`${lists}/999999`), 404, { message: '404 Not found' }],
    [await owner.get(`${boards}/999999/lists`), 404, { message: '404 Board Not Found' }],
    [await owner.post(`${boards}/999999/lists`, { label_id: shared }), 404, { message: '404 Board Not Found' }],
    [await owner.delete(`${lists}/999999`), 404, { message: '404 Not found' }]
  ] as const
  for (const [res, status, answer] of cases) {
    t.equal(res.statusCode, status)
    t.match(res.json(), answer)
  }
  await execute('update projects set issues_enabled = 0 where id = ?', [project.id])
  t.equal((await owner.get(boards)).statusCode, 403)
})
