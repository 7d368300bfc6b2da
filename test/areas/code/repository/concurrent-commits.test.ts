// Commits, cherry-picks and merges that change one branch at the same moment: all of them are accepted.
import { execFileSync } from 'node:child_process'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Origin } from '../../../../src/access/actor.js'
import { changeBranch } from '../../../../src/areas/code/refs/branch-turns.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { RefMoved, refValue, updateRef } from '../../../../src/git/refs/refs.js'
import { requestScope } from '../../../../src/lib/request-scope.js'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import { originBy, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const TIMES = [...Array(24).keys()]
const MASTER = 'refs/heads/master'
const CHANGED = 'You are attempting to update a file that has changed since you started editing it.'

async function subject() {
  const project = await app.make.project()
  await app.make.file(project, 'README', 'read me\n')
  return { project, owner: app.as(project.owner), path: `/projects/${project.id}/repository` }
}

const git = ({ id }: TestProject, ...args: string[]) =>
  execFileSync('git', ['-C', repositoryPath({ id, storage: 'default' }), ...args], {
    env: environment,
    encoding: 'utf8'
  }).trim()

const aFile = (name: string | number) => ({
  file_path: `${name}.txt`,
  branch_name: 'master',
  content: `${name}\n`,
  commit_message: `Add ${name}`
})

t.test('24 clients that commit to one branch at the same moment are all accepted', async t => {
  const { project, owner, path } = await subject()
  const made = TIMES.map(number =>
    number % 2 === 0
      ? owner.post(`${path}/files`, aFile(number))
      : owner.post(`${path}/commits`, {
          branch_name: 'master',
          commit_message: `Add ${number}`,
          actions: [{ action: 'create', file_path: `${number}.txt`, content: `${number}\n` }]
        })
  )
  const statuses = (await Promise.all(made)).map(({ statusCode }) => statusCode)
  t.same(
    statuses,
    TIMES.map(() => 201)
  )
  t.equal(git(project, 'rev-list', '--count', 'master'), '25')
  t.equal(git(project, 'rev-list', '--count', '--min-parents=2', 'master'), '0')
  t.equal(git(project, 'ls-tree', '--name-only', 'master').split('\n').length, 25)
})

t.test('a commit starts again whenever another server moves the branch', async t => {
  const { project, owner, path } = await subject()
  const repository = repositoryPath({ id: project.id, storage: 'default' })
  const made = TIMES.map(number => owner.post(`${path}/files`, aFile(number)))
  // The other server knows nothing of the turns.
  const MOVES = 20
  for (let moves = 0; moves < MOVES; await nextTurn()) {
    const old = (await refValue(repository, MASTER)) ?? ''
    const next = git(project, 'commit-tree', '-m', `other ${moves}`, '-p', old, `${old}^{tree}`)
    const move = updateRef(repository, [{ ref: MASTER, old, new: next }])
    await move.then(() => moves++).catch(error => t.type(error, RefMoved))
  }
  t.same(
    (await Promise.all(made)).map(({ statusCode }) => statusCode),
    TIMES.map(() => 201)
  )
  t.equal(git(project, 'rev-list', '--count', 'master'), String(1 + TIMES.length + MOVES))
  t.equal(git(project, 'ls-tree', '--name-only', 'master').split('\n').length, 25)
})

t.test('merges and cherry-picks are accepted while others commit to their branch', async t => {
  const { project, owner, path } = await subject()
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) {
    await app.make.branch(project, name)
    await app.make.file(project, `${name}-file`, name, name)
  }
  const wishes = await Promise.all(
    ['a', 'b'].map(name =>
      owner.post(`/projects/${project.id}/merge_requests`, {
        source_branch: name,
        target_branch: 'master',
        title: name
      })
    )
  )
  const answers = await Promise.all([
    ...TIMES.map(number => owner.post(`${path}/files`, aFile(number))),
    ...wishes.map(wish => owner.put(`/projects/${project.id}/merge_requests/${wish.json().id}/merge`)),
    ...['c', 'd'].map(name => owner.post(`${path}/commits/${name}/cherry_pick`, { branch: 'master' }))
  ])
  t.same(
    answers.map(({ statusCode }) => statusCode),
    [...TIMES.map(() => 201), 200, 200, 201, 201]
  )
  t.equal(git(project, 'rev-list', '--count', '--min-parents=2', 'master'), '2')
  t.equal(git(project, 'ls-tree', '--name-only', 'master').split('\n').length, 1 + 24 + 4)
})

