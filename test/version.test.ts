// The version is defined in package.json only, and everything else agrees.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import semver from 'semver'
import { root } from '../src/config.js'
import { fullVersion, revision, version } from '../src/version.js'
import t from './helpers/tap.js'

const file = (name: string) => readFileSync(join(root, name), 'utf8')

t.test('the version is semantic, and has notes for operators', async t => {
  t.equal(semver.valid(version), version)
  const lock = JSON.parse(file('package-lock.json')) as { version: string; packages: { '': { version: string } } }
  t.same([lock.version, lock.packages[''].version], [version, version])
  t.equal(/^## (\S+)/m.exec(file('CHANGELOG.md'))?.[1], version, 'the newest notes are those of this version')
})

t.test('the program says its version and its commit', async t => {
  const said = execFileSync(process.execPath, [join(root, 'bin/gitstead'), '--version'], { encoding: 'utf8' })
  t.equal(said, `gitstead ${fullVersion}\n`)
  t.equal(fullVersion, revision === 'unknown' ? version : `${version} (${revision})`)
})
