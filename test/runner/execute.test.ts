import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import yauzl from 'yauzl'
import { ZipFile } from 'yazl'
import { config, loadConfig } from '../../src/config.js'
import { Invalid, Misconfigured, NotFound } from '../../src/errors.js'
import { watchDisk } from '../../src/runner/disk.js'
import { executeBuild, type RunnerJob, type RunnerPort, type RunnerResult } from '../../src/runner/execute.js'
import { FolderLost, makeWorkFolder, removeFolder, removeStaleFolders } from '../../src/runner/folders.js'
import { checkSandbox } from '../../src/runner/sandbox.js'
import { handOver } from '../../src/runner/tree.js'
import { buildUser } from '../../src/runner/user.js'
import { nap, processesWith, sleeperOf } from '../helpers/naps.js'

type Wish = Partial<RunnerJob> & Partial<RunnerPort> & { onTrace?: (text: string, cancel: () => void) => void }
type Outcome = { result: RunnerResult; trace: string; archive: Buffer | undefined; filename: string; work: string }

const home = t.testdir({ tmp: {} })
const settings = (runner: object = {}, rest: object = {}) => loadConfig({ home, runner, ...rest })

async function build(wish: Wish): Promise<Outcome> {
  const cancel = new AbortController()
  const outcome = { trace: '', archive: undefined as Buffer | undefined, filename: '' }
  const work = wish.workFolder ?? (await makeWorkFolder())
  const job: RunnerJob = {
    id: 1,
    timeout: 600,
    variables: [],
    script: [],
    afterScript: [],
    artifacts: null,
    secrets: [],
    ...wish
  }
  const result = await executeBuild(job, {
    workFolder: work,
    getSources: async ({ run }) => void (await run(['printf "read me" >README'])),
    dependencies: [],
    writeTrace: async chunk => {
      outcome.trace += chunk.toString('latin1')
      wish.onTrace?.(outcome.trace, () => cancel.abort())
    },
    putVariables: async () => undefined,
    putArtifacts: async ({ path, filename }) => {
      outcome.archive = readFileSync(path)
      outcome.filename = filename
    },
    signal: cancel.signal,
    ...wish
  })
  return { ...outcome, result, work }
}

const artifacts = (paths: string[], more: object = {}) => ({
  name: '',
  paths,
  exclude: [],
  untracked: false,
  when: 'on_success' as const,
  ...more
})

async function namesIn(archive: Buffer | undefined): Promise<string[]> {
  if (!archive) return []
  const zip = await yauzl.fromBufferPromise(archive, { lazyEntries: true })
  const names: string[] = []
  for await (const entry of zip.eachEntry()) names.push(entry.fileName)
  return names.sort()
}

async function zipOf(files: Record<string, string>, mode = 0o100644): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name, { mode })
  zip.end()
  return buffer(zip.outputStream)
}

const dependency = (name: string, archive: Buffer) => ({ name, copyTo: (path: string) => writeFile(path, archive) })