t.test('a commit with last_commit_id is refused when the file has changed since', async t => {
  const { owner, path } = await subject()
  const newest = async (file = 'README') =>
    (await owner.get(`${path}/files`, { file_path: file, ref: 'master' })).json().last_commit_id as string
  const known = await newest()
  const change = { ...aFile(0), file_path: 'README' }
  const action = (kind: object) =>
    owner.post(`${path}/commits`, { branch_name: 'master', commit_message: 'x', actions: [kind] })
  t.equal((await owner.post(`${path}/files`, aFile('other'))).statusCode, 201)
  const write = (id: string) => owner.put(`${path}/files`, { ...change, content: `after ${id}`, last_commit_id: id })
  t.equal((await write(known)).statusCode, 200, 'a commit that changes another file does not count')
  const moved = { action: 'move', file_path: 'moved', previous_path: 'README', last_commit_id: known }
  const late = [
    await write(known),
    await owner.delete(`${path}/files`, {
      file_path: 'README',
      branch_name: 'master',
      commit_message: 'x',
      last_commit_id: known
    }),
    await action({ action: 'update', file_path: 'README', content: 'x', last_commit_id: known }),
    await action({ action: 'delete', file_path: 'README', last_commit_id: known }),
    await action(moved)
  ]
  for (const res of late) t.same([res.statusCode, res.json().message], [400, CHANGED])
  t.equal((await action({ ...moved, last_commit_id: await newest() })).statusCode, 201)
  const removal = { file_path: 'moved', branch_name: 'master', commit_message: 'x' }
  const deleted = await owner.delete(`${path}/files`, { ...removal, last_commit_id: await newest('moved') })
  t.equal(deleted.statusCode, 200)
})

t.test('of several edits of one file from the same last_commit_id, one is accepted', async t => {
  const { owner, path } = await subject()
  const known = (await owner.get(`${path}/files`, { file_path: 'README', ref: 'master' })).json().last_commit_id
  const answers = await Promise.all(
    [1, 2, 3, 4].map(number =>
      owner.put(`${path}/files`, { ...aFile(number), file_path: 'README', last_commit_id: known })
    )
  )
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 400, 400, 400])
})

t.test('turns are bounded and fair, and other branches need no turn', async t => {
  const origins = await Promise.all([1, 2].map(async () => originBy(await app.make.user())))
  const [busy, other] = origins
  if (!busy || !other) throw new Error('no origins')
  const project = { id: 2_000_000_000 }
  const order: string[] = []
  let end: () => void = () => undefined
  const held = new Promise<void>(resolve => {
    end = resolve
  })
  const turn = (name: string, origin = busy, branch = 'busy', wait = Promise.resolve()) =>
    changeBranch(project, branch, origin, async () => {
      order.push(name)
      await wait
    })
  const first = turn('first', busy, 'busy', held)
  const waiting = [...Array(200).keys()].map(number => turn(`busy ${number}`))
  await t.rejects(turn('one too many'), { message: /^Too many of your changes/, retryAfter: Number })
  const fair = turn('other', other)
  await turn('another branch', busy, 'quiet')
  t.same(order, ['first', 'another branch'])
  end()
  await Promise.all([first, fair, ...waiting])
  t.ok(order.indexOf('other') <= 3, `the other user is number ${order.indexOf('other')}`)
  t.equal(order.length, 203)
})

t.test('a few users with changes of many branches leave places for others', async t => {
  const origins = await Promise.all([...Array(9).keys()].map(async () => originBy(await app.make.user())))
  const project = { id: 2_000_000_001 }
  let end: () => void = () => undefined
  const held = new Promise<void>(resolve => {
    end = resolve
  })
  const turn = (origin: Origin, branch: string) => changeBranch(project, branch, origin, () => held)
  const [last] = origins
  if (!last) throw new Error('no origins')
  const branches = ['a', 'b', 'c', 'd', 'e']
  const all: Promise<void>[] = branches.map(branch => turn(last, branch))
  for (const origin of origins.slice(1)) {
    for (let at = 0; at < 250; at++) all.push(turn(origin, branches[at % branches.length] ?? ''))
  }
  const own = turn(last, 'a')
  const ends = Promise.allSettled(all)
  end()
  await t.resolves(own)
  t.ok(
    (await ends).slice(5, 5 + 250).filter(({ status }) => status === 'rejected').length === 50,
    '200 of one user wait'
  )
})

t.test('a change ends when its time is over, or its client has left', async t => {
  const origin = originBy(await app.make.user())
  const project = { id: 2_000_000_002 }
  const now = performance.now.bind(performance)
  let later = 0
  const clock = mock.method(performance, 'now', () => now() + later)
  t.teardown(() => clock.mock.restore())
  let tries = 0
  const slow = async () => {
    tries++
    later += 16_000
    throw new RefMoved(MASTER)
  }
  await t.rejects(changeBranch(project, 'moves', origin, slow), { message: /changes too often/, retryAfter: Number })
  t.equal(tries, 2)

  const ends: (() => void)[] = []
  const ofClient = (change: () => Promise<void>) =>
    requestScope.run({ request: 'x', client: 'x', atEnd: call => ends.push(call) }, () =>
      changeBranch(project, 'left', origin, change)
    )
  const leave = () => {
    for (const end of ends.splice(0)) end()
  }
  tries = 0
  const waits: Promise<unknown>[] = []
  const leaves = ofClient(async () => {
    tries++
    waits.push(t.rejects(ofClient(slow), { message: /client has left/ }))
    leave()
    throw new RefMoved(MASTER)
  })
  await t.rejects(leaves, { message: /client has left/ })
  await Promise.all(waits)
  t.equal(tries, 1)
})
