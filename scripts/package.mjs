// Builds the packages of this version: `npm run package -- [--to FOLDER] [--sign-ssh KEY] [--sign-gpg ID]`. The same commit gives the
// same bytes.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeDebian } from './package/debian.mjs'
import { makeTarball } from './package/tarball.mjs'
import { makeTree, printedBy, sizesOf } from './package/tree.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const { values: options } = parseArgs({
  options: {
    /** The folder of the packages. */
    to: { type: 'string', default: 'dist/packages' },
    /** Builds only the tree, in the folder `gitstead` there. */
    tree: { type: 'boolean', default: false },
    /** Compresses little, for tests. */
    quick: { type: 'boolean', default: false },
    /** Signs the checksums with this private key of SSH, or with this key of GnuPG. */
    'sign-ssh': { type: 'string' },
    'sign-gpg': { type: 'string' }
  }
})

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const time = timeOfFiles()
const to = resolve(options.to)
execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: ['ignore', 2, 2] })
mkdirSync(to, { recursive: true })
const draft = mkdtempSync(join(tmpdir(), 'gitstead-package-'))
try {
  const tree = options.tree ? join(to, 'gitstead') : join(draft, 'gitstead')
  if (existsSync(tree)) throw new Error(`${tree} exists: remove it first`)
  const packages = await makeTree(tree, { time, version })
  const { bytes, disk } = sizesOf(tree)
  say(
    `${packages.length} packages, ${(bytes / 1e6).toFixed(1)} MB of files, ${Math.round(disk / 2 ** 20)} MiB on this disk`
  )
  if (!options.tree) {
    const parts = { to, draft, time, version, printed: printedBy(tree), quick: options.quick }
    sign([makeDebian(tree, parts), makeTarball(tree, parts)])
  }
} finally {
  rmSync(draft, { recursive: true, force: true })
}

/** The time of all files, in seconds: that of the commit, so that two builds of it are the same. */
function timeOfFiles() {
  const given = process.env.SOURCE_DATE_EPOCH
  if (given !== undefined) return Number(given)
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }))
}

/** Writes the checksums of the packages, and signs them. */
function sign(paths) {
  const sums = join(to, 'SHA256SUMS')
  const hashOf = path => createHash('sha256').update(readFileSync(path)).digest('hex')
  writeFileSync(sums, paths.map(path => `${hashOf(path)}  ${basename(path)}\n`).join(''))
  for (const path of paths) say(path)
  for (const ending of ['sig', 'asc']) rmSync(`${sums}.${ending}`, { force: true })
  const run = (command, ...args) => execFileSync(command, args, { stdio: ['inherit', 2, 2] })
  if (options['sign-ssh']) run('ssh-keygen', '-q', '-Y', 'sign', '-n', 'gitstead', '-f', options['sign-ssh'], sums)
  if (options['sign-gpg'])
    run(
      'gpg',
      '--batch',
      '--armor',
      '--detach-sign',
      '--local-user',
      options['sign-gpg'],
      '--output',
      `${sums}.asc`,
      sums
    )
}

function say(text) {
  process.stderr.write(`package: ${text}\n`)
}
