// Builds dist and the manifest, unless the sources are unchanged. Types are not checked, because that takes ten times as long:
// `npm test` checks them while the tests run.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { joinModules, joinPackages } from './bundle.mjs'

/** What the compiler keeps from its last build, so that it writes only the changed files. */
const INFO = '.tsbuildinfo'
const STAMP = 'dist/.built'
const MANIFEST = 'oclif.manifest.json'
const OPENAPI = 'dist/src/openapi.json'
const BUNDLES = 'dist/bundle'
const DEFAULTS = 'config/default.yaml'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

// The sources are read before the build: a later edit is noticed next time.
const sources = ['src', 'test', 'bench', 'scripts', DEFAULTS].flatMap(filesOf)
const wanted = {
  names: hash([...sources, ...['tsconfig.json', 'package.json', 'package-lock.json'].map(version)]),
  files: hash(sources.map(version))
}
const [names, files] = existsSync(STAMP) ? readFileSync(STAMP, 'utf8').split('\n') : []
if (names !== wanted.names || files !== wanted.files) build()
noteRevision()
// A named test does not need the manifest: without it, oclif reads the commands themselves, which takes a little longer.
const whole = !process.argv.includes('--no-manifest')
if (whole && !existsSync(MANIFEST)) run('scripts/manifest.mjs')
if (whole && !existsSync(OPENAPI)) run('scripts/openapi.mjs')
if (whole && !existsSync(BUNDLES)) {
  await joinPackages()
  await joinModules(BUNDLES)
}

/** The stamp is written last: an interrupted build is repeated. */
function build() {
  const started = Date.now()
  const drafts = readdirSync('.').filter(name => name.startsWith('dist.'))
  for (const path of [STAMP, MANIFEST, OPENAPI, BUNDLES, ...drafts]) remove(path)
  if (names === wanted.names && existsSync(`dist/${INFO}`)) compile('dist')
  else compileAnew()
  writeFileSync('dist/src/default.json', JSON.stringify(parse(readFileSync(DEFAULTS, 'utf8'))))
  writeFileSync(STAMP, `${wanted.names}\n${wanted.files}`)
  process.stderr.write(`setup: built in ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
}

/** A program that is copied without its checkout keeps the revision that it was built from. */
function noteRevision() {
  if (!existsSync('.git')) return
  try {
    const id = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore']
    })
    writeFileSync('dist/src/revision', id.trim())
  } catch {
    // The owner of the checkout is somebody else, or git is not installed yet.
    remove('dist/src/revision')
  }
}

/** Compiles into a new folder, so that a deleted source leaves no program behind. */
function compileAnew() {
  const next = `dist.${process.pid}`
  compile(next)
  if (existsSync('dist')) renameSync('dist', `${next}.old`)
  renameSync(next, 'dist')
  remove(`${next}.old`)
}

function compile(folder) {
  const into = ['--outDir', folder, '--incremental', '--tsBuildInfoFile', `${folder}/${INFO}`]
  run('node_modules/typescript/bin/tsc', '-p', '.', '--noCheck', ...into)
}

function filesOf(folder) {
  if (!existsSync(folder)) return []
  if (statSync(folder).isFile()) return [folder]
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

/** A text that changes when the file does. */
function version(path) {
  const { size, mtimeMs } = statSync(path)
  return `${path} ${size} ${mtimeMs}`
}

function hash(lines) {
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
}

function run(program, ...args) {
  try {
    execFileSync(process.execPath, [program, ...args], { stdio: ['ignore', 2, 2] })
  } catch {
    process.stderr.write(`setup: ${program} ${args.join(' ')} failed\n`)
    process.exit(1)
  }
}

/** A compiler whose build was killed may still write for a moment. */
function remove(path) {
  rmSync(path, { recursive: true, force: true, maxRetries: 10 })
}
