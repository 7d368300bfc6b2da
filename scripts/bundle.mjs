// Joins the modules of server, worker and completion into a few files: to find, read and link hundreds of modules takes Node.js longer
// than to run them. Packages stay outside, and modules that are imported on demand stay in separate files.
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

/** The programs, each with the files that only it reads. */
const ENTRIES = { server: 'server/process.js', worker: 'worker/process.js', completion: 'cli/names.js' }

/** Joins the modules of `dist/src` into the folder `to`, which gets its name when it is complete. */
export async function joinModules(to, entries = ENTRIES) {
  const draft = `${to}.${process.pid}`
  try {
    mkdirSync(draft, { recursive: true })
    for (const [name, entry] of Object.entries(entries)) await joinOne(join('dist/src', entry), join(draft, name))
    renameSync(draft, to)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function joinOne(entry, folder) {
  await build({
    entryPoints: [{ in: entry, out: 'main' }],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    legalComments: 'none',
    // V8 needs two bytes for each character of a text that contains others.
    charset: 'ascii',
    logLevel: 'warning',
    plugins: [{ name: 'places', setup: keepPlaces(folder) }]
  })
}

/** Modules find files, threads and processes by their own place, which is that of the bundle otherwise. */
const keepPlaces = folder => bundle =>
  bundle.onLoad({ filter: /\/dist\/src\/.*\.js$/ }, ({ path }) => {
    const place = `new URL(${JSON.stringify(relative(resolve(folder), path))}, import.meta.url).href`
    return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place) }
  })
