// Later versions of a package, with one migration more.
import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the path of a package of this version, made from another one. Its migration, with this number, runs one statement. */
export function laterVersion(from: string, to: string, version: string, number: number, statement: string): string {
  const root = join(to, `package-${version}`)
  execFileSync('dpkg-deb', ['--raw-extract', from, root])
  const change = (path: string, pattern: RegExp, into: string) =>
    writeFileSync(join(root, path), readFileSync(join(root, path), 'utf8').replace(pattern, into))
  change('DEBIAN/control', /^Version: .*$/m, `Version: ${version}`)
  change('usr/lib/gitstead/program/package.json', /"version": "[^"]+"/, `"version": "${version}"`)
  rmSync(join(root, 'DEBIAN/md5sums'), { force: true })
  const migrations = join(root, 'usr/lib/gitstead/program/dist/src/db/migrations')
  const name = `${number}-later`
  const migration = { name, up: [statement], down: ['select 1'] }
  writeFileSync(join(migrations, `${name}.js`), `export const later${number} = ${JSON.stringify(migration)}\n`)
  appendFileSync(
    join(migrations, 'list.js'),
    `\nimport { later${number} } from './${name}.js'\nmigrations.push(later${number})\n`
  )
  // Commands have the list of migrations in their joined files, too. Without these, they run from the modules.
  rmSync(join(root, 'usr/lib/gitstead/program/dist/bundle/commands'), { recursive: true })
  const path = join(to, `gitstead_${version}_amd64.deb`)
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', root, path], { stdio: 'ignore' })
  rmSync(root, { recursive: true })
  return path
}
