// The test run: every test against real databases, then types, format and lint. The last line counts assertions.
//   npm test                      all tests except those of --long
//   npm test -- PATH...           the files or folders with these names, and types
//   npm test -- --changed[=REV]   the tests of files that differ from a commit, HEAD by default, and types
//   npm test -- --long            attacks, killed processes, other long tests, and every cell of the access matrix
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { changedFiles, programsOf, testFiles, testsOfChanges } from './test-files.mjs'

/** Tests have no limit of their own: `runTests` ends a run in which nothing happens. */
process.env.TAP_TIMEOUT = '0'

/**
 * Tests in a browser, of backups of whole homes, and others that take more than about ten seconds of a processor: `npm run test:long`.
 * `npm test` must end within eight minutes, so that people run it before each commit. The main job stays there.
 */
const LONG = [
  'test/areas/ci/runners/runner-v4.test.ts',
  'test/areas/code/mirrors/killed.test.ts',
  'test/areas/code/mirrors/openssh.test.ts',
  'test/areas/code/mirrors/pull.test.ts',
  'test/areas/code/mirrors/push.test.ts',
  'test/areas/code/refs/pushes.test.ts',
  'test/areas/ground/records/archive.test.ts',
  'test/areas/ground/settings/encryption-key.test.ts',
  'test/areas/migrate/migrations/killed.test.ts',
  'test/areas/migrate/migrations/machines.test.ts',
  'test/areas/migrate/migrations/migrations.test.ts',
  'test/areas/migrate/runs/hostile-source.test.ts',
  'test/areas/migrate/runs/killed-runs.test.ts',
  'test/areas/migrate/runs/other-home.test.ts',
  'test/areas/migrate/runs/run.test.ts',
  'test/areas/planning/merge-requests/accept.test.ts',
  'test/areas/reach/replies/replies.test.ts',
  'test/areas/upkeep/backup/backup.test.ts',
  'test/areas/upkeep/backup/bucket.test.ts',
  'test/areas/upkeep/backup/damaged-objects.test.ts',
  'test/areas/upkeep/backup/restore-home.test.ts',
  'test/areas/upkeep/backup/restore.test.ts',
  'test/areas/upkeep/file-moves/killed-moves.test.ts',
  'test/areas/upkeep/file-moves/move-project.test.ts',
  'test/areas/upkeep/lfs/races.test.ts',
  'test/areas/upkeep/project-archives/project-archives.test.ts',
  'test/attack',
  'test/chaos',
  'test/cli/appliance',
  'test/cli/completion.test.ts',
  'test/cli/doctor.test.ts',
  'test/cli/first-run.test.ts',
  'test/cli/homes.test.ts',
  'test/cli/owner.test.ts',
  'test/cli/projects.test.ts',
  'test/cli/support',
  'test/cli/top.test.ts',
  'test/cli/up.test.ts',
  'test/cli/users.test.ts',
  'test/db/connect/replica.test.ts',
  'test/db/embedded',
  'test/db/hung.test.ts',
  'test/db/lists/long-texts.test.ts',
  'test/galera',
  'test/git/history/commit-graph.test.ts',
  'test/git/process/limits.test.ts',
  'test/git/process/questions.test.ts',
  'test/git/transport/small.test.ts',
  'test/package/packages.test.ts',
  'test/product.test.ts',
  'test/queue/processes.test.ts',
  'test/runner/docker.test.ts',
  'test/runner/limits.test.ts',
  'test/scenarios/backup.test.ts',
  'test/scenarios/builds.test.ts',
  'test/scenarios/large-files.test.ts',
  'test/scenarios/local-disks.test.ts',
  'test/scenarios/logs.test.ts',
  'test/scenarios/machines.test.ts',
  'test/scenarios/mirrors.test.ts',
  'test/scenarios/pushes.test.ts',
  'test/scenarios/ssh.test.ts',
  'test/scenarios/visible-at-once.test.ts',
  'test/server/handover.test.ts',
  'test/server/kept-answers.test.ts',
  'test/server/kept-readings.test.ts',
  'test/server/pages/account/browser.test.ts',
  'test/server/pages/account/passkeys.test.ts',
  'test/server/pages/browser.test.ts',
  'test/server/pages/code/browser.test.ts',
  'test/server/pages/links.test.ts',
  'test/server/pages/looks.test.ts',
  'test/server/pages/merge-requests/script.test.ts',
  'test/server/pages/planning/script.test.ts',
  'test/server/pages/visibility.test.ts',
  'test/server/push-answers.test.ts',
  'test/server/ssh-abuse.test.ts',
  'test/server/ssh-host-keys.test.ts',
  'test/server/ssh.test.ts',
  'test/storage/places.test.ts',
  'test/upgrade/upgrade.test.ts',
  'test/worker/worker.test.ts'
]

