// Tests the main job of an appliance, from its first user to its metrics, with real processes, a real git client and a
// real listener.
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { nap, sleeperOf } from '../helpers/naps.js'
import { gitstead, makeUser, processesOf, startAppliance } from './appliance.js'
import { askApi, eventually, git, type Hook, Receiver, remoteUrl, unzip } from './client.js'
import { makePast } from './past.js'

const CI_FILE = `stages: [build, test]
compile:
  stage: build
  only: [master]
  script:
    - for step in 1 2 3 4 5; do echo "step $step"; sleep ${nap(1)} || true; done
    - mkdir -p out && echo "made of $CI_COMMIT_SHA" > out/notes.txt
    - cp data/l*go.bin out/logo.bin
  artifacts:
    paths: [out/]
check:
  stage: test
  only: [master]
  script:
    - grep "$CI_COMMIT_SHA" out/notes.txt
    - echo checked
fails:
  stage: test
  only: [master]
  script:
    - echo about to fail
    - exit 7
`

interface Build {
  id: number
  name: string
  status: string
  artifacts_file: { filename: string; size: number } | null
}

interface Pipeline {
  id: number
  status: string
  ref: string
  sha: string
}

/** Every object and every ref of a repository. */
async function contentsOf(repository: string): Promise<{ objects: string[]; refs: string }> {
  const objects = await git(repository, ['rev-list', '--objects', '--all', '--no-object-names'])
  const refs = await git(repository, ['for-each-ref', '--format=%(refname) %(objectname) %(*objectname)'])
  return { objects: objects.split('\n').sort(), refs }
}

function hasValidSignature(t: Test, { headers, text }: Hook, token: string): void {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', token).update(signed).digest('base64')}`)
}

