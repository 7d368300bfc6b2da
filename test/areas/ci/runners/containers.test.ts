// Builds that the worker runs in containers of a real engine.
import { runNextBuild } from '../../../../src/areas/ci/runners/built-in.js'
import { containerOwner, removeStaleContainers } from '../../../../src/areas/ci/runners/containers.js'
import { engineCheck } from '../../../../src/cli/doctor/engine.js'
import { config, loadConfig } from '../../../../src/config.js'
import { row } from '../../../../src/db/connect/sql.js'
import { prepareHome } from '../../../../src/home.js'
import { registerProcess } from '../../../../src/queue/processes.js'
import { openTrace } from '../../../../src/storage/traces.js'
import { testDatabase } from '../../../helpers/database.js'
import { canRunEngine, testEngine } from '../../../helpers/engine.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makePipeline, type TestBuild } from '../builds/make-builds.js'

if (canRunEngine) {
  await testDatabase()
  prepareHome()
  const worker = await registerProcess({ queues: ['builds'], concurrency: 2 })
  const never = () => new AbortController().signal
  const engine = await testEngine({ tools: {} })
  t.teardown(() => engine.close())
  const image = `${engine.registry}/tools`
  const { home, database } = config()
  const docker = { socket: engine.socket, allowed_images: [`${engine.registry}/*`] }
  loadConfig({ home, database, runner: { executor: 'docker', docker } })
  const examine = async () => engineCheck.examine({ all: false, serverUp: false, now: new Date(), serverUrl: '' })

  const stateOf = (build: TestBuild | undefined) =>
    row<{ status: string; failure_reason: string | null }>('select status, failure_reason from builds where id = ?', [
      build?.id ?? 0
    ])

  t.test('a build gets the image and the services of its job', async t => {
    const [build] = await makePipeline(
      await factory.project(),
      `test:
  image: {name: "${image}", entrypoint: ["sh", "-c", "echo begin; exec \\"$@\\"", "sh"]}
  services: [{name: "${image}", alias: other, command: [sleep, "1000"]}]
  script: ['cat .gitstead-ci.yml', 'ping -c 1 other >/dev/null || grep other /etc/hosts']
`
    )
    await runNextBuild(worker, never())
    const trace = await openTrace({ build: build?.id ?? 0, attempt: 1 })
    let text = ''
    for await (const chunk of trace?.stream ?? []) text += chunk
    t.match(await stateOf(build), { status: 'success' }, text)
    t.match(text, /as other, .*\n(.*\n)*begin\n\$ cat .gitstead-ci.yml\ntest:\n/)
  })

  t.test('builds wait for an engine that is away, and doctor names it', async t => {
    t.match(await examine(), /^\w[\w ]+ \d+\.\d+\.\S+ answers at unix:/)
    await engine.stop()
    await t.rejects(examine(), { message: 'the container engine at', remedy: 'start it' })
    const [build] = await makePipeline(await factory.project(), `test: {image: "${image}", script: ["true"]}\n`)
    const running = runNextBuild(worker, never())
    t.match(await stateOf(build), { status: 'pending' })
    await engine.start()
    await running
    t.match(await stateOf(build), { status: 'success' })
  })

  t.test('containers of a worker that is gone are removed', async t => {
    const labels = (number: number) => {
      const owner = containerOwner(number)
      return { 'gitstead.instance': owner.instance, 'gitstead.worker': String(owner.worker) }
    }
    const other = await registerProcess({ queues: [], concurrency: 1 })
    await engine.makeContainer(image, labels(other))
    const [kept] = await engine.left()
    await engine.makeContainer(image, labels(other + 1000))
    await removeStaleContainers(worker)
    t.strictSame(await engine.left(), [kept])
  })
}