/** Milliseconds until another file ends. Only a fault takes longer, however busy the machine is. */
const STALLED = process.argv.includes('--long') ? 900_000 : 300_000

/** The seconds of each file in the last run that included it. */
const TIMES = '.tap/times.json'

const started = Date.now()
const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)
mkdirSync('.tap', { recursive: true })
// A fifth of the start of a server is the compiler, and the tests start hundreds.
process.env.NODE_COMPILE_CACHE = join(root, '.tap/compiled')

const args = process.argv.slice(2)
const long = args.includes('--long')
const whole = args.length === 0
if (long) process.env.GITSTEAD_TEST_MATRIX = 'full'

setUp(long ? ['--long'] : whole ? ['--tests'] : ['--programs=', '--no-manifest'])
const files = filesOfRun()
if (!whole && !long) setUp([`--programs=${programsOf(files)}`, '--no-manifest'])
const times = existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {}
// The slowest files begin first, so that no processor is idle at the end. A new file may be slow.
const seconds = file => times[file]?.wall ?? Number.POSITIVE_INFINITY
files.sort((one, other) => (seconds(one) === seconds(other) ? 0 : seconds(other) - seconds(one)))

const { code, lines } = await runTests()
if (code !== 0) tellFailures(lines)
// The last comments have the number of assertions, and of failed ones.
const counts = lines.findLast(line => line.startsWith('# { total: ')) ?? ''
const count = kind => Number(new RegExp(` ${kind}: (\\d+)`).exec(counts)?.[1] ?? 0)

// The compiler's record of the last check makes the next one faster, but it misses some effects of a changed table on others:
// only runs of named tests use it.
const KEPT = ['--singleThreaded', '--incremental', '--tsBuildInfoFile', '.tap/types.json']
const checks = long ? [] : [check('npm', ['run', '--silent', 'types', '--', ...(whole ? [] : KEPT)])]
if (whole) checks.push(check('node_modules/.bin/biome', ['check', '.']), check('node_modules/.bin/knip', []))
const right = (await passed(checks)) && code === 0
process.stdout.write(`${files.length} files in ${Math.round((Date.now() - started) / 1000)} s\n`)
end(count('pass'), Math.max(count('fail'), right ? 0 : 1))

function setUp(options) {
  const setup = spawnSync(process.execPath, ['scripts/setup.mjs', ...options], { stdio: 'inherit' })
  if (setup.status !== 0) end(0, 1)
}

/** The built files of this run. */
function filesOfRun() {
  if (whole) return testFiles('test').filter(file => !isLong(file))
  if (long) return testFiles('test').filter(file => isLong(file) || file.endsWith('/access.test.js'))
  const since = /^--changed(?:=(.+))?$/.exec(args[0])
  if (!since) return named(args)
  const found = testsOfChanges(changedFiles(since[1] ?? 'HEAD')).filter(file => !isLong(file))
  if (found.length > 0) return found
  process.stdout.write('no test imports what has changed\n')
  return end(0, 0)
}

function isLong(file) {
  return LONG.some(path => {
    const found = testFiles(path)
    if (found.length === 0) throw new Error(`scripts/test.mjs names ${path}, which has no tests`)
    return found.includes(file)
  })
}

function named(paths) {
  for (const path of paths) {
    if (testFiles(path).length > 0) continue
    process.stderr.write(`no test has the name ${path}\n`)
    end(0, 1)
  }
  return [...new Set(paths.flatMap(testFiles))]
}

