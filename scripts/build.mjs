// Builds dist and the manifest, unless the sources are as they were. Types are not checked, which takes ten times as long:
// `npm test` does that beside the tests.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

// It is taken before the build: an edit that comes later is seen next time.
const wanted = fingerprint(['src', 'test', 'bench', 'scripts', 'tsconfig.json', 'package.json', 'package-lock.json'])
const stamp = 'dist/.built'
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) build()

/**
 * Into a new folder, so that a source that is gone leaves no program behind, and dist never holds half a build. The stamp
 * comes last: what was cut short is built again.
 */
function build() {
  const started = Date.now()
  for (const name of readdirSync('.').filter(name => name.startsWith('dist.'))) remove(name)
  const next = `dist.${process.pid}`
  run('node_modules/typescript/bin/tsc', '-p', '.', '--noCheck', '--outDir', next)
  if (existsSync('dist')) renameSync('dist', `${next}.old`)
  renameSync(next, 'dist')
  run('scripts/manifest.mjs')
  writeFileSync(stamp, wanted)
  remove(`${next}.old`)
  process.stderr.write(`setup: built in ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
}

/** Changes when a file comes, goes or changes. */
function fingerprint(paths) {
  const files = createHash('sha256')
  const add = path => {
    const found = statSync(path)
    if (!found.isDirectory()) files.update(`${path} ${found.size} ${found.mtimeMs}\n`)
    else for (const name of readdirSync(path).sort()) add(join(path, name))
  }
  for (const path of paths.filter(existsSync)) add(path)
  return files.digest('hex')
}

function run(program, ...args) {
  try {
    execFileSync(process.execPath, [program, ...args], { stdio: ['ignore', 2, 2] })
  } catch {
    process.stderr.write(`setup: ${program} ${args.join(' ')} failed\n`)
    process.exit(1)
  }
}

/** A compiler whose build was killed may write for a moment longer. */
function remove(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
