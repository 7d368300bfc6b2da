// Pages with a hundred long texts took the server to 686 MB.
import { transact } from '../../../src/db/connect/transact.js'
import { holdTexts } from '../../../src/db/lists/long-texts.js'
import { requestScope } from '../../../src/lib/request-scope.js'
import { testApp } from '../../helpers/app.js'
import { countStatements } from '../../helpers/statements.js'
import t from '../../helpers/tap.js'

const app = await testApp(t)
const LONG = 'é'.repeat(20_000)
const MIB = 1_048_576

async function subject() {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  return { project, owner, issues: `/projects/${project.id}/issues` }
}

t.test('lists show long texts whole', async t => {
  const { project, owner, issues } = await subject()
  const { id } = (await owner.post(issues, { title: 'long', description: LONG })).json()
  await owner.post(issues, { title: 'short', description: 'short' })
  await owner.post(issues, { title: 'none' })
  const notes = `${issues}/${id}/notes`
  await owner.post(notes, { body: 'short' })
  const milestones = `/projects/${project.id}/milestones`
  const milestone = (await owner.post(milestones, { title: 'v1', description: LONG })).json()
  await owner.put(`${issues}/${id}`, { milestone_id: milestone.id, assignee_id: project.owner.id })
  // A later change would mark the to-do about it as done.
  await owner.post(notes, { body: `${LONG} @${project.owner.username}` })
  await app.make.file(project, 'README.md', '# Read me\n')
  await app.make.branch(project, 'work')
  const requests = `/projects/${project.id}/merge_requests`
  await app.make.file(project, 'more.md', 'more\n', 'work')
  await owner.post(requests, { title: 'long', description: LONG, source_branch: 'work', target_branch: 'master' })

  const list = async (path: string, field: string) =>
    (await owner.get(path, { sort: 'asc' })).json().map((each: Record<string, unknown>) => each[field])
  t.strictSame(await list(issues, 'description'), [LONG, 'short', null])
  t.strictSame(await list('/issues', 'description'), [LONG, 'short', null])
  t.strictSame(await list(requests, 'description'), [LONG])
  t.strictSame(await list(milestones, 'description'), [LONG])
  t.ok((await list(notes, 'body')).includes(`${LONG} @${project.owner.username}`))
  t.match((await owner.get(issues, { sort: 'asc' })).json(), [{ milestone: { description: LONG } }, {}, {}])
  const [todo] = (await owner.get('/todos')).json()
  t.match(todo, { target: { description: LONG }, body: `${LONG} @${project.owner.username}` })
})

t.test('only a page with long texts needs another statement', async t => {
  const { owner, issues } = await subject()
  await owner.post(issues, { title: 'a', description: 'short' })
  const few = await countStatements(() => owner.get(issues))
  await owner.post(issues, { title: 'b', description: 'x'.repeat(16_384) })
  t.equal(await countStatements(() => owner.get(issues)), few)
  await owner.post(issues, { title: 'c', description: LONG })
  await owner.post(issues, { title: 'd', description: LONG })
  t.equal(await countStatements(() => owner.get(issues)), few + 1)
})

t.test('their bytes are bounded until the answers are sent', async t => {
  const { owner, issues } = await subject()
  await owner.post(issues, { title: 'a', description: LONG })
  const ends: (() => void)[] = []
  const hold = (client: string, bytes: number) =>
    requestScope.run({ request: client, client, atEnd: call => ends.push(call) }, () => holdTexts(bytes))
  await hold('192.0.2.1', 48 * MIB)
  let isAnswered = false
  const waits = owner.get(issues).then(answer => {
    isAnswered = true
    return answer
  })
  t.equal((await owner.get('/user')).statusCode, 200, 'other answers do not wait')
  t.equal((await owner.get(issues, { page: 2 })).statusCode, 200)
  t.equal(isAnswered, false)
  for (const end of ends.splice(0)) end()
  t.match(await waits, { statusCode: 200 })
  t.equal((await owner.get(issues)).statusCode, 200, 'an answer that was sent holds nothing')

  await hold('192.0.2.1', 48 * MIB)
  // Another address: the last answer is kept.
  const refused = await owner.get(issues, { per_page: 10 })
  t.equal(refused.statusCode, 503)
  t.match(refused.json(), { message: /Too many lists with long texts/ })
  t.equal(refused.headers['retry-after'], '5')
  for (const end of ends.splice(0)) end()
})

t.test('a request waits neither for itself nor in a transaction', async t => {
  const ends: (() => void)[] = []
  const as = (client: string, work: () => Promise<unknown>) =>
    requestScope.run({ request: client, client, atEnd: call => ends.push(call) }, work)
  await t.resolves(as('192.0.2.1', () => Promise.all([1, 2, 3].map(() => holdTexts(10 * MIB)))))
  await t.resolves(as('192.0.2.2', () => transact(() => holdTexts(10 * MIB))))
  for (const end of ends.splice(0)) end()
  await t.resolves(as('192.0.2.3', () => holdTexts(48 * MIB)))
  for (const end of ends.splice(0)) end()
})
