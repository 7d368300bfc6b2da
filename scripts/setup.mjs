// All the set-up of a fresh clone: Debian packages, node modules, the build. What is done already is skipped.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const quiet = process.argv.includes('--quiet')

/** Commands that the appliance needs, with the Debian packages that bring them. */
const needed = { git: 'git', mariadbd: 'mariadb-server-core', bwrap: 'bubblewrap', prlimit: 'util-linux', bash: 'bash' }
/** The tests speak to the appliance by SSH as well, and run builds in containers of an engine that only root can start. */
const clients = {
  ssh: 'openssh-client',
  ...(process.getuid?.() === 0 && { podman: 'podman', busybox: 'busybox-static' })
}

process.chdir(root)
checkNode()
installPackages()
installModules()
// Two at once take turns.
run('flock', ['scripts/build.mjs', process.execPath, 'scripts/build.mjs', ...process.argv.slice(2)])

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  stop(`Node.js 20.19 or newer is needed, this is ${process.versions.node}`)
}

function installPackages() {
  const wanted = process.argv.includes('--tests') ? { ...needed, ...clients } : needed
  const missing = Object.entries(wanted).filter(([command]) => !onPath(command))
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