t.test('the main job: users, hooks, pushes, clones, builds, traces, artifacts and metrics', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-main-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const source = join(folder, 'source')
  makePast(source, { commits: 3000, files: { '.gitstead-ci.yml': CI_FILE } })

  const root = await makeUser(home, 'root', ['--admin'])
  t.match(root, { username: 'root', private_token: /^\S{20}$/ }, 'a command creates a user before the server runs')
  const appliance = await startAppliance({ home })
  t.teardown(() => appliance.stop())
  const ann = await makeUser(home, 'ann')
  t.match(ann, { username: 'ann', private_token: /^\S{20}$/ }, 'a command creates a user while the server runs')

  const { url } = appliance
  const asAnn = <T>(method: string, path: string, body?: unknown) =>
    askApi<T>({ url, token: ann.private_token }, method, path, body)
  const asRoot = <T>(method: string, path: string, body?: unknown) =>
    askApi<T>({ url, token: root.private_token }, method, path, body)

  const receiver = new Receiver()
  await receiver.open()
  t.teardown(() => receiver.close())
  const hook = { url: `http://127.0.0.1:${receiver.port}/hook`, token: 'a token of the hook' }
  t.equal((await asRoot('POST', '/hooks', hook)).status, 201)

  const made = await asAnn<{ id: number; path_with_namespace: string }>('POST', '/projects', { name: 'Engine' })
  t.equal(made.status, 201)
  t.equal(made.json.path_with_namespace, 'ann/engine')
  const project = `/projects/${made.json.id}`
  await eventually(() => receiver.hooks.some(({ body }) => body.event_name === 'project_create'))

  await receiver.close()
  const remote = remoteUrl(url, 'ann/engine', 'ann', ann.private_token)
  await git(source, ['push', '--quiet', remote, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'])
  const sha = await git(source, ['rev-parse', 'master'])

  await t.test('a clone has the same objects and refs as the push', async t => {
    await git(folder, ['clone', '--quiet', '--mirror', remote, 'mirror'])
    const [pushed, cloned] = await Promise.all([contentsOf(source), contentsOf(join(folder, 'mirror'))])
    t.ok(pushed.objects.length > 9000, `${pushed.objects.length} objects`)
    t.same(cloned, pushed)
    t.equal(await git(join(folder, 'mirror'), ['fsck', '--full', '--strict']), '')
    t.equal(await git(join(folder, 'mirror'), ['symbolic-ref', 'HEAD']), 'refs/heads/master')
  })

  t.notOk(
    receiver.hooks.some(({ body }) => body.event_name === 'push'),
    'the receiver was down until now'
  )
  await receiver.open()

  const builds = async () => (await asAnn<Build[]>('GET', `${project}/builds`)).json
  const buildOf = async (name: string) => (await builds()).find(build => build.name === name)

  await t.test('the trace grows while the build runs', async t => {
    const compile = await eventually(() => buildOf('compile'))
    const trace = async () => (await asAnn('GET', `${project}/builds/${compile.id}/trace`)).bytes.toString()
    let last = ''
    const slept: string[] = []
    for (const step of [1, 2, 3, 4, 5]) {
      const next = await eventually(async () => {
        const text = await trace()
        return text.endsWith(`\nstep ${step}\n`) && text
      })
      t.ok(next.startsWith(last), 'each text continues the text before')
      last = next
      // The script takes its next step when its nap has ended.
      const sleeper = await sleeperOf(1, slept)
      slept.push(String(sleeper))
      process.kill(sleeper)
    }
    await eventually(async () => (await buildOf('compile'))?.status === 'success')
    t.ok((await trace()).startsWith(last))
  })

  await t.test('the artifacts of the build can be downloaded', async t => {
    const compile = await eventually(() => buildOf('compile'))
    const archive = await asAnn('GET', `${project}/builds/${compile.id}/artifacts`)
    t.equal(archive.status, 200)
    t.equal(archive.bytes.length, compile.artifacts_file?.size)
    const files = await unzip(archive.bytes)
    t.equal(files.get('out/notes.txt'), `made of ${sha}\n`)
    t.ok(files.has('out/logo.bin'))
  })

  await t.test('a failed build fails its pipeline', async t => {
    const pipelines = async () => (await asAnn<Pipeline[]>('GET', `${project}/pipelines`)).json
    const done = await eventually(async () => {
      const [pipeline] = await pipelines()
      return pipeline && ['success', 'failed'].includes(pipeline.status) && pipeline
    })
    t.match(done, { status: 'failed', ref: 'master', sha })
    t.equal((await pipelines()).length, 1, 'the other branches and the tags have nothing to build')
    t.match(await buildOf('check'), { status: 'success' })
    const fails = await buildOf('fails')
    t.match(fails, { status: 'failed' })
    t.match((await asAnn('GET', `${project}/builds/${fails?.id}/trace`)).bytes.toString(), /about to fail\n/)
  })

  await t.test('a receiver that was down gets the push when it is up again', async t => {
    const isMaster = ({ body }: Hook) => body.event_name === 'push' && body.ref === 'refs/heads/master'
    const push = await eventually(() => receiver.hooks.find(isMaster))
    t.match(push.body, { after: sha, before: '0'.repeat(40), project_id: made.json.id, user_name: 'The ann' })
    t.match(push.headers, { 'x-gitstead-event': 'System Hook', 'x-gitstead-token': hook.token })
    hasValidSignature(t, push, hook.token)
    const branches = () => new Set(receiver.hooks.filter(({ body }) => body.event_name === 'push').map(h => h.body.ref))
    await eventually(() => branches().size === 3)
    const ids = receiver.hooks.map(({ headers }) => headers['webhook-id'])
    t.equal(new Set(ids).size, ids.length, 'each event arrives once')
  })

  await t.test('the command line and the API show the same numbers of jobs', async t => {
    let last: unknown
    const ask = async () => {
      const [{ stdout, code }, { json }] = await Promise.all([
        gitstead(['jobs', 'stats', '--home', home, '--json']),
        asRoot<{ jobs: { processed: number; failed: number }; processes: unknown[]; queues: object }>(
          'GET',
          '/bgjobs/compound_metrics'
        )
      ])
      const { queues, processes, jobs } = JSON.parse(stdout) as typeof json
      const told = { queues, processes, jobs }
      last = { told, json }
      return code === 0 && isDeepStrictEqual(told, json) && told
    }
    const agreed = await eventually(ask, () => JSON.stringify(last))
    t.same(Object.keys(agreed.queues).sort(), [
      'builds',
      'default',
      'hooks',
      'imports',
      'mail',
      'maintenance',
      'mirrors'
    ])
    t.match(agreed, { processes: [{ pid: appliance.processes().worker }] })
    t.ok(agreed.jobs.processed >= 10, `${agreed.jobs.processed} jobs were done`)
    t.ok(agreed.jobs.failed >= 1, 'the tries while the receiver was down count as failures')
  })

  t.equal(await appliance.stop(), 0)
  t.same(processesOf(home), [])
})
