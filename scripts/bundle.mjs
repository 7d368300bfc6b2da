// Joins the modules of server, worker, commands and completion into a few files: to find, read and link hundreds of modules takes Node.js
// longer than to run them. Packages stay outside, and modules that are imported on demand stay in separate files. The three packages that
// nearly everything loads are joined as well: they have 450 files.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

/** The programs, each with the files that only it reads. In a folder, each module is a program, and they share files. */
const ENTRIES = {
  server: 'server/process.js',
  worker: 'worker/process.js',
  completion: 'cli/names.js',
  commands: 'cli/commands'
}
/** These log no stack traces. */
const UNLOGGED = ['commands', 'completion']

/** Each is the only module that loads its package. The files of the package are joined in its place, for commands and bundles. */
const LOADERS = ['src/cli/oclif', 'src/db/connect/driver', 'src/db/connect/orm']
const placeOf = (loader, to = 'dist') => `${to}/${loader}.js`

/** The packages in the files of LOADERS, for their licenses. */
export const JOINED = 'src/joined.json'

/** Joins the modules of `dist/src` into the folder `to`, which gets its name when it is complete. */
export async function joinModules(to, entries = ENTRIES) {
  const draft = `${to}.${process.pid}`
  try {
    mkdirSync(draft, { recursive: true })
    for (const [name, entry] of Object.entries(entries)) {
      const sourcemap = !UNLOGGED.includes(name)
      await joinOne(entriesOf(join('dist/src', entry)), join(draft, name), { sourcemap })
    }
    renameSync(draft, to)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const COMMON = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'esnext',
  minifyWhitespace: true,
  legalComments: 'none',
  // V8 needs two bytes for each character of a text that contains others.
  charset: 'ascii',
  logLevel: 'warning'
}

/** All files are in one folder, so that the places of others are the same from each: `users/list.js` gets the name `users.list.js`. */
function entriesOf(place) {
  if (place.endsWith('.js')) return [{ in: place, out: 'main' }]
  const names = readdirSync(place, { recursive: true }).filter(name => name.endsWith('.js'))
  return names.map(name => ({ in: join(place, name), out: name.slice(0, -3).replaceAll('/', '.') }))
}

async function joinOne(entryPoints, folder, { sourcemap }) {
  await build({
    ...COMMON,
    entryPoints,
    outdir: folder,
    splitting: true,
    packages: 'external',
    sourcemap,
    sourcesContent: false,
    plugins: [
      { name: 'places', setup: keepPlaces(folder) },
      { name: 'loaders', setup: keepLoaders(folder) }
    ]
  })
}

/** Modules find files, threads and processes by their own place, which is that of the bundle otherwise. */
const keepPlaces = folder => bundle =>
  bundle.onLoad({ filter: /\/dist\/src\/.*\.js$/ }, ({ path }) => {
    const place = `new URL(${JSON.stringify(relative(resolve(folder), path))}, import.meta.url).href`
    return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place) }
  })

/** All bundles use the one file of a joined package. */
const keepLoaders = folder => bundle =>
  bundle.onResolve({ filter: /^\..*\/(oclif|driver|orm)\.js$/ }, ({ path, resolveDir }) => {
    const file = resolve(resolveDir, path)
    const kept = LOADERS.some(loader => resolve(placeOf(loader)) === file)
    return kept ? { path: relative(resolve(folder), file), external: true } : undefined
  })

/** Packages of the older kind require modules of Node.js. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** Joins the files of packages with the modules that load them, in the folder of all compiled modules. */
export async function joinPackages(to = 'dist') {
  const packages = new Set()
  for (const loader of LOADERS) {
    const { metafile } = await build({
      ...COMMON,
      entryPoints: [`${loader}.ts`],
      outfile: placeOf(loader, to),
      metafile: true,
      banner: { js: REQUIRE },
      external: OUTSIDE,
      plugins: [
        { name: 'later', setup: loadLater },
        { name: 'ascii', setup: readAscii },
        { name: 'left', setup: leaveOut }
      ]
    })
    // Otherwise it would belong to the module without its package.
    rmSync(`${placeOf(loader, to)}.map`, { force: true })
    for (const input of Object.keys(metafile.inputs))
      packages.add(/.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0])
  }
  packages.delete(undefined)
  writeFileSync(join(to, JOINED), JSON.stringify([...packages].sort()))
}

/**
 * The first has 500 kB of tables, which are for texts in other encodings than UTF-8. The others are for PostgreSQL, and for commands in
 * TypeScript: a package has neither.
 */
const OUTSIDE = ['iconv-lite', 'pg-hstore', 'typescript']

/** What Sequelize loads for other databases. */
const DIALECTS = /^\.\/dialects\/(db2|mariadb|mssql|oracle|postgres|snowflake|sqlite)$/
/** It also loads 700 kB about time zones, but all our times are in UTC. */
const ZONES = /\/moment-timezone\/data\/packed\/latest\.json$/

/**
 * What a package requires at its start, and a command hardly ever uses: together they take 40 ms. Of these, packages only read members by
 * their names.
 */
const LATER = /^(iconv-lite|(node:)?(crypto|tls|zlib))$|\/constants\/errors\.js$/

function loadLater(bundle) {
  bundle.onResolve({ filter: LATER }, ({ path, namespace, resolveDir }) => {
    if (namespace !== 'later') return { path, namespace: 'later', pluginData: resolveDir }
  })
  bundle.onLoad({ filter: /./, namespace: 'later' }, ({ path, pluginData }) => ({
    contents: `let found; module.exports = new Proxy({}, { get: (_, name) => (found ??= require(${JSON.stringify(path)}))[name] })`,
    resolveDir: pluginData
  }))
}

/** The driver reads the version of the server, which is ASCII, in an encoding of MySQL, so that each command would load all encodings. */
function readAscii(bundle) {
  bundle.onLoad({ filter: /\/mysql2\/lib\/packets\/(handshake|auth_switch_request)\.js$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll("'cesu8'", "'latin1'")
  }))
}

function leaveOut(bundle) {
  bundle.onResolve({ filter: DIALECTS }, ({ path }) => ({ path, namespace: 'left' }))
  bundle.onLoad({ filter: /./, namespace: 'left' }, () => ({ contents: '' }))
  bundle.onLoad({ filter: ZONES }, () => ({ contents: '{"version":"","zones":[],"links":[]}', loader: 'json' }))
}