for (const sandbox of ['bubblewrap', 'none']) {
  t.test(`scripts, sandbox ${sandbox}`, async t => {
    settings({ sandbox })
    await checkSandbox()

    t.test('a successful build shows each command and its output in order, and removes the folder', async t => {
      const { result, trace, work } = await build({
        script: ['echo one; echo two >&2', 'cat README'],
        header: ['Hello']
      })
      t.strictSame(result, { status: 'success', exitCode: 0 })
      t.equal(
        trace,
        'Hello\nGetting the sources\n$ echo one; echo two >&2\none\ntwo\n$ cat README\nread me\nBuild succeeded\n'
      )
      t.notOk(existsSync(work))
    })

    t.test(
      'the first failing command ends the script and defines its exit code; after_script does not count',
      async t => {
        const { result, trace } = await build({
          script: ['true | (exit 7) | true', 'echo not reached'],
          afterScript: ['echo it was $CI_JOB_STATUS; exit 3']
        })
        t.strictSame(result, { status: 'failed', reason: 'script_failure', exitCode: 7 })
        t.notMatch(trace, 'not reached\n')
        t.match(trace, 'it was failed\n')
      }
    )

    t.test('a command that a signal ends has the exit code 128 plus the number of the signal', async t => {
      const { result } = await build({ script: ['kill -9 $$'] })
      t.strictSame(result, { status: 'failed', reason: 'script_failure', exitCode: 137 })
    })

    t.test('variables reach the script unchanged, with any content', async t => {
      const value = `it's "$(id)" \`id\` \\ \n é ; #`
      const { trace } = await build({
        variables: [
          { key: 'ODD', value: value.replace('$', '$$'), public: true },
          { key: 'NAME', value: 'first', public: true },
          { key: 'NAME', value: '$NAME-last', public: true },
          { key: 'LATER', value: '$' + '{AFTER}', public: true },
          { key: 'AFTER', value: 'after', public: true },
          { key: 'UID', value: '3', public: true },
          { key: 'a-b', value: 'not a name', public: true }
        ],
        script: ['printf "<%s>" "$ODD" "$NAME" "$LATER"', '[ "$PWD" = "$CI_PROJECT_DIR" ]']
      })
      t.match(Buffer.from(trace, 'latin1').toString(), `<${value}><first-last><after>`)
      t.match(trace, 'Build succeeded')
    })

    t.test('the output can be opened again by its name, and the input is empty', async t => {
      const { result, trace } = await build({ script: ['echo seen >/dev/stderr; echo also | tee /dev/stdout; cat'] })
      t.equal(result.status, 'success')
      t.match(trace, 'seen\nalso\nalso\n')
    })

    t.test('the script does not get descriptors of the runner', async t => {
      const { trace } = await build({ script: ['echo open: $(cd /proc/self/fd; echo *)'] })
      t.match(trace, /open: 0 1 2 \d+( \d+)?\n/)
    })

    t.test('a build that takes too long is ended', async t => {
      const { result, trace } = await build({ timeout: 1, script: ['trap "" TERM', `sleep ${nap(1)}`] })
      t.strictSame(result, { status: 'failed', reason: 'job_execution_timeout' })
      t.match(trace, 'longer than 1 seconds')
      t.strictSame(processesWith(nap(1)), [])
    })

    t.test('endless output is cut and ends the build', async t => {
      settings({ sandbox, output_limit: 100_000 })
      const { result, trace } = await build({ script: ['yes 0123456789'] })
      settings({ sandbox })
      t.strictSame(result, { status: 'failed', reason: 'output_limit' })
      t.match(
        trace,
        /ERROR: the output is longer than 100000 bytes \(runner\.output_limit\); the build stops\nBuild failed: output limit\n$/
      )
      t.ok(trace.length < 100_300)
    })

    t.test('a cancelled build ends with everything that it started, and stores no artifacts', async t => {
      const { result, archive } = await build({
        script: [`setsid nohup sleep ${nap(2)} >/dev/null 2>&1 &`, 'echo ready', `sleep ${nap(2)}`],
        afterScript: ['echo after'],
        artifacts: artifacts(['README'], { when: 'always' }),
        onTrace: (text, cancel) => text.includes('\nready\n') && cancel()
      })
      t.strictSame(result, { status: 'canceled' })
      t.equal(archive, undefined)
      t.strictSame(processesWith(nap(2)), [])
    })

    t.test('a build that is cancelled before its start does nothing', async t => {
      const { result, trace } = await build({ script: ['echo ran'], signal: AbortSignal.abort() })
      t.strictSame(result, { status: 'canceled' })
      t.notMatch(trace, 'ran')
    })

    t.test('processes that a script leaves running end with it', async t => {
      const left = `setsid nohup sleep ${nap(3)} & sleep ${nap(3)} & (setsid setsid sleep ${nap(3)} >&- 2>&- &)`
      const { result } = await build({ script: [left] })
      t.equal(result.status, 'success')
      t.strictSame(processesWith(nap(3)), [])
    })

    t.test('secrets in output and commands are replaced by the same number of bytes', async t => {
      const { trace } = await build({ secrets: ['hunter22'], script: ['echo hunter22; printf hunt; printf er22'] })
      t.notMatch(trace, 'hunter22')
      t.match(trace, /^\$ echo \*{8}; .*\n\*{8}\n\*{8}\n/m)
    })

    t.test('a command that uses too much memory fails', async t => {
      settings({ sandbox, memory_limit: 268_435_456 })
      const { result } = await build({ script: [`perl -e '$x = "a" x 600_000_000; print length $x'`] })
      settings({ sandbox })
      t.match(result, { status: 'failed', reason: 'script_failure' })
    })

    t.test('a command that writes a file above the limit fails', async t => {
      settings({ sandbox, file_limit: 1_048_576 })
      const { result } = await build({ script: ['head -c 2000000 /dev/zero >big'] })
      settings({ sandbox })
      t.match(result, { status: 'failed', reason: 'script_failure' })
    })

    t.test('the user outside is not root, even when this process is root', async t => {
      const cancel = new AbortController()
      const ended = build({ script: [`sleep ${nap(4)}`], signal: cancel.signal })
      const status = readFileSync(`/proc/${await sleeperOf(4)}/status`, 'utf8')
      cancel.abort()
      await ended
      const uids = /Uid:\t(.*)/.exec(status)?.[1] ?? ''
      const own = process.getuid?.()
      t.match(uids, own === 0 ? /^([1-9]\d*)(\t\1){3}$/ : new RegExp(`^${own}\t`))
    })
  })
}

