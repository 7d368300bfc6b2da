import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { FastifyRequest } from 'fastify'
import { loadConfig } from '../../../src/config.js'
import { readCommit } from '../../../src/git/objects/objects.js'
import { outputOf, runGit, startGit } from '../../../src/git/process/run.js'
import { slotCounts, takeSlot } from '../../../src/git/process/slots.js'
import { type Checkout, checkoutCommands, sendObjects } from '../../../src/git/repository/checkout.js'
import { checkRepository, repackRepository, writeCommitGraph } from '../../../src/git/repository/maintenance.js'
import { closeGitProcesses, endGitProcesses } from '../../../src/git/repository/processes.js'
import { answerTo } from '../../../src/server/plugins/errors.js'
import { nap, processesWith, sleeperOf } from '../../helpers/naps.js'
import t from '../../helpers/tap.js'
import { until } from '../../helpers/until.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

t.test("git gets nothing of the caller's environment", async t => {
  const repository = await repositoryWith(t)
  process.env.GIT_DIR = '/nowhere'
  process.env.SECRET_OF_SERVER = 'yes'
  t.teardown(() => {
    delete process.env.GIT_DIR
    delete process.env.SECRET_OF_SERVER
  })
  t.equal((await runGit(['rev-parse', '--git-dir'], { repository })).toString().trim(), repository)
  const shown = (await runGit(['-c', 'alias.show-all=!env', 'show-all'], { repository })).toString()
  t.notMatch(shown, /SECRET|nowhere/)
  t.match(shown, /HOME=\/nonexistent/)
  const settings = (await runGit(['config', '--list', '--show-origin'], { repository })).toString()
  t.notMatch(settings, /gitconfig/)
})

t.test('a request whose machine loses the storage is answered with 503', async t => {
  const repository = await repositoryWith(t)
  const running = runGit(['-c', `alias.wait=!sleep ${nap(1)}`, 'wait'], { repository }).catch(error => error)
  await until('it runs', () => processesWith(nap(1)).length > 0)
  endGitProcesses(dirname(repository))
  const error = await running
  t.match(error, { name: 'GitAway', code: null })
  t.match(answerTo(error, {} as FastifyRequest), { status: 503, retryAfter: 2 })
})

t.test('time limit, output limit, abort signal and failures end git', async t => {
  const repository = await repositoryWith(t, 20)
  const sleep = ['-c', `alias.wait=!sleep ${nap(1)} & sleep ${nap(1)}`, 'wait']
  await t.rejects(runGit(sleep, { repository, timeout: 0.2 }), { name: 'GitTimeout', code: null, message: /timeout/ })
  const leaving = new AbortController()
  const run = runGit(sleep, { repository, signal: leaving.signal })
  await sleeperOf(1)
  leaving.abort()
  await t.rejects(run, { name: 'GitFailure', message: /killed/ })
  await until('the children of git have ended, too', () => processesWith(`sleep\0${nap(1)}`).length === 0)
  await t.rejects(runGit(['cat-file', 'blob', 'master:big.bin'], { repository, maxOutput: 1000 }), {
    message: /1000 bytes/
  })
  await t.rejects(runGit(['rev-parse', '--verify', 'nothing'], { repository }), {
    code: 128,
    stderr: /Needed a single/
  })
  await t.rejects(runGit(['status'], { cwd: '/nowhere' }), { name: 'GitFailure' })
  const broken = (async function* () {
    yield Buffer.from('half')
    throw new Error('cut')
  })()
  await t.rejects(runGit(['hash-object', '--stdin'], { repository, input: broken }), { message: /killed/ })
  const args = ['cat-file', 'blob', 'HEAD:nothing']
  const failing = await startGit(args, { repository })
  await t.rejects(buffer(outputOf(args, failing)), { name: 'GitFailure', code: 128 })
  t.same(slotCounts(), { running: 0, waiting: 0 })
})

