// Joins the modules of server, worker, commands and completion into a few files: to find, read and link hundreds of modules takes Node.js
// longer than to run them. Modules that are imported on demand stay in separate files. Server and worker also join the packages that they
// load at their start. The three packages that nearly everything loads are one file each: they have 450 files.
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
/** These log no stack traces, and their packages stay outside. */
const SHORT = ['commands', 'completion']

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
      await joinOne(entriesOf(join('dist/src', entry)), join(draft, name), SHORT.includes(name) ? APART : WHOLE)
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

async function joinOne(entryPoints, folder, { plugins = [], ...options }) {
  await build({
    ...COMMON,
    ...options,
    entryPoints,
    outdir: folder,
    splitting: true,
    plugins: [
      ...plugins,
      { name: 'places', setup: keepPlaces(folder) },
      { name: 'loaders', setup: keepLoaders(folder) }
    ]
  })
}

/** Texts in files of packages that are replaced. */
const CHANGES = [
  {
    // The driver reads the version of the server, which is ASCII, in an encoding of MySQL, so that each command would load all encodings.
    file: /\/mysql2\/lib\/packets\/(handshake|auth_switch_request)\.js$/,
    text: "'cesu8'",
    by: "'latin1'"
  },
  {
    // The page of the API finds its static files by the place of its module.
    file: /\/@fastify\/swagger-ui\/lib\/routes\.js$/,
    text: '__dirname',
    by: "require('node:path').dirname(require.resolve('@fastify/swagger-ui/lib/routes.js'))"
  },
  {
    // The router compiles a function for each part of the path of each route: longer than all its calls take.
    file: /\/find-my-way\/lib\/node\.js$/,
    text: /new Function\('path', 'i'.*/,
    by: '(path, i) => path.startsWith(prefix, i)'
  }
]

function changeTexts(bundle) {
  for (const { file, text, by } of CHANGES) {
    bundle.onLoad({ filter: file }, ({ path }) => {
      const before = readFileSync(path, 'utf8')
      const contents = before.replaceAll(text instanceof RegExp ? new RegExp(text, 'g') : text, () => by)
      if (contents === before) throw new Error(`${path} has no ${text} any more: see scripts/bundle.mjs`)
      return { contents }
    })
  }
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

/** Packages of the older kind require modules of Node.js. Our own modules have the usual name of this function. */
const REQUIRE = {
  js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"
}

/** How the packages of a program are joined, or not. */
const APART = { packages: 'external' }
const WHOLE = {
  banner: REQUIRE,
  sourcemap: true,
  sourcesContent: false,
  plugins: [
    { name: 'packages', setup: joinAtStart },
    { name: 'changes', setup: changeTexts }
  ]
}

/** Packages with compiled code are no text. */
const COMPILED = /^(@node-rs\/argon2|ssh2)$/

/** Packages that our modules import on demand stay outside. */
function joinAtStart(bundle) {
  bundle.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
    if (kind === 'entry-point' || importer.includes('/node_modules/')) return undefined
    return kind === 'dynamic-import' || COMPILED.test(path) ? { path, external: true } : undefined
  })
}

/** Joins the files of packages with the modules that load them, in the folder of all compiled modules. */
export async function joinPackages(to = 'dist') {
  const packages = new Set()
  for (const loader of LOADERS) {
    const { metafile } = await build({
      ...COMMON,
      entryPoints: [`${loader}.ts`],
      outfile: placeOf(loader, to),
      metafile: true,
      banner: REQUIRE,
      external: OUTSIDE,
      plugins: [
        { name: 'later', setup: loadLater },
        { name: 'changes', setup: changeTexts },
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

function leaveOut(bundle) {
  bundle.onResolve({ filter: DIALECTS }, ({ path }) => ({ path, namespace: 'left' }))
  bundle.onLoad({ filter: /./, namespace: 'left' }, () => ({ contents: '' }))
  bundle.onLoad({ filter: ZONES }, () => ({ contents: '{"version":"","zones":[],"links":[]}', loader: 'json' }))
}
