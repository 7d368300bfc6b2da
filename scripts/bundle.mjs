// Joins the modules of server, worker, commands and completion into a few files: to find, read and link hundreds of modules takes
// Node.js longer than to run them. Modules that are imported on demand stay in separate files, and most packages stay outside.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

/** The programs, each with the files that only it reads. */
const ENTRIES = {
  server: 'server/process.js',
  worker: 'worker/process.js',
  completion: 'cli/names.js',
  cli: 'cli/main.js'
}
/** oclif loads the module of a command by its place, so each is an entry of its own. */
const COMMANDS = 'cli/commands'
/** The programs that end soon. Looking for the files of these packages would take them longer than all the rest. */
const SHORT = ['completion', 'cli']
const JOINED = /^(@oclif\/core|fastest-levenshtein|lru-cache|mysql2)(\/|$)/

/** Joins the modules of `dist/src` into the folder `to`, which gets its name when it is complete. */
export async function joinModules(to, entries = ENTRIES) {
  const draft = `${to}.${process.pid}`
  try {
    mkdirSync(draft, { recursive: true })
    for (const [name, entry] of Object.entries(entries)) {
      const commands = entry === ENTRIES.cli ? modulesIn(COMMANDS) : []
      await joinOne({ entry, commands, short: SHORT.includes(name) }, join(draft, name))
    }
    renameSync(draft, to)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function joinOne({ entry, commands, short }, folder) {
  const places = { name: 'places', setup: keepPlaces(folder) }
  const one = path => ({ in: join('dist/src', path), out: relative('cli', path).replace(/\.js$/, '') })
  await build({
    entryPoints: [{ in: join('dist/src', entry), out: 'main' }, ...commands.map(one)],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    sourcemap: !short,
    sourcesContent: false,
    minifyWhitespace: true,
    legalComments: 'none',
    // V8 needs two bytes for each character of a text that contains others.
    charset: 'ascii',
    logLevel: 'warning',
    ...(short
      ? { banner: { js: REQUIRE }, plugins: [places, { name: 'packages', setup: leaveOut }] }
      : { packages: 'external', plugins: [places] })
  })
}

/** Packages of the older kind require modules of Node.js. */
const REQUIRE = "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

const modulesIn = folder =>
  readdirSync(join('dist/src', folder), { recursive: true })
    .filter(name => name.endsWith('.js'))
    .map(name => join(folder, name))

/** Leaves out the packages that our own modules import, except the joined ones. These take their own packages along. */
function leaveOut(bundle) {
  bundle.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
    const inside = kind === 'entry-point' || importer.includes('/node_modules/') || JOINED.test(path)
    return inside ? undefined : { path, external: true }
  })
}

/** Modules find files, threads and processes by their own place, which is that of the bundle otherwise. */
const keepPlaces = folder => bundle =>
  bundle.onLoad({ filter: /\/dist\/src\/.*\.js$/ }, ({ path }) => {
    const place = `new URL(${JSON.stringify(relative(resolve(folder), path))}, import.meta.url).href`
    return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place) }
  })