t.test('the sandbox', async t => {
  settings()

  t.test('inside the sandbox, the user is not root and has no rights', async t => {
    const { trace } = await build({
      script: ['id -u', 'grep CapBnd /proc/self/status', 'unshare -U true || echo refused']
    })
    t.match(trace, '$ id -u\n1000\n')
    t.match(trace, 'CapBnd:\t0000000000000000')
    t.match(trace, 'refused')
  })

  t.test('the script sees nothing of this machine except its programs', async t => {
    const paths = ['/root', '/var', '/run', '/etc/shadow', '/sys', config().root, home, process.cwd()]
    const { result, trace } = await build({ script: paths.map(path => `[ ! -e '${path}' ]`) })
    t.equal(result.status, 'success', trace)
  })

  t.test('the script can write only to its own folders, and to no unlimited memory', async t => {
    const script = ['/x', '/usr/x', '/dev/x', '/etc/x', '/build/step', '/build/x'].map(path => `! touch ${path} 2>&1`)
    const { result, trace } = await build({ script: [...script, 'touch x ~/x /tmp/x /dev/shm/x'] })
    t.equal(result.status, 'success', trace)
    const full = await build({ script: ['head -c 300000000 /dev/zero >/dev/shm/x'] })
    t.match(full.trace, 'No space left')
  })

  t.test('the number of processes is limited, and a fork bomb ends with the build', async t => {
    settings({ process_limit: 32 })
    const count = `perl -e 'while ($n < 200) { $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } $n++ } print "made $n\\n"'`
    const { trace } = await build({ script: [count] })
    t.match(trace, /made (1|2)\d\n/)
    const bomb = await build({ timeout: 1, script: [`bash -c ':(){ :|:& };:' ${nap(5)}`, `sleep ${nap(5)}; sleep 60`] })
    t.equal(bomb.result.status, 'failed')
    t.strictSame(processesWith(nap(5)), [])
    settings()
  })

  t.test('the network is closed unless the configuration opens it', async t => {
    const server = createServer(socket => socket.end('hello\n')).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const script = [`exec 3<>/dev/tcp/127.0.0.1/${port}`, 'cat <&3']
    t.equal((await build({ script })).result.reason, 'script_failure')
    settings({ network: true })
    t.match((await build({ script })).trace, '\nhello\n')
    settings()
  })
})

