// The set-up makes the user `gitstead` and its home. It runs with copies of /etc and /var, which only its processes see.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import t from 'tap'
import { root } from '../src/config.js'

/** Where the processes of the test see the clone: everybody can read it there, even a clone in /root. */
const CLONE = '/mnt'
const isRoot = process.getuid?.() === 0
const inner = relative(root, process.execPath)
const node = inner.startsWith('..') ? process.execPath : join(CLONE, inner)
const accounts = () => readFileSync('/etc/passwd', 'utf8')

/** Runs a script as root on this machine's programs, with accounts and folders of its own. Returns what it prints. */
function onFreshMachine(script: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-setup-'))
  // The set-up also builds, which would replace files that tests are running.
  const prepare = `set -e
    cp -a /etc "$FOLDER/etc" && mount --bind "$FOLDER/etc" /etc
    sed -i /^gitstead:/d /etc/passwd /etc/group /etc/shadow /etc/gshadow
    mount -t tmpfs -o mode=755 tmpfs /var && mkdir /var/lib /var/log && mkdir -m 1777 /var/tmp
    mount --bind "$ROOT" ${CLONE}
    touch "$FOLDER/no-build" && mount --bind "$FOLDER/no-build" ${CLONE}/scripts/build.mjs
    setup() { "$NODE" ${CLONE}/scripts/setup.mjs 2>&1; }
    home() { stat -c '%n %U:%G %a' /var/lib/gitstead 2>&1 || true; }
    account() { getent passwd gitstead || echo no account; }
  `
  try {
    return execFileSync('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', prepare + script], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, FOLDER: folder, ROOT: root, NODE: node }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A user without rights must be able to run the program, with builds. A kernel may forbid their namespaces. */
function canRunBuilds(): boolean {
  const nobody = 'setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/'
  try {
    onFreshMachine(`${nobody} ${CLONE}/bin/gitstead doctor --home /var/lib/gitstead --only node,git,mariadb,sandbox`)
    return true
  } catch {
    return false
  }
}

t.test('as root, it makes a user and the default home, once', { skip: !isRoot || !canRunBuilds() }, t => {
  const before = accounts()
  const said = onFreshMachine('setup; home; account; touch /var/lib/gitstead/file; setup; home; ls /var/lib/gitstead')
  t.match(
    said,
    /^setup: root runs \/var\/lib\/gitstead as the user gitstead\n\/var\/lib\/gitstead gitstead:gitstead 700\ngitstead:x:\d+:\d+::\/var\/lib\/gitstead:\/usr\/sbin\/nologin\n\/var\/lib\/gitstead gitstead:gitstead 700\nfile\n$/
  )
  t.equal(accounts(), before, 'the accounts of this machine are the same')
  t.end()
})

t.test('it changes nothing when the home exists, or when others cannot run the program', { skip: !isRoot }, t => {
  t.match(onFreshMachine('mkdir -m 750 /var/lib/gitstead; setup; home; account'), / root:root 750\nno account\n$/)
  const closed = `mount -t tmpfs -o mode=700 tmpfs /opt && mkdir /opt/clone && mount --rbind ${CLONE} /opt/clone`
  const said = onFreshMachine(`${closed}; "$NODE" /opt/clone/scripts/setup.mjs; home; account`)
  t.match(said, /No such file or directory\nno account\n$/)
  t.end()
})
