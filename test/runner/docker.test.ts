// Builds in containers of a real engine.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync, mkdtempSync, readFileSync, renameSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import t from 'tap'
import yauzl from 'yauzl'
import { loadConfig } from '../../src/config.js'
import { contentOf } from '../../src/runner/docker/frames.js'
import { isAllowed, parseReference } from '../../src/runner/docker/images.js'
import { removeLeftovers } from '../../src/runner/docker/leftovers.js'
import { askForEngine, checkEngineSettings } from '../../src/runner/docker/version.js'
import { executeBuild, type RunnerJob, type RunnerPort } from '../../src/runner/execute.js'
import { makeWorkFolder } from '../../src/runner/folders.js'
import type { CacheStore } from '../../src/runner/job.js'
import { canRunEngine, testEngine } from '../helpers/engine.js'
import { selfSigned } from '../webhooks/receiver.js'

const ALWAYS = { when: 'always' as const, ending: 'non_protected' as const }
const home = t.testdir({ tmp: {} })

type Wish = Partial<RunnerJob> & Partial<RunnerPort> & { onTrace?: (text: string, cancel: () => void) => void }

async function build(wish: Wish) {
  const cancel = new AbortController()
  const outcome = { trace: '', files: [] as string[] }
  const result = await executeBuild(
    { id: 7, timeout: 600, variables: [], script: [], afterScript: [], artifacts: null, secrets: [], ...wish },
    {
      workFolder: await makeWorkFolder(),
      getSources: async ({ run }) => void (await run(['printf "read me" >README'])),
      dependencies: [],
      writeTrace: async chunk => {
        outcome.trace += chunk.toString('latin1')
        wish.onTrace?.(outcome.trace, () => cancel.abort())
      },
      putArtifacts: async ({ path }) => {
        const zip = await yauzl.fromBufferPromise(readFileSync(path), { lazyEntries: true })
        for await (const entry of zip.eachEntry()) outcome.files.push(entry.fileName)
      },
      putVariables: async text => void outcome.files.push(`variables: ${text}`),
      signal: cancel.signal,
      ...wish
    }
  )
  return { ...outcome, result }
}