t.test('stages', async t => {
  settings()

  t.test('the trace has its first line before the sources are fetched', async t => {
    let before = ''
    let seen = ''
    await build({
      onTrace: text => {
        seen = text
      },
      getSources: async () => {
        before = seen
      }
    })
    t.match(before, 'Running on the built-in runner\n')
  })

  t.test('sources that cannot be fetched are a system failure, and the trace says so', async t => {
    const error = new NotFound('Commit')
    const { result, trace, work } = await build({ getSources: () => Promise.reject(error), script: ['echo ran'] })
    t.strictSame(result, { status: 'failed', reason: 'runner_system_failure', error })
    t.match(trace, 'ERROR: 404 Commit Not Found\nBuild failed: runner system failure\n')
    t.notOk(existsSync(work))
  })

  t.test('sources that share a file with a repository are not handed over to the build user', async t => {
    const tree = t.testdir({ deep: { a: '' } })
    linkSync(join(tree, 'deep/a'), join(tree, 'deep/b'))
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    await t.rejects(handOver(tree, user), { message: /deep\/[ab] is shared with another folder/ })
  })

  t.test('a trace that cannot be written ends the build', async t => {
    const error = new Error('the claim is lost')
    const { result } = await build({ script: [`sleep ${nap(6)}`], writeTrace: () => Promise.reject(error) })
    t.strictSame(result, { status: 'failed', reason: 'runner_system_failure', error })
    t.strictSame(processesWith(nap(6)), [])
  })

  t.test('archives of earlier builds are unpacked into the work tree, and the build may change them', async t => {
    const archive = await zipOf({ 'out/a.txt': 'from before', README: 'replaced' })
    const { trace } = await build({
      dependencies: [dependency('compile', archive)],
      script: ['cat out/a.txt README; echo >>README']
    })
    t.match(trace, 'Unpacking the artifacts of compile\n')
    t.match(trace, 'from beforereplaced')
    t.match(trace, 'Build succeeded')
  })

  for (const [why, archive] of [
    ['missing', undefined],
    ['broken', Buffer.from('no zip')],
    ['hostile', await zipOf({ link: '../../etc' }, 0o120777)]
  ] as const) {
    t.test(`an archive that is ${why} fails the build before its script`, async t => {
      const copyTo = async (path: string) => {
        if (!archive) throw new NotFound()
        await writeFile(path, archive)
      }
      const { result, trace } = await build({ dependencies: [{ name: 'compile', copyTo }], script: ['echo ran'] })
      t.match(result, { status: 'failed', reason: 'missing_dependency_failure' })
      t.match(trace, 'ERROR: the artifacts of compile: ')
      t.notMatch(trace, 'ran\n')
    })
  }

  t.test('the archive contains the matching files without links out of the tree, and its name is expanded', async t => {
    const { result, archive, filename, trace } = await build({
      variables: [{ key: 'OUT', value: 'dist', public: true }],
      script: [
        'mkdir -p dist/deep .git; echo 1 >dist/deep/.a; echo 2 >dist/b.log; echo 3 >other; echo 4 >.git/config',
        'ln -s /etc/passwd dist/out; ln -s ../other dist/in; ln -s / dist/root; mkfifo dist/pipe'
      ],
      artifacts: artifacts(['$OUT/', '.git', '/etc/passwd'], { exclude: ['**/*.log'], name: '../$OUT' })
    })
    t.equal(result.status, 'success', trace)
    t.strictSame(await namesIn(archive), ['dist/deep/.a', 'dist/in'])
    t.equal(filename, '-dist.zip')
    t.match(trace, '"dist/out" is not packed')
    t.match(trace, '"/etc/passwd" is not a path in the project')
  })

  t.test('untracked artifacts are the files that the checkout did not create', async t => {
    const { archive } = await build({
      script: ['echo >new; echo >>README'],
      artifacts: artifacts([], { untracked: true })
    })
    t.strictSame(await namesIn(archive), ['new'])
  })

  t.test('the variables that a script reports are stored, also when it fails', async t => {
    const wish = { ...artifacts([]), dotenv: ['*.env', '$DIR/x'] }
    const reported = async (script: string, putVariables?: RunnerPort['putVariables']) => {
      let text: string | undefined
      const store = async (bytes: Uint8Array) => {
        text = Buffer.from(bytes).toString()
      }
      const variables = [{ key: 'DIR', value: 'd', public: true }]
      const { result, trace, archive } = await build({
        ...{ variables, script: [script], artifacts: wish, putVariables: putVariables ?? store }
      })
      t.equal(archive, undefined, 'no archive was requested')
      return { status: result.status, text, trace }
    }
    t.match(await reported('echo B=2 >b.env; echo A=1 >a.env; mkdir d; echo C=3 >d/x; ln -s /etc/passwd e.env'), {
      status: 'success',
      text: 'A=1\n\nB=2\n\nC=3\n\n'
    })
    t.match(await reported('echo A=1 >a.env; exit 1'), { status: 'failed', text: 'A=1\n\n' })
    t.match(await reported('true'), { status: 'success', text: undefined, trace: /no files match the report/ })
    t.match(await reported('echo A >a.env', () => Promise.reject(new Invalid('dotenv', 'line 1 is wrong'))), {
      status: 'failed',
      trace: /ERROR: the reported variables are not stored: .*line 1 is wrong/
    })
  })

  t.test('artifacts are stored according to their condition', async t => {
    for (const [when, script, sent] of [
      ['on_success', 'true', true],
      ['on_success', 'false', false],
      ['on_failure', 'true', false],
      ['on_failure', 'false', true],
      ['always', 'false', true]
    ] as const) {
      const { archive } = await build({ script: [script], artifacts: artifacts(['README'], { when }) })
      t.equal(archive !== undefined, sent, `${when}, ${script}`)
    }
  })

  t.test('artifacts above the limit fail a successful build, and the trace says why', async t => {
    settings({}, { artifacts: { max_size: 10_000 } })
    const { result, trace, archive } = await build({
      script: ['head -c 20000 /dev/urandom >big'],
      artifacts: artifacts(['big'])
    })
    settings()
    t.match(result, { status: 'failed', reason: 'script_failure' })
    t.match(trace, 'the artifacts are not stored: the archive is larger than 10000 bytes')
    t.equal(archive, undefined)
  })

  t.test('a failed upload fails a successful build', async t => {
    const putArtifacts = () => Promise.reject(new Error('away'))
    const { result } = await build({ artifacts: artifacts(['README']), putArtifacts })
    t.match(result, { status: 'failed', reason: 'runner_system_failure', error: { cause: undefined, message: 'away' } })
  })
})

