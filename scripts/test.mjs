// The test run: types, then every test against real databases. Arguments name test files or folders; without them the
// whole run also checks format and lint. The last line counts assertions.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Seconds for one file. Only a fault takes so long, however busy the machine is. */
process.env.TAP_TIMEOUT = '1800'

/** Tests that start processes take longest: they begin first, so that none of them is left for one core at the end. */
const FIRST = ['cli', 'scenarios', 'chaos', 'attack', 'worker', 'queue', 'areas/backup'].map(
  name => `dist/test/${name}/`
)

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

const named = process.argv.slice(2)
const whole = named.length === 0
const setup = spawnSync(process.execPath, ['scripts/setup.mjs', '--tests', ...(whole ? [] : ['--no-manifest'])], {
  stdio: 'inherit'
})
if (setup.status !== 0) end(0, 1)

const files = (whole ? ['test'] : named).flatMap(testFiles).sort((one, other) => turn(one) - turn(other))
if (files.length === 0) {
  process.stderr.write('no test has this name\n')
  end(0, 1)
}

// The tests begin at once, beside the checks. What the compiler keeps from the last check makes the next one faster, but it misses some effects of a changed table on others:
// only named tests use it.
const KEPT = ['--singleThreaded', '--incremental', '--tsBuildInfoFile', '.tap/types.json']
const checks = [check('npm', ['run', '--silent', 'types', '--', ...(whole ? [] : KEPT)])]
if (whole) checks.push(check('node_modules/.bin/biome', ['check', '.']))

const { code, lines } = await runTests()
if (code !== 0) tellFailures(lines)
// The last comments tell how many assertions there were, and how many of them failed.
const counts = lines.findLast(line => line.startsWith('# { total: ')) ?? ''
const count = kind => Number(new RegExp(` ${kind}: (\\d+)`).exec(counts)?.[1] ?? 0)
const right = (await passed(checks)) && code === 0
end(count('pass'), Math.max(count('fail'), right ? 0 : 1))

/** Runs the files, and prints a line for each; gives the exit code and all that they said. */
async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
  const server = await startServer(folder)
  mkdirSync('.tap', { recursive: true })
  const output = createWriteStream('.tap/results.tap')
  // One file needs no runner, which would take half a second to load.
  const program = files.length === 1 ? ['--enable-source-maps'] : ['scripts/run-tests.mjs']
  const tests = spawn(process.execPath, [...program, ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = []
  for await (const line of createInterface(tests.stdout)) {
    output.write(`${line}\n`)
    lines.push(line)
    // Files that share a process are one level deeper.
    if (/^(not )?ok |^ {4}(not )?ok \d+ - dist\/test\//.test(line)) process.stdout.write(`${line}\n`)
  }
  const code = tests.exitCode ?? (await once(tests, 'exit'))[0]
  output.end()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
  return { code, lines }
}

/**
 * One database server for all files: that of GITSTEAD_TEST_SERVER, or an embedded one. A file that runs alone starts its own, if it
 * needs one.
 */
async function startServer(folder) {
  if (files.length === 1) return undefined
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

/** Whether all checks passed; tells what the others found. */
async function passed(checks) {
  const failed = (await Promise.all(checks)).filter(({ code }) => code !== 0)
  for (const { said } of failed) process.stdout.write(said)
  return failed.length === 0
}

/** Each assertion that failed, under the names of its tests. */
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

/** The built files of a test file or folder. */
function testFiles(path) {
  const built = path.startsWith('dist/') ? path : join('dist', path.replace(/\.tsx?$/, '.js'))
  const found = statSync(built, { throwIfNoEntry: false })
  if (!found) return []
  if (found.isFile()) return [built]
  return readdirSync(built).flatMap(name => {
    const inner = join(built, name)
    if (statSync(inner).isDirectory()) return testFiles(inner)
    return name.endsWith('.test.js') ? [inner] : []
  })
}

function turn(file) {
  const at = FIRST.findIndex(folder => file.startsWith(folder))
  return at === -1 ? FIRST.length : at
}

function end(passed, failed) {
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exit(failed > 0 ? 1 : 0)
}