if (canRunEngine) {
  const engine = await testEngine({
    tools: {},
    app: { User: 'app', Env: ['PATH=/bin', 'GREETING=hello'] },
    talker: { Entrypoint: ['sh', '-c', 'echo before; exec "$@"', 'sh'] },
    web: {
      Cmd: ['sh', '-c', 'mkdir -p /w; echo "$GREETING" >/w/index; exec httpd -f -p 80 -h /w'],
      ExposedPorts: { '80/tcp': {} }
    },
    dead: { Cmd: ['sh', '-c', 'echo alas; exit 3'] }
  })
  t.teardown(() => engine.close())
  const image = `${engine.registry}/tools`
  const wish = (name: string, more: object = {}) => ({
    name: `${engine.registry}/${name}`,
    alias: null,
    entrypoint: null,
    command: null,
    ...more
  })
  const settings = (docker: object = {}, runner: object = {}) =>
    loadConfig({
      home,
      runner: {
        executor: 'docker',
        docker: { socket: engine.socket, image, allowed_images: [`${engine.registry}/*`], ...docker },
        ...runner
      }
    })
  t.test('a build runs in a container of the image, with its sources, variables and artifacts', async t => {
    settings()
    const { result, trace, files } = await build({
      variables: [{ key: 'SECRET', value: 'open sesame', public: false }],
      secrets: ['open sesame'],
      script: ['cat README; pwd; id -u', 'echo "$SECRET $CI_PROJECT_DIR"; echo oops >&2; echo made >made'],
      afterScript: ['cat made; echo it was $CI_JOB_STATUS; exit 3'],
      artifacts: { name: '', paths: ['made', 'README'], exclude: [], untracked: false, when: 'always' }
    })
    t.strictSame(result, { status: 'success', exitCode: 0 }, trace)
    t.match(trace, `Pulling the image ${image}:latest\nUsing the image ${image}:latest (`)
    t.match(trace, '\n$ cat README; pwd; id -u\nread me/build/project\n0\n$ echo')
    t.match(trace, '\n*********** /build/project\noops\nRunning after_script\n')
    t.match(trace, '\nmade\nit was success\nWARNING: after_script failed')
    t.strictSame(files.sort(), ['README', 'made'])
    t.strictSame(await engine.left(), [])
  })

  t.test('caches are copied into the container and back', async t => {
    settings()
    const kept = join(home, 'tmp', 'kept.zip')
    const cacheStore: CacheStore = {
      limit: 1_048_576,
      open: async () => (existsSync(kept) ? createReadStream(kept) : undefined),
      put: async (_, archive) => renameSync(archive, kept),
      remove: async () => void t.fail('a damaged cache')
    }
    const job = {
      cacheStore,
      caches: [
        {
          ...{ key: null, fallbackKeys: [], paths: ['kept'], untracked: false, policy: 'pull-push' as const },
          ...ALWAYS
        }
      ],
      script: ['cat kept/file || echo none; mkdir -p kept; echo found >kept/file; touch -d "2099-01-01 00:00" kept']
    }
    // The clock of an engine may be ahead: tar does not warn about it.
    t.match((await build(job)).trace, /\nnone\nKept the cache default: 1 file/)
    t.match((await build(job)).trace, /Restoring the cache default\n[\s\S]*\nfound\nKept/)
  })

  t.test('the image defines the user of the script and its start; a job may override the start', async t => {
    settings()
    const variables = [{ key: 'PATH', value: '/opt/bin:$PATH', public: true }]
    const script = ['echo "$GREETING $PATH"; id -u; id -g; ls -ln README | cut -c1-10; touch new; umask 0; ls -lnd .']
    const [app, talker, silent] = await Promise.all([
      build({ image: wish('app'), variables: [...variables], script }),
      build({ image: wish('$NAME'), variables: [{ key: 'NAME', value: 'talker', public: true }], script: ['exit 5'] }),
      build({ image: wish('talker', { entrypoint: [''] }), script: ['ulimit -f; (echo a; false) | cat; false | true'] })
    ])
    t.match(app.trace, '\nhello /opt/bin:/bin\n1234\n1235\n-rw-r--r--\n')
    t.strictSame(app.result, { status: 'success', exitCode: 0 }, app.trace)
    t.match(talker.trace, '\nbefore\n$ exit 5\nBuild failed: exit code 5\n')
    t.notMatch(silent.trace, 'before')
    t.match(silent.trace, '\n2097152\na\n')
    t.match(silent.result, { status: 'failed', exitCode: 1 }, 'a pipe fails with its first command, as in the sandbox')
  })

  t.test('images that builds may not use or that do not exist', async t => {
    const cases: [name: string, image: object, docker: object, text: string][] = [
      ['not a name', { name: 'Ruby 2' }, {}, '"Ruby 2" is not the name of an image'],
      ['not allowed', { name: 'ruby:2.1' }, {}, 'builds may not use the image docker.io/library/ruby:2.1'],
      [
        'missing',
        wish('nowhere:1'),
        {},
        `the image ${engine.registry}/nowhere:1 could not be pulled: the container engine`
      ],
      ['never pulled', wish('nowhere:2'), { pull: 'never' }, 'runner.docker.pull is never'],
      ['endless', wish('endless'), { pull_timeout: 1 }, 'the pull took longer than 1 seconds']
    ]
    for (const [name, image, docker, text] of cases) {
      settings(docker)
      const { result, trace } = await build({ image: { ...wish(''), ...image } })
      t.match(result, { status: 'failed', reason: 'image_pull_failure' }, name)
      t.match(trace, text, name)
    }
    const before = engine.pulls.get('tools') ?? 0
    for (const pull of ['if-not-present', 'always']) {
      settings({ pull })
      t.match((await build({ script: ['true'] })).result, { status: 'success' })
    }
    t.ok((engine.pulls.get('tools') ?? 0) > before, 'always asks the registry again')
    settings({ max_services: 1 })
    const { trace } = await build({ services: [wish('web'), wish('web')] })
    t.match(trace, 'the build has 2 services, and 1 is the limit (runner.docker.max_services)')
    t.strictSame(await engine.left(), [])
  })

  t.test('services have names on the network of the build, which has no access to other networks', async t => {
    settings({ service_timeout: 5 })
    const { result, trace } = await build({
      variables: [{ key: 'GREETING', value: 'good morning', public: true }],
      services: [
        wish('web', { alias: 'site' }),
        wish('web', { alias: 'own', variables: [{ key: 'GREETING', value: 'my $GREETING' }] }),
        wish('dead'),
        wish('tools', { command: ['sh', '-c', 'sleep 1000'], entrypoint: [] })
      ],
      script: [
        'wget -qO- http://site/index; wget -qO- http://own/index; ip route | grep default || echo no way out; ls /sys/class/net'
      ]
    })
    t.strictSame(result, { status: 'success', exitCode: 0 }, trace)
    t.match(trace, `Starting the service ${engine.registry}/web:latest as site, `)
    t.match(trace, /WARNING: the service \S+dead:latest has ended:\nalas\n/)
    t.match(trace, '\ngood morning\nmy good morning\nno way out\neth0\nlo\nBuild succeeded\n')
    t.strictSame(await engine.left(), [])
    const plain = await build({ script: ['ls /sys/class/net'] })
    t.match(plain.trace, 'net\nlo\nBuild', 'without services there is no network')
  })

  t.test('limits', async t => {
    const MIB = 1_048_576
    const cases: [reason: string, script: string, timeout: number, text: RegExp][] = [
      ['output_limit', 'yes', 60, /the output is longer than 100000 bytes/],
      ['job_execution_timeout', 'trap "" TERM; sleep 1000', 12, /took longer than 12 seconds/],
      ['memory_limit', 'tail -c 200m /dev/zero >x', 60, /more than 67108864 bytes of memory/],
      ['disk_limit', 'for i in 1 2 3 4; do head -c 7m /dev/zero >$i; done; sleep 1000', 60, /more than 20971520 bytes/],
      ['script_failure', 'head -c 9m /dev/zero >x', 60, /File size limit|File too large/],
      ['script_failure', 'for i in $(seq 60); do sleep 9 & done', 60, /can't fork|fork: /]
    ]
    settings(
      {},
      { output_limit: 100_000, memory_limit: 64 * MIB, disk_limit: 20 * MIB, file_limit: 8 * MIB, process_limit: 20 }
    )
    const check = async ([reason, script, timeout, text]: (typeof cases)[number]) => {
      const artifacts = { name: '', paths: ['kept'], exclude: [], untracked: false, when: 'always' } as const
      const { result, trace, files } = await build({ script: ['echo >kept', script], timeout, artifacts })
      t.match(result, { status: 'failed', reason }, script)
      t.match(trace, text, script)
      if (reason !== 'disk_limit')
        t.strictSame(files, ['kept'], 'as in the sandbox, a limit does not discard the artifacts')
    }
    await Promise.all(cases.map(check))
    settings()
    const { result } = await build({
      script: ['echo begun; sleep 1000'],
      onTrace: (text, cancel) => text.includes('\nbegun\n') && cancel()
    })
    t.strictSame(result, { status: 'canceled' })
    t.strictSame(await engine.left(), [])
  })

  t.test('all of the output arrives, however slowly the trace is written; an engine behind TLS', async t => {
    const folder = mkdtempSync(join(home, 'own-'))
    const { key, cert } = selfSigned(folder)
    const proxy = createTlsServer({ key, cert, ca: cert, requestCert: true }, client => {
      // Two pipelines would destroy `client`, and what it has not sent yet, as soon as `inner` is closed.
      const inner = connect(engine.socket.slice('unix://'.length))
      client.on('error', () => inner.destroy()).pipe(inner)
      inner.on('error', () => client.destroy()).pipe(client)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const files = { ca: join(folder, 'cert.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
    const socket = `tcp://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    settings({ socket, tls: files }, { output_limit: 64 * 1_048_576 })
    const script = ['seq 1000000 | tee /tmp/all | md5sum >/tmp/sum; cat /tmp/all /tmp/sum']
    const chunks: Buffer[] = []
    const slowly = async (chunk: Buffer) => {
      chunks.push(chunk)
      await delay(5)
    }
    const { result } = await build({ script, writeTrace: slowly })
    const text = Buffer.concat(chunks).toString('latin1')
    t.strictSame(result, { status: 'success', exitCode: 0 }, text.slice(0, 2000))
    const output = /\n\$ seq[^\n]*\n(1\n[\d\n]*\n1000000\n)(\w{32}) /.exec(text)
    t.equal(
      createHash('md5')
        .update(output?.[1] ?? '')
        .digest('hex'),
      output?.[2]
    )
    const stranger = mkdtempSync(join(home, 'other-'))
    selfSigned(stranger)
    settings({ socket, tls: { ...files, cert: join(stranger, 'cert.pem'), key: join(stranger, 'key.pem') } })
    await t.rejects(askForEngine(), { name: 'EngineAway' }, 'the engine authenticates the runner by its certificate')
    settings({ socket, tls: { ...files, ca: join(stranger, 'cert.pem') } })
    await t.rejects(askForEngine(), { name: 'EngineAway' }, 'the runner authenticates the engine')
    settings({ socket, tls: { ...files, ca: join(stranger, 'nothing') } })
    t.throws(checkEngineSettings, { message: /runner\.docker\.tls\.ca: .*nothing cannot be read \(ENOENT\)/ })
    proxy.close()
  })

  t.test('an engine that stops answering fails the build with its name, and leftovers are removed later', async t => {
    settings()
    let stopped: Promise<void> | undefined
    const owner = { instance: 'one', worker: 4 }
    const { result, trace } = await build({
      owner,
      script: ['echo begun; sleep 1000'],
      onTrace: text => {
        if (text.includes('\nbegun\n')) stopped ??= engine.stop()
      }
    })
    await stopped
    t.match(result, { status: 'failed', reason: 'runner_system_failure', error: { name: 'EngineAway' } })
    t.match(trace, `the container engine at ${engine.socket} does not answer`)
    t.match((await build({ script: ['true'] })).trace, 'does not answer (ENOENT)')
    await engine.start()
    const labels = (worker: number, instance: string) => ({
      'gitstead.worker': String(worker),
      'gitstead.instance': instance
    })
    const image = `${engine.registry}/tools`
    await engine.makeContainer(image, labels(5, 'one'))
    await engine.makeNetwork('gitstead-of-a-killed-worker', labels(5, 'one'))
    await engine.makeContainer(image, labels(6, 'one'))
    await engine.makeContainer(image, labels(5, 'two'))
    t.equal(
      await removeLeftovers(owner, worker => worker === 5),
      3,
      'a closed room of this worker, and two of a dead worker'
    )
    t.equal((await engine.left()).length, 2, 'other workers and other appliances keep theirs')
    await engine.clear()
  })
}

t.test('an engine that accepts a connection and sends nothing counts as unavailable', async t => {
  const silent = createServer(() => undefined).listen(join(home, 'silent'))
  await once(silent, 'listening')
  loadConfig({ home, runner: { docker: { socket: `unix://${home}/silent`, timeout: 1 } } })
  await t.rejects(askForEngine(), { name: 'EngineAway', message: /does not answer \(nothing for 1 s\)/ })
  silent.close()
})

t.test('names of images', async t => {
  const digest = `sha256:${'a'.repeat(64)}`
  t.strictSame(
    ['ruby', 'ada/app:1', `x.org/a/b@${digest}`, 'localhost:5000/a:t', 'host:1/a', 'docker.io/ruby:2'].map(
      text => parseReference(text)?.full
    ),
    [
      'docker.io/library/ruby:latest',
      'docker.io/ada/app:1',
      `x.org/a/b@${digest}`,
      'localhost:5000/a:t',
      'host:1/a:t'.replace(':t', ':latest'),
      'docker.io/library/ruby:2'
    ]
  )
  for (const text of ['', 'A', '../x', 'a//b', 'a:b:c', 'a b', '-x', `a@${digest}0`, 'a/', 'x'.repeat(600)])
    t.equal(parseReference(text), undefined, text)
  const allows = (patterns: string[], text: string) => {
    loadConfig({ home, runner: { docker: { allowed_images: patterns } } })
    const reference = parseReference(text)
    return reference !== undefined && isAllowed(reference)
  }
  t.ok(allows([], 'debian:12'), 'the configured image')
  t.notOk(allows([], 'debian:13'))
  t.ok(allows(['ruby:*'], 'ruby:2.1'))
  t.ok(allows(['ruby'], `ruby@${digest}`))
  t.notOk(allows(['ruby:2.*'], `ruby:2.1@${digest}`), 'a digest is a different image than the tag in the same name')
  t.notOk(allows(['ruby:*'], 'evil.org/ruby:2.1'))
  t.ok(allows(['docker.io/**'], 'ada/app'))
  t.notOk(allows(['docker.io/**'], '10.0.0.1:80/app'))
  t.ok(allows(['**'], '10.0.0.1:80/app'))
})

t.test('the output of a container arrives complete, however it is split', async t => {
  const frames = ['one', '', 'two\n'].map(text => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(text.length, 4)
    return Buffer.concat([head, Buffer.from(text)])
  })
  const bytes = Buffer.concat(frames)
  for (const size of [1, 3, 8, 100]) {
    const cut = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    let text = ''
    for await (const part of contentOf(cut())) text += part
    t.equal(text, 'onetwo\n')
  }
})