/** Runs the files, and prints a line for each; returns the exit code and the whole output. */
async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
  const server = await startServer(folder)
  const output = createWriteStream('.tap/results.tap')
  process.env.GITSTEAD_TEST_TIMES = join(folder, 'times')
  // One file needs no runner, which would take half a second to load.
  const [file] = files
  const program =
    files.length === 1
      ? ['--enable-source-maps', 'dist/test/helpers/one-file.js', file]
      : ['scripts/run-tests.mjs', ...files]
  const tests = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] })
  const watch = endWhenStalled(tests, process.env.GITSTEAD_TEST_TIMES)
  const lines = []
  for await (const line of createInterface(tests.stdout)) {
    output.write(`${line}\n`)
    lines.push(line)
    // Files that share a process are one level deeper.
    if (/^(not )?ok |^ {4}(not )?ok \d+ - dist\/test\//.test(line)) process.stdout.write(`${line}\n`)
  }
  const code = tests.exitCode ?? tests.signalCode ?? (await once(tests, 'exit'))[0]
  clearInterval(watch)
  output.end()
  keepTimes(process.env.GITSTEAD_TEST_TIMES)
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
  return { code, lines }
}

/** Kills the run, and names the files that did not end, when no file has begun or ended for too long. */
function endWhenStalled(tests, path) {
  let [changed, size] = [Date.now(), 0]
  return setInterval(() => {
    const now = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (now !== size) [changed, size] = [Date.now(), now]
    if (Date.now() - changed < STALLED) return
    const ended = new Set(linesOf(path).flatMap(line => (line.wall === undefined ? [] : [line.file])))
    const running = linesOf(path).flatMap(({ file }) => (ended.has(file) ? [] : [file]))
    process.stdout.write(`no test file has ended for ${STALLED / 1000} s: ${running.join(', ')}\n`)
    const children = readFileSync(`/proc/${tests.pid}/task/${tests.pid}/children`, 'utf8').split(' ').filter(Boolean)
    tests.kill('SIGKILL')
    for (const child of children) process.kill(Number(child), 'SIGKILL')
  }, 5000)
}

/** What test/helpers/times.ts wrote. */
function linesOf(path) {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
}

/** Files that a run of many files did not reach keep their times. */
function keepTimes(path) {
  for (const { file, ...time } of linesOf(path)) if (time.wall !== undefined) times[file] = time
  const sorted = Object.entries(times).sort(([, one], [, other]) => other.cpu - one.cpu)
  writeFileSync(TIMES, `{\n${sorted.map(([file, time]) => `"${file}": ${JSON.stringify(time)}`).join(',\n')}\n}\n`)
}

/**
 * One database server for all files: that of GITSTEAD_TEST_SERVER, or an embedded one. A file that runs on its own starts a server
 * if it needs one.
 */
async function startServer(folder) {
  if (files.length === 1 || !programsOf(files).includes('mariadbd')) return undefined
  const { makeTemplate, runningTestServer, startTestServer } = await import('../dist/test/helpers/database-server.js')
  const running = process.env.GITSTEAD_TEST_SERVER
  const server = running ? runningTestServer(running) : await startTestServer()
  const schema = join(folder, 'schema.sql')
  await makeTemplate(server, schema)
  process.env.GITSTEAD_TEST_SERVER = server.url
  process.env.GITSTEAD_TEST_SCHEMA = schema
  return server
}

function check(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      said += text
    })
  }
  return new Promise(resolve => child.once('close', code => resolve({ code, said })))
}

/** Returns whether all checks passed; prints the output of the others. */
async function passed(checks) {
  const failed = (await Promise.all(checks)).filter(({ code }) => code !== 0)
  for (const { said } of failed) process.stdout.write(said)
  return failed.length === 0
}

/** Prints each failed assertion, under the names of its tests. */
function tellFailures(lines) {
  const names = []
  let inside = false
  for (const line of lines) {
    const depth = line.search(/\S/) / 4
    const name = /^ *# Subtest: (.*)/.exec(line)?.[1]
    if (name !== undefined) names.splice(depth, Number.POSITIVE_INFINITY, name)
    if (/^ *not ok /.test(line)) process.stdout.write(`\n${names.slice(0, Math.ceil(depth)).join(' > ')}\n`)
    inside = /^ *not ok /.test(line) || (inside && !/^ *(ok \d|1\.\.\d|\.\.\.$|# )/.test(line))
    if (inside) process.stdout.write(`${line}\n`)
  }
}

function end(passed, failed) {
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exit(failed > 0 ? 1 : 0)
}
