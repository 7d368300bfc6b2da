// All the set-up of a fresh clone: Debian packages, node modules, the build. What is done already is skipped.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const development = process.argv.includes('--development')
const quiet = process.argv.includes('--quiet')

/** Commands that the appliance needs, with the Debian packages that bring them. */
const needed = { git: 'git', mariadbd: 'mariadb-server-core', bwrap: 'bubblewrap', prlimit: 'util-linux', bash: 'bash' }

process.chdir(root)
checkNode()
installPackages()
installModules()
if (development) buildTap()
build()

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  stop(`Node.js 20.19 or newer is needed, this is ${process.versions.node}`)
}

function installPackages() {
  const missing = Object.entries(needed).filter(([command]) => !onPath(command))
  if (missing.length === 0) return
  const packages = missing.map(([, name]) => name)
  const byHand = `install these Debian packages: ${packages.join(' ')}`
  if (process.getuid?.() !== 0 || !onPath('apt-get')) stop(byHand)
  say(`installing ${packages.join(' ')}`)
  const apt = args =>
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    }).status === 0
  const install = ['install', '-y', '--no-install-recommends', ...packages]
  if (!((apt(['update']) && apt(install)) || apt(install))) stop(`apt-get failed: ${byHand}`)
}

function onPath(command) {
  // mariadbd lies in /usr/sbin, which an ordinary user's PATH may lack.
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']
  return folders.some(folder => folder !== '' && existsSync(join(folder, command)))
}

function installModules() {
  const stamp = 'node_modules/.gitstead'
  const lock = hash('package-lock.json')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  say('installing node modules')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(stamp, lock)
}

/** tap assembles itself from its plugins, as .taprc names them. */
function buildTap() {
  const stamp = 'node_modules/.gitstead-tap'
  const wanted = hash('package-lock.json') + hash('.taprc')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  run('node_modules/.bin/tap', ['build'])
  writeFileSync(stamp, wanted)
}

function build() {
  const stamp = 'dist/.built'
  const inputs = ['src', 'test', 'bench', 'tsconfig.json', 'package.json', 'package-lock.json']
  if (existsSync(stamp) && newest(inputs) <= statSync(stamp).mtimeMs) return
  const started = Date.now()
  // From nothing, so that a file that is gone leaves no program behind.
  rmSync('dist', { recursive: true, force: true })
  rmSync('oclif.manifest.json', { force: true })
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'])
  run(process.execPath, ['scripts/manifest.mjs'])
  mkdirSync('dist', { recursive: true })
  writeFileSync(stamp, '')
  say(`built in ${((Date.now() - started) / 1000).toFixed(1)} s`)
}

function newest(paths) {
  let latest = 0
  for (const path of paths.filter(existsSync)) {
    const { mtimeMs } = statSync(path)
    latest = Math.max(latest, mtimeMs)
    if (!statSync(path).isDirectory()) continue
    latest = Math.max(latest, newest(readdirSync(path).map(name => join(path, name))))
  }
  return latest
}

function run(command, args) {
  try {
    execFileSync(command, args, { stdio: ['ignore', quiet ? 'ignore' : 2, 2] })
  } catch {
    stop(`${command} ${args.join(' ')} failed`)
  }
}

function hash(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function say(text) {
  if (!quiet) process.stderr.write(`setup: ${text}\n`)
}

function stop(text) {
  process.stderr.write(`setup: ${text}\n`)
  process.exit(1)
}