t.test('machines that cannot confine builds', async t => {
  const tools = (t: Test) => {
    const folder = t.testdir()
    for (const name of ['rm', 'mkfifo', 'chmod', 'flock']) symlinkSync(`/usr/bin/${name}`, join(folder, name))
    const { PATH } = process.env
    process.env.PATH = folder
    t.teardown(() => {
      process.env.PATH = PATH
    })
    return folder
  }

  t.test('bwrap is missing', async t => {
    tools(t)
    await t.rejects(checkSandbox(), {
      constructor: Misconfigured,
      message: /ENOENT.*install bubblewrap.* runner.sandbox: none/
    })
    const { result, trace } = await build({ script: ['echo ran'] })
    t.match(result, { status: 'failed', reason: 'runner_system_failure' })
    t.match(trace, 'ERROR: runner: this machine cannot confine builds')
  })

  t.test('the kernel refuses namespaces', async t => {
    const folder = join(tools(t), 'bwrap')
    writeFileSync(folder, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n')
    chmodSync(folder, 0o755)
    await t.rejects(checkSandbox(), { message: /No permissions.*allow unprivileged user namespaces/ })
  })

  t.test('the check holds its folder as a build does, so that a killed check leaves none behind', async t => {
    const folder = join(tools(t), 'bwrap')
    const look =
      'for each; do case "$each" in */step) test -e "$' +
      '{each%/step}.lock" && echo "it is locked: $each" >&2;; esac; done'
    writeFileSync(folder, `#!/bin/sh\n${look}\nexit 1\n`)
    chmodSync(folder, 0o755)
    const parent = (await buildUser()) ? '/var/tmp' : join(config().home, 'tmp')
    await t.rejects(checkSandbox(), { message: new RegExp(`it is locked: ${parent}/gitstead-work-`) })
  })

  t.test('when this process is root, runner.user must be an existing ordinary user', async t => {
    for (const user of ['nobody-here', 'root']) {
      settings({ user })
      if (process.getuid?.() === 0) await t.rejects(checkSandbox(), { message: /runner\.user/ })
      else t.equal(await buildUser(), undefined)
    }
    settings()
  })

  t.test('a folder that the user of builds cannot enter is refused', async t => {
    const closed = t.testdir()
    chmodSync(closed, 0o700)
    mkdirSync(join(closed, 'work'))
    const { trace } = await build({ workFolder: join(closed, 'work') })
    t.match(trace, process.getuid?.() === 0 ? /the user nobody cannot enter .*: run chmod o\+x/ : /Build succeeded/)
  })
})

t.test('when a worker is killed its builds end, and the next worker removes their folders', async t => {
  settings()
  const module = (name: string) => JSON.stringify(new URL(`../../src/${name}.js`, import.meta.url).href)
  const program = `
    import { loadConfig } from ${module('config')}
    import { executeBuild } from ${module('runner/execute')}
    import { makeWorkFolder } from ${module('runner/folders')}
    loadConfig({ home: ${JSON.stringify(home)} })
    const none = async () => undefined
    const job = { id: 1, timeout: 600, variables: [], afterScript: [], artifacts: null, secrets: [],
      script: ['setsid sleep ${nap(8)} & echo rea""dy; wait'] }
    const workFolder = await makeWorkFolder()
    process.stdout.write('<' + workFolder + '>')
    await executeBuild(job, { workFolder, getSources: none, dependencies: [], putArtifacts: none, putVariables: none,
      writeTrace: async chunk => void process.stdout.write(chunk), signal: new AbortController().signal })`
  const worker = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const gone = once(worker, 'exit')
  let said = ''
  for await (const chunk of worker.stdout) {
    said += String(chunk)
    if (said.includes('ready')) worker.kill('SIGKILL')
  }
  await gone
  const folder = /<(.+)>/.exec(said)?.[1] ?? ''
  while (processesWith(`sleep\0${nap(8)}`).length > 0) await delay(10)
  // Another worker of this machine may be removing the folder at the same time.
  await removeStaleFolders()
  while (existsSync(folder)) await delay(10)
  t.match(folder, /gitstead-work-/)
  t.notOk(existsSync(`${folder}.lock`))
})

t.test(
  'a worker in a container, which has other numbers of processes, spares the folders of running builds',
  async t => {
    settings()
    const folder = await makeWorkFolder()
    const program = `
    import { loadConfig } from ${JSON.stringify(new URL('../../src/config.js', import.meta.url).href)}
    import { removeStaleFolders } from ${JSON.stringify(new URL('../../src/runner/folders.js', import.meta.url).href)}
    loadConfig({ home: ${JSON.stringify(home)} })
    await removeStaleFolders()
    process.stdout.write('process ' + process.pid)`
    const own = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']
    const container = [
      '--pid',
      '--fork',
      '--mount-proc',
      ...own,
      process.execPath,
      '--input-type=module',
      '-e',
      program
    ]
    const worker = spawn('unshare', container, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.equal(String(await buffer(worker.stdout)), 'process 1')
    t.ok(existsSync(folder), 'this process still holds it')
    await removeFolder(folder)
    t.notOk(existsSync(`${folder}.lock`))
  }
)

t.test('a build whose folder disappears must start again, whatever failed first', async t => {
  settings()
  const lose = (folder: string) => rmSync(folder, { recursive: true })
  t.test('while its script runs', async t => {
    const workFolder = await makeWorkFolder()
    const script = ['echo rea""dy; while [ -e README ]; do sleep 0.02; done; exit 3']
    const onTrace = (text: string) => text.includes('ready') && existsSync(workFolder) && lose(workFolder)
    const { result, trace } = await build({ workFolder, script, onTrace })
    t.match(result, { status: 'failed', reason: 'runner_system_failure', error: FolderLost })
    t.match(trace, 'ERROR: the folder of the build has disappeared; the build starts again')
  })
  t.test('before a step', async t => {
    const workFolder = await makeWorkFolder()
    const getSources: RunnerPort['getSources'] = async ({ run }) => {
      lose(workFolder)
      await run(['true'])
    }
    const { result, trace } = await build({ workFolder, getSources })
    t.match(result, { status: 'failed', error: FolderLost })
    t.notMatch(trace, 'bubblewrap')
  })
})

t.test('a nearly full disk is detected', async t => {
  const nothing = () => t.fail('the folder is not full')
  const reserve = Number.POSITIVE_INFINITY
  await new Promise<void>(onLow => watchDisk({ folder: home, limit: 1e12, onFull: nothing, onLow, reserve }))
  t.pass('called once')
})
