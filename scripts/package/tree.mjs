// The tree of a package: the built program with the modules that it loads and its own Node.js. It runs from any folder.
import { execFileSync } from 'node:child_process'
import { cpSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { installProduction, prune, RUNTIME, shorten } from './modules.mjs'
import { licensesOf, sbomOf } from './records.mjs'

/** What the program reads, and what operators read. */
const COPIED = ['bin', 'config', 'templates', 'LICENSE', 'CHANGELOG.md', 'oclif.manifest.json']
const PAGES = ['operate', 'use', 'reference'].map(name => join('docs', name))
/** With their maps, server and worker log stack traces with the lines of the sources. */
const BUILT = [
  { from: 'dist/src', keep: path => !path.endsWith('.map') },
  { from: 'dist/bundle', keep: () => true }
]
/** The fields of package.json that the program reads. */
const FIELDS = ['name', 'version', 'description', 'license', 'private', 'type', 'engines', 'oclif']

/**
 * Makes the tree in a folder, which must not exist, from the build in the current folder. Returns the packages of its modules. `time` is
 * that of all files, in seconds.
 */
export async function makeTree(to, { time, version }) {
  installProduction(to)
  for (const path of [...COPIED, ...PAGES]) cpSync(path, join(to, path), { recursive: true })
  for (const { from, keep } of BUILT) cpSync(from, join(to, from), { recursive: true, filter: keep })
  execFileSync('strip', ['--strip-unneeded', '-o', join(to, 'bin/node'), join(to, RUNTIME, 'bin/node')])
  const packages = await prune(to)
  await shorten(join(to, 'node_modules'))
  await shorten(join(to, 'dist/src'))
  compressMaps(join(to, 'dist/bundle'))
  writeFileSync(join(to, 'sbom.cdx.json'), sbomOf(to, packages, time))
  writeFileSync(join(to, 'LICENSES.txt'), licensesOf(packages))
  const whole = JSON.parse(readFileSync('package.json', 'utf8'))
  const own = { ...Object.fromEntries(FIELDS.map(field => [field, whole[field]])), version }
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(own, null, 2)}\n`)
  for (const name of ['package-lock.json', '.npmrc']) rmSync(join(to, name))
  // Some packages have modes at random.
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', to])
  execFileSync('chmod', ['-R', '-x+X', join(to, 'node_modules')])
  execFileSync(join(to, 'bin/node'), ['scripts/package/load-all.mjs', to], { env: QUIET, stdio: ['ignore', 2, 2] })
  return packages
}

/** Server and worker read them only for stack traces in their log. */
function compressMaps(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, name)
    if (!name.endsWith('.map')) continue
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
    rmSync(path)
  }
}

/** The program leaves nothing in its own folder, and reads no home of this machine. */
const QUIET = {
  PATH: process.env.PATH,
  GITSTEAD_HOME: '/var/lib/gitstead',
  NODE_DISABLE_COMPILE_CACHE: '1',
  LC_ALL: 'C.UTF-8'
}

/** What the program prints about itself for `man` and for shells. */
export function printedBy(tree) {
  const print = (...args) =>
    execFileSync(join(tree, 'bin/gitstead'), args, {
      encoding: 'utf8',
      env: QUIET,
      maxBuffer: 64 * 1024 * 1024
    })
  return {
    man: print('man'),
    bash: print('completion', 'bash'),
    zsh: print('completion', 'zsh'),
    fish: print('completion', 'fish')
  }
}

/** The bytes of all files below a folder, what dpkg counts for them, and what they take on this disk. */
export function sizesOf(folder) {
  const all = readdirSync(folder, { recursive: true }).map(name => lstatSync(join(folder, name)))
  const sum = size => all.reduce((total, entry) => total + size(entry), 0)
  return {
    bytes: sum(entry => (entry.isFile() ? entry.size : 0)),
    kibibytes: sum(entry => (entry.isFile() ? Math.ceil(entry.size / 1024) : 1)),
    disk: sum(entry => entry.blocks * 512)
  }
}