t.test('slots: each repository has a share, other requests wait, and the queue has a limit', async t => {
  loadConfig({ git: { memory: 64 * 1024 ** 3 } })
  t.teardown(() => void loadConfig({}))
  const mine = { repository: '/a', long: true }
  const held = [await takeSlot(mine), await takeSlot(mine), await takeSlot(mine)]
  const order: string[] = []
  const fourth = takeSlot(mine).then(release => {
    order.push('fourth')
    return release
  })
  held.push(await takeSlot({ repository: '/a' }))
  const short = takeSlot({ repository: '/a' }).then(release => {
    order.push('short')
    return release
  })
  held.push(await takeSlot({ repository: '/b' }))
  t.same(slotCounts(), { running: 5, waiting: 2 })
  const leaving = new AbortController()
  const left = takeSlot({ ...mine, signal: leaving.signal })
  leaving.abort(new Error('gone'))
  await t.rejects(left, { message: 'gone' })
  held[3]?.()
  held[3]?.()
  held.push(await short)
  held[0]?.()
  held.push(await fourth)
  t.same(order, ['short', 'fourth'])
  for (const release of held) release()
  const all = await Promise.all(Array.from({ length: 16 }, (_, index) => takeSlot({ repository: `/${index}` })))
  const waiting = Array.from({ length: 256 }, () => takeSlot({}))
  await t.rejects(takeSlot({}), { name: 'Unavailable' })
  for (const release of all) release()
  for (const turn of waiting) (await turn)()
  t.same(slotCounts(), { running: 0, waiting: 0 })
})

/** Checks out as a build does, without the sandbox around it. Returns the exit code. */
async function checkOut(repository: string, into: string, checkout: Checkout): Promise<number> {
  const { signal } = new AbortController()
  const child = spawn('bash', ['-e', '-c', checkoutCommands(checkout, 3).join('\n')], {
    cwd: into,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe']
  })
  const ended = once(child, 'exit')
  await sendObjects(repository, child.stdio[3] as Duplex, { timeout: 60, signal }).catch(() => undefined)
  const [code] = await ended
  return code as number
}

t.test('a build gets exactly its commit', async t => {
  const repository = await repositoryWith(t, 100)
  const [head = '', , third = ''] = git(repository, ['rev-list', '--first-parent', 'master']).split('\n')
  git(repository, ['update-ref', 'refs/internal/kept', third])
  const into = join(t.testdirName, 'build')
  mkdirSync(into)
  const checkout = { ref: 'master', tag: false, depth: 2 }
  t.equal(await checkOut(repository, into, { ...checkout, sha: head }), 0)
  t.equal(git(into, ['rev-parse', 'HEAD']), head)
  t.equal(git(into, ['status', '--porcelain']), '')
  t.equal(git(into, ['remote']), '')
  t.equal(git(into, ['rev-parse', 'origin/master']), head)
  t.equal(git(into, ['rev-list', '--count', 'HEAD', '--first-parent']), '2')
  t.notMatch(readFileSync(join(into, '.git/config'), 'utf8'), /url/)
  t.notOk(existsSync(join(into, '.git/FETCH_HEAD')))
  t.same(readdirSync(join(into, 'module')), [], 'submodules stay empty')
  t.throws(() => checkoutCommands({ ...checkout, sha: '--version' }, 3), TypeError)

  const old = join(t.testdirName, 'old')
  mkdirSync(old)
  t.equal(await checkOut(repository, old, { sha: third, ref: 'v0', tag: true, depth: 0 }), 0)
  t.equal(git(old, ['rev-list', '--count', 'HEAD']), git(repository, ['rev-list', '--count', third]))
  t.equal(git(old, ['describe', '--tags']), 'v0')
  const none = join(t.testdirName, 'none')
  mkdirSync(none)
  t.not(await checkOut(repository, none, { ...checkout, sha: 'f'.repeat(40) }), 0)
})

t.test('maintenance keeps existing objects and reports missing ones', async t => {
  const repository = await repositoryWith(t, 100)
  const head = git(repository, ['rev-parse', 'master'])
  await readCommit(repository, head)
  const young = git(repository, ['hash-object', '-w', '--stdin'], 'not referred to yet')
  await writeCommitGraph(repository)
  await repackRepository(repository)
  await writeCommitGraph(repository)
  await repackRepository(repository)
  const packs = readdirSync(join(repository, 'objects/pack'))
  t.equal(packs.filter(name => name.endsWith('.bitmap')).length, 1)
  t.ok(existsSync(join(repository, 'objects/info/commit-graphs')))
  t.equal(git(repository, ['cat-file', 'blob', young]), 'not referred to yet')
  t.same(await checkRepository(repository), { ok: true, problems: [] })
  t.equal((await readCommit(repository, head))?.id, head)
  writeFileSync(
    join(repository, 'packed-refs'),
    `${readFileSync(join(repository, 'packed-refs'))}${'e'.repeat(40)} refs/heads/lost\n`
  )
  t.match(await checkRepository(repository), { ok: false, problems: [/lost/] })
})

t.test('the repository has the push limit of the configuration', async t => {
  loadConfig({})
  const repository = await repositoryWith(t)
  t.equal(git(repository, ['config', 'receive.maxInputSize']), '2147483648')
})
