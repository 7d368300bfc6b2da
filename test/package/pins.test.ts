// Every package of npm has one version and one hash, and none of them runs a script when it is installed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config.js'
import t from '../helpers/tap.js'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const own = JSON.parse(read('package.json')) as { readonly [kind: string]: { readonly [name: string]: string } }
const { packages } = JSON.parse(read('package-lock.json')) as { packages: { readonly [path: string]: Locked } }
const locked = Object.entries(packages).filter(([path]) => path !== '')

/**
 * These packages have a script that npm would run after the installation. All of them work without it: `ssh2` and `cpu-features` would
 * compile faster parts, and the program of `esbuild` is in a package of its own.
 */
const SCRIPTS = ['node_modules/cpu-features', 'node_modules/esbuild', 'node_modules/ssh2']

t.test('package.json names exact versions', async t => {
  const kinds = ['dependencies', 'optionalDependencies', 'devDependencies']
  const ranges = kinds
    .flatMap(kind => Object.entries(own[kind] ?? {}))
    .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
  t.same(ranges, [])
})

t.test('the lock file has a version and a hash of each package', async t => {
  t.ok(locked.length > 500)
  const open = locked.filter(([, { version, integrity }]) => !version || !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))
  t.same(
    open.map(([path]) => path),
    []
  )
})

t.test('no package runs a script when it is installed', async t => {
  t.match(read('.npmrc'), /^ignore-scripts=true$/m)
  t.same(
    locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path),
    SCRIPTS,
    'add a package to the list only if it works without its script'
  )
})
