// Tests the commands for builds, pipelines and variables with a real database and real traces.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { finishBuild } from '../../src/areas/ci/builds/claim.js'
import { root } from '../../src/config.js'
import { row } from '../../src/db/connect/sql.js'
import { measureTrace } from '../../src/storage/measure.js'
import { appendTrace, readTrace } from '../../src/storage/traces.js'
import { beginBuild, endBuild, makePipeline, type TestBuild } from '../areas/ci/builds/make-builds.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: readonly (string | number)[], input?: string) =>
  cli(args.map(String), { environment, ...(input !== undefined && { input }) })

const CI = `one: {script: [make], stage: build}
two: {script: [make], stage: test}
by-hand: {script: [make], stage: test, when: manual}
`
const project = await factory.project()
const [one, two, byHand] = (await makePipeline(project, CI)) as [TestBuild, TestBuild, TestBuild]
await endBuild(one, { trace: 'line 1\n\u001b[32;1m$ make\u001b[0;m\nline 3\n', artifacts: Buffer.from('archive') })
const statusOf = async ({ id }: { id: number }) =>
  (await row<{ status: string }>('select status from builds where id = ?', [id]))?.status

t.test('builds are listed with filters, and shown', async t => {
  const all = (await run(['builds', 'list', '--project', project.path, '--json'])).json()
  t.match(all, { total: 3, builds: [{ id: byHand.id }, { id: two.id }, { id: one.id, project: project.path }] })
  const part = await run(['builds', 'list', '--status', 'success', '--status', 'failed', '--limit', 1])
  t.match(part.stdout, new RegExp(`^ID .*\\n${one.id} .*build +one +master +success +built-in runner .*\\n$`))
  const everything = (await run(['builds', 'list', '--pipeline', one.pipelineId, '--all', '--json'])).json()
  t.match(everything, { total: 3, builds: [{}, { status: 'pending', when: 'on_success', allow_failure: false }, {}] })
  t.match((await run(['builds', 'show', one.id, '--json'])).json(), { id: one.id, status: 'success', trace_size: 33 })
})

t.test('a trace is printed unchanged, and as JSON', async t => {
  const { code, stdout } = await run(['builds', 'trace', one.id])
  t.equal(code, 0)
  t.equal(stdout, 'line 1\n\u001b[32;1m$ make\u001b[0;m\nline 3\n')
  t.match((await run(['builds', 'trace', one.id, '--json'])).json(), { status: 'success', attempt: 1, size: 33 })
  t.match(await run(['builds', 'trace', 999_999]), { code: 3, stderr: 'gitstead: no build has the number 999999\n' })
})

t.test('a trace is followed to the end of the build', async t => {
  const claim = await beginBuild(two)
  const key = { build: two.id, attempt: claim.attempt }
  await appendTrace(key, Buffer.from('first\n'))
  const { NODE_OPTIONS: _, ...clean } = process.env
  const args = [join(root, 'bin/gitstead'), 'builds', 'trace', String(two.id), '--follow']
  const child = spawn(process.execPath, args, { env: { ...clean, ...environment } })
  let text = ''
  child.stdout.on('data', chunk => (text += String(chunk)))
  while (!text.includes('first\n')) await once(child.stdout, 'data')
  await appendTrace(key, Buffer.from('second\n'))
  while (!text.includes('second\n')) await once(child.stdout, 'data')
  await appendTrace(key, Buffer.from('third\n'))
  await finishBuild(claim, { status: 'failed', reason: 'script_failure' }, await measureTrace(key))
  const [code] = (await once(child, 'close')) as [number]
  t.equal(text, 'first\nsecond\nthird\n')
  t.equal(code, 1, 'the build failed')
})

