// The whole test run: format, lint, types, then every test against one real database server. Arguments name test files
// or folders; the last line counts assertions.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

const setup = spawnSync(process.execPath, ['scripts/setup.mjs', '--development'], { stdio: 'inherit' })
if (setup.status !== 0) end(0, 1)

const named = process.argv.slice(2)
if (named.length === 0) {
  const check = spawnSync('node_modules/.bin/biome', ['check', '.'], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (check.status !== 0) end(0, 1)
}

const files = (named.length > 0 ? named : ['test']).flatMap(testFiles)
if (files.length === 0) {
  process.stderr.write('no test has this name\n')
  end(0, 1)
}

const home = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
process.env.GITSTEAD_HOME = home
const { startTestServer } = await import('../dist/test/helpers/database-server.js')
const server = await startTestServer(home)
process.env.GITSTEAD_TEST_SERVER = server.url

mkdirSync('.tap', { recursive: true })
const results = '.tap/results.tap'
rmSync(results, { force: true })
const args = ['run', '--reporter=terse', `--output-file=${results}`, ...files]
const tap = spawn('node_modules/.bin/tap', args, { stdio: ['ignore', 'inherit', 'inherit'] })
const code = await new Promise(resolve => tap.once('exit', resolve))
await server.stop()
rmSync(home, { recursive: true, force: true })

const counts = /# \{ total: (\d+)(?:, pass: (\d+))?(?:, fail: (\d+))?(?:, skip: (\d+))?/.exec(
  readFileSync(results, 'utf8')
)
if (code !== 0) tellFailures(readFileSync(results, 'utf8'))
const passed = Number(counts?.[2] ?? 0)
const failed = Number(counts?.[3] ?? 0)
end(passed, code === 0 ? failed : Math.max(failed, 1))

/** Each assertion that failed, under the names of its tests: the reporter tells nothing of them to a pipe. */
function tellFailures(tap) {
  const names = []
  let inside = false
  for (const line of tap.split('\n')) {
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

function end(passed, failed) {
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exit(failed > 0 ? 1 : 0)
}
