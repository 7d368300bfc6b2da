// Selects the test files of a run, and finds the programs that they need, from the imports between the built modules.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'

/** Imports, and modules that a test starts as programs. */
const SPECIFIER = /(?:\bfrom|\bimport|\bURL)\s*\(?\s*['"`]([^'"`]+)['"`]|['"`](dist\/[^'"`]+\.js)['"`]/g

const PROGRAM = 'dist/src/cli/main.js'
const COMMANDS = 'dist/src/cli/commands/'

/** These modules combine the whole product: nearly every test imports them, and with them everything. */
const TABLES = new Set([
  'dist/src/product.js',
  'dist/src/listeners.js',
  'dist/src/server/routes.js',
  'dist/src/worker/handlers.js',
  PROGRAM
])

/** The modules that start a program that a machine may lack. */
const STARTED_BY = {
  mariadbd: ['src/db/embedded/embedded.ts', 'test/setup.test.ts'],
  bwrap: ['src/runner/sandbox.ts', 'test/scenarios/openssh.ts', 'test/setup.test.ts'],
  ssh: ['test/server/ssh-client.ts', 'test/scenarios/openssh.ts'],
  chromium: ['test/helpers/chromium.ts'],
  'git-lfs': ['test/server/lfs/client.ts'],
  slapd: ['test/helpers/slapd.ts'],
  podman: ['test/helpers/engine.ts', 'test/package/debian-root.ts'],
  strip: ['test/package/packages.test.ts'],
  lintian: ['test/package/packages.test.ts'],
  mmdebstrap: ['test/package/debian-root.ts'],
  busybox: ['test/helpers/engine.ts'],
  'libgalera_smm.so': ['test/galera/galera.ts'],
  wsrep_sst_rsync: ['test/galera/galera.ts'],
  haproxy: ['test/galera/galera.ts']
}
const ALWAYS = ['git', 'bash', 'prlimit']

/** The built test files of a file or folder. */
export function testFiles(path) {
  const built = path.startsWith('dist/') ? path : builtFrom(path)
  const found = statSync(built, { throwIfNoEntry: false })
  if (!found) return []
  return found.isFile() ? [built] : modulesIn(built).filter(isTest)
}

/** The programs that these tests need. */
export function programsOf(files) {
  const reached = reachedFrom(files)
  const needed = Object.entries(STARTED_BY).filter(([, paths]) =>
    paths.some(path => {
      if (!existsSync(path)) throw new Error(`scripts/test-files.mjs names ${path}, which does not exist`)
      return reached.has(builtFrom(path))
    })
  )
  return [...ALWAYS, ...needed.map(([program]) => program)]
}

/** The built modules that these files import, and what those import. */
export function reachedFrom(files) {
  const { importsOf } = readGraph()
  const reached = new Set(files)
  for (const module of reached) for (const imported of importsOf.get(module) ?? []) reached.add(imported)
  return reached
}

/** The files that differ from a commit, including those that git does not track yet. */
export function changedFiles(commit) {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(Boolean)
  return [
    ...git('diff', '--name-only', '--no-renames', '-z', commit, '--'),
    ...git('ls-files', '--others', '--exclude-standard', '-z')
  ]
}

/**
 * The tests that import changed files. A module that only a table imports, such as the routes of an area, is covered by the tests in
 * the folder that mirrors it, and a command by the tests that call it.
 */
export function testsOfChanges(changed) {
  if (changed.some(path => ['package-lock.json', 'tsconfig.json'].includes(path))) return testFiles('dist/test')
  const graph = readGraph()
  const reached = new Set(changed.flatMap(path => (/\.tsx?$/.test(path) ? [builtFrom(path)] : readersOf(path, graph))))
  const tests = new Set()
  for (const module of reached) {
    if (isTest(module)) tests.add(module)
    if (TABLES.has(module)) continue
    const importers = graph.importersOf.get(module) ?? []
    for (const importer of importers) reached.add(importer)
    if (module.startsWith(COMMANDS)) for (const test of callersOf(module, graph)) tests.add(test)
    if (!importers.some(importer => TABLES.has(importer))) continue
    const mirrored = dirname(module).replace('dist/src', 'dist/test')
    for (const test of testFiles(mirrored)) tests.add(test)
  }
  return [...tests].filter(test => graph.texts.has(test))
}

/** The modules that name a file that is not a module, such as a page of the documentation, or its folder. */
function readersOf(path, { texts }) {
  const [folder = path, ...inner] = path.split('/')
  const name = basename(path)
  const names = [
    path,
    ...(/.\./.test(name) ? [`/${name}'`, `'${name}'`] : []),
    ...(inner.length > 0 ? [`'${folder}'`] : [])
  ]
  return [...texts].filter(([, text]) => names.some(name => text.includes(name))).map(([module]) => module)
}

/** The tests with the words of a command; the tests with its topic if no test has all words together. */
function callersOf(module, { texts }) {
  const words = module.slice(COMMANDS.length, -'.js'.length).split('/')
  const withAny = calls =>
    [...texts.keys()].filter(test => isTest(test) && calls.some(call => texts.get(test).includes(call)))
  const callers = withAny([words.join("', '"), words.join(' ')])
  return callers.length > 0 ? callers : withAny([`'${words[0]}'`]).filter(test => test.startsWith('dist/test/cli/'))
}

const isTest = module => module.endsWith('.test.js')

const builtFrom = path => join('dist', path.replace(/\.tsx?$/, '.js'))

const modulesIn = folder =>
  readdirSync(folder, { recursive: true })
    .filter(name => name.endsWith('.js'))
    .map(name => join(folder, name))

let graph

/** The texts of all modules, and their imports in both directions. */
function readGraph() {
  if (graph) return graph
  const texts = new Map(['dist/src', 'dist/test'].flatMap(modulesIn).map(path => [path, readFileSync(path, 'utf8')]))
  const importsOf = new Map()
  const importersOf = new Map()
  for (const [module, text] of texts) {
    const imports = [...text.matchAll(SPECIFIER)].map(([, specifier, program]) =>
      specifier === undefined ? program : normalize(join(dirname(module), specifier.replace(/\?.*/, '')))
    )
    if (text.includes('bin/gitstead')) imports.push(PROGRAM)
    if (module === PROGRAM) imports.push(...[...texts.keys()].filter(name => name.startsWith(COMMANDS)))
    importsOf.set(module, imports)
    for (const imported of imports) importersOf.set(imported, [...(importersOf.get(imported) ?? []), module])
  }
  graph = { texts, importsOf, importersOf }
  return graph
}