t.test('builds are started by hand, retried, canceled and erased', async t => {
  t.match(await run(['builds', 'play', two.id]), {
    code: 4,
    stderr: /is not a waiting manual build: its status is failed/
  })
  t.same((await run(['builds', 'play', byHand.id, '--json'])).json(), { played: [byHand.id], failed: [] })
  t.equal(await statusOf(byHand), 'pending')
  const { retried } = (await run(['builds', 'retry', two.id, '--json'])).json() as { retried: { retried_as: number }[] }
  t.match(await run(['builds', 'cancel', retried[0]?.retried_as ?? 0]), { code: 0, stdout: /^canceled 1: / })
  t.match(
    (await run(['builds', 'erase', one.id, '--dry-run'])).stdout,
    `would erase the trace and the artifacts of build ${one.id} (`
  )
  t.match((await run(['builds', 'erase', one.id, '--yes', '--json'])).json(), { erased: { id: one.id } })
  t.equal((await readTrace({ build: one.id, attempt: 1 })).length, 0)
  t.match(await run(['builds', 'erase', one.id, '--yes']), { code: 4, stderr: /not erasable/ })
})

t.test('pipelines are run, listed, shown, canceled and retried', async t => {
  const made = (await run(['pipelines', 'run', project.path, '--json'])).json() as { id: number }
  t.match(made, { ref: 'master', source: 'api', status: 'pending', project: project.path })
  t.match(await run(['pipelines', 'run', project.path, '--ref', 'none']), { code: 2, stderr: /Reference not found/ })
  const list = await run(['pipelines', 'list', '--project', project.path, '--all'])
  t.match(list.stdout, new RegExp(`^ID .*\\n${made.id} .* pending .*\\n${one.pipelineId} `))
  const canceled = await run(['pipelines', 'cancel', made.id, 999_999, '--json'])
  t.equal(canceled.code, 3)
  t.match(canceled.json(), { canceled: [{ id: made.id, status: 'canceled' }], failed: [{ argument: 999_999 }] })
  t.equal((await run(['pipelines', 'retry', made.id])).stdout, `pipeline ${made.id} is running\n`)
  t.match((await run(['pipelines', 'show', made.id])).stdout, /^status: running\n[\s\S]*\nbuild +\d+ +one +canceled/m)
})

t.test('variables are set from standard input, listed without values, and removed', async t => {
  const { path } = project
  t.match(await run(['variables', 'set', path, 'KEY'], 'one\ntwo\n'), {
    code: 0,
    stdout: `created variable KEY of ${path}\n`
  })
  t.same((await run(['variables', 'set', path, 'KEY', '--json'], 'a secret\n')).json(), { key: 'KEY', made: false })
  t.match(await run(['variables', 'set', path, 'no-name'], 'x'), { code: 2, stderr: /^gitstead: key can contain only/ })
  t.equal(
    (await run(['variables', 'list', path])).stdout,
    'KEY  BYTES  SCOPE  MASKED  PROTECTED\nKEY  8      *      no      no\n'
  )
  const scoped = ['--scope', 'review/*', '--protected', '--masked']
  t.match(await run(['variables', 'set', path, 'KEY', ...scoped], 'a secret\n'), { stdout: /^created/ })
  const settings = { masked: true, protected: true, environment_scope: 'review/*' }
  t.match((await run(['variables', 'list', path, '--json'])).json(), { variables: [{ key: 'KEY' }, settings] })
  t.match(await run(['variables', 'set', path, 'KEY', ...scoped.slice(0, 2)], 'other secret\n'), { stdout: /^changed/ })
  t.match((await run(['variables', 'list', path, '--json'])).json(), { variables: [{ key: 'KEY' }, settings] })
  t.match(await run(['variables', 'unset', path, 'KEY', '--yes']), { code: 4, stderr: /--scope/ })
  t.match(await run(['variables', 'unset', path, 'KEY', '--scope', 'review/*', '--yes']), { code: 0 })
  t.match((await run(['variables', 'list', path, '--values', '--json'])).json(), { variables: [{ value: 'a secret' }] })
  t.match(await run(['variables', 'unset', path, 'KEY', 'NONE', '--yes']), { code: 3, stdout: /^removed variable KEY/ })
  t.equal(await row('select id from variables'), undefined)
})
