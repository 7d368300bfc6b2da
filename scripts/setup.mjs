// The whole set-up of a fresh clone: Debian packages, node modules, the build (not with --no-build). Steps that are done are skipped.
// One of the modules is the Node.js that everything else runs on, so only this program has to work with an older version. The
// scripts of package.json look for the new one with `env`, because a shell remembers where it found `node` the first time.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const quiet = process.argv.includes('--quiet')

/** The major version that the appliance runs on, and the oldest one that can run this program. */
const MAJOR = Number(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node)
const LEAST = 20
/** npm installs it from the package of this architecture. */
const INSTALLED = 'node_modules/.bin/node'

/** Where Debian has the libraries of the architectures for which npm has a Node.js. */
const LIBRARIES = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib',
  '/usr/lib64',
  '/usr/lib/galera'
]

/** Node.js needs this library. */
const ATOMIC = 'libatomic.so.1'

/** Commands that the appliance needs, and a library that Node.js needs, with the Debian packages that bring them. */
const needed = {
  git: 'git',
  mariadbd: 'mariadb-server-core',
  bwrap: 'bubblewrap',
  prlimit: 'util-linux',
  bash: 'bash',
  [ATOMIC]: 'libatomic1'
}
/**
 * The tests also connect to the appliance by SSH, push large files, open its pages in a browser, let people of a directory sign in, and run builds in
 * containers of an engine that only root can start.
 */
const clients = {
  ssh: 'openssh-client',
  'git-lfs': 'git-lfs',
  chromium: 'chromium',
  slapd: 'slapd',
  ...(process.getuid() === 0 && { podman: 'podman', busybox: 'busybox-static' })
}

/** The long tests, `npm run cluster` and `npm run chaos -- --cluster` run database nodes behind a proxy. */
const clusters = {
  'libgalera_smm.so': 'galera-4',
  wsrep_sst_rsync: 'mariadb-server',
  haproxy: 'haproxy',
  faketime: 'faketime',
  iptables: 'iptables',
  ip: 'iproute2'
}

/** `npm run package` needs the first one; the long tests also check the packages and install them. */
const packaging = {
  strip: 'binutils',
  lintian: 'lintian',
  mmdebstrap: 'mmdebstrap'
}

process.chdir(root)
if (majorOf(process.version) < LEAST) stop(`Node.js ${LEAST} or newer is needed, this is ${process.version}`)
installPackages()
const node = installModules()
// Two set-ups at once take turns.
if (!process.argv.includes('--no-build'))
  run('flock', ['scripts/build.mjs', node, 'scripts/build.mjs', ...process.argv.slice(2)])
if (process.getuid() === 0 && !process.argv.includes('--no-build')) makeUser()

/**
 * If root has no home yet, this makes the default home belong to a user of its own, as whom root then runs the appliance. It changes
 * nothing when an unprivileged user cannot run the program here: a clone in /root, or a kernel without user namespaces for builds.
 */
function makeUser() {
  const [user, home] = ['gitstead', '/var/lib/gitstead']
  if (existsSync(home) || !['useradd', 'setpriv', 'install'].every(isThere)) return
  const quietly = (command, args) => spawnSync(command, args, { stdio: 'ignore', cwd: root }).status === 0
  const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', 'env', '-u', 'GITSTEAD_HOME', 'HOME=/']
  const checks = ['doctor', '--home', home, '--only', 'node,git,mariadb,sandbox']
  if (!quietly('setpriv', [...nobody, join(root, 'bin/gitstead'), ...checks])) return
  const made = ['--system', '--user-group', '--home-dir', home, '--shell', '/usr/sbin/nologin', user]
  if (!quietly('id', [user]) && !quietly('useradd', made)) return
  if (quietly('install', ['-d', '-m', '0700', '-o', user, '-g', user, home]))
    say(`root runs ${home} as the user ${user}`)
}

function installPackages() {
  const missing = wantedPrograms().filter(([name]) => !isThere(name))
  if (missing.length === 0) return
  const packages = missing.map(([, name]) => name)
  const byHand = `install these Debian packages: ${packages.join(' ')}`
  if (process.getuid() !== 0 || !isThere('apt-get')) stop(byHand)
  say(`installing ${packages.join(' ')}`)
  const apt = args =>
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    }).status === 0
  const install = ['install', '-y', '--no-install-recommends', ...packages]
  if (!withoutServices(() => (apt(['update']) && apt(install)) || apt(install))) stop(`apt-get failed: ${byHand}`)
}

/** The packages bring services, such as a database for the whole machine. The appliance and its tests use only their programs. */
function withoutServices(install) {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return install()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return install()
  } finally {
    unlinkSync(policy)
  }
}

/**
 * The programs of the appliance; `--tests` adds those of the tests, `--long` those of the long tests, `--cluster` those of a cluster
 * of databases, and `--programs=git,ssh` uses only these.
 */
function wantedPrograms() {
  const all = Object.entries({ ...needed, ...clients, ...clusters, ...packaging })
  const named = process.argv
    .find(arg => arg.startsWith('--programs='))
    ?.slice('--programs='.length)
    .split(',')
  if (named) return all.filter(([name]) => named.includes(name) || name === ATOMIC)
  const has = option => process.argv.includes(option)
  if (has('--long')) return all
  return Object.entries({ ...needed, ...(has('--tests') && clients), ...(has('--cluster') && clusters) })
}

function isThere(name) {
  // mariadbd is in /usr/sbin, which an ordinary user's PATH may lack.
  const folders = [...(process.env.PATH || '').split(':'), '/usr/sbin', '/sbin', ...LIBRARIES]
  return folders.some(folder => folder !== '' && existsSync(join(folder, name)))
}

/** Returns the Node.js that the appliance runs on. */
function installModules() {
  const stamp = 'node_modules/.gitstead'
  const lock = hash('package-lock.json')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return findNode()
  say('installing node modules')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  const node = findNode()
  writeFileSync(stamp, lock)
  return node
}

/** npm skips the package on other architectures, and cannot know that its program needs another C library. */
function findNode() {
  const installed = majorOf(String(spawnSync(INSTALLED, ['--version']).stdout)) === MAJOR
  if (!installed && existsSync(INSTALLED)) unlinkSync(INSTALLED)
  if (majorOf(process.version) === MAJOR && existsSync(process.execPath)) return process.execPath
  if (installed) return INSTALLED
  stop(
    `Node.js ${MAJOR} is needed: this is ${process.version}, and npm has no other for this machine (${process.arch})`
  )
}

function majorOf(version) {
  return Number(version.slice(1).split('.')[0])
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
