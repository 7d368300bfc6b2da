// The Debian package of a tree. The files in the folder debian are its control files and scripts.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sizesOf } from './tree.mjs'

const SOURCES = 'scripts/package/debian'
const LIB = '/usr/lib/gitstead'
/** The units and the command start what this link names. */
const PROGRAM = `${LIB}/current`
const CONFFILES = ['/etc/gitstead/config.yaml', '/etc/default/gitstead']

/** Writes the package into the folder `to`, from a tree and from what its program prints. Returns its path. */
export function makeDebian(tree, { to, draft, time, version, printed, quick }) {
  const root = join(draft, 'debian')
  const write = (path, content, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
    chmodSync(join(root, path), mode)
  }
  const source = name => readFileSync(join(SOURCES, name), 'utf8')
  const filled = (name, values) =>
    Object.entries(values).reduce((text, [key, value]) => text.replaceAll(`@${key}@`, value), source(name))
  const compressed = text => gzipSync(text, { level: 9 })

  cpSync(tree, join(root, LIB, 'program'), { recursive: true, verbatimSymlinks: true })
  for (const name of readdirSync('config/systemd')) {
    const text = readFileSync(join('config/systemd', name), 'utf8').replaceAll('/opt/gitstead', PROGRAM)
    if (name === 'gitstead') write('usr/bin/gitstead', text, 0o755)
    else write(`lib/systemd/system/${name}`, text)
  }
  write('etc/gitstead/config.yaml', source('config.yaml'))
  write('etc/default/gitstead', source('default'))
  write('usr/share/man/man1/gitstead.1.gz', compressed(printed.man))
  write('usr/share/bash-completion/completions/gitstead', printed.bash)
  write('usr/share/zsh/vendor-completions/_gitstead', printed.zsh)
  write('usr/share/fish/vendor_completions.d/gitstead.fish', printed.fish)
  write('usr/share/doc/gitstead/changelog.gz', compressed(changelog(version, time)))
  write('usr/share/doc/gitstead/copyright', filled('copyright', { LICENSE: license() }))
  write('usr/share/lintian/overrides/gitstead', source('lintian-overrides'))

  const files = filesBelow(root)
  const size = String(Math.round(sizesOf(root).kibibytes))
  write('DEBIAN/control', filled('control', { VERSION: version, SIZE: size }))
  write('DEBIAN/conffiles', CONFFILES.map(path => `${path}\n`).join(''))
  write('DEBIAN/md5sums', files.map(path => `${md5(join(root, path))}  ${path}\n`).join(''))
  for (const name of ['postinst', 'prerm', 'postrm']) write(`DEBIAN/${name}`, source(name), 0o755)
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', root])

  const path = join(to, `gitstead_${version}_amd64.deb`)
  // With another number of threads, the same files would give another package.
  const compression = quick ? ['-Zgzip', '-z1'] : ['-Zxz', '-z6', '--threads-max=2']
  execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', root, path], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
    stdio: ['ignore', 'ignore', 2]
  })
  return path
}

const changelog = (version, time) => `gitstead (${version}) stable; urgency=medium

  * /usr/lib/gitstead/program/CHANGELOG.md has the notes for operators.

 -- Gitstead <gitstead@example.org>  ${new Date(time * 1000).toUTCString().replace('GMT', '+0000')}
`

/** The text of LICENSE as a field of the copyright file. */
const license = () =>
  readFileSync('LICENSE', 'utf8')
    .trim()
    .split('\n')
    .map(line => ` ${line || '.'}`)
    .join('\n')

const filesBelow = root =>
  readdirSync(root, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()

const md5 = path => createHash('md5').update(readFileSync(path)).digest('hex')
