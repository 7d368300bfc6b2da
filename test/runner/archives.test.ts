import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import { TooLarge } from '../../src/errors.js'
import { pathMatcher } from '../../src/lib/glob.js'
import { archiveName, type Packing, packArtifacts } from '../../src/runner/files/artifacts.js'
import { BadArchive, unzip } from '../../src/runner/files/unzip.js'
import { leadsInside } from '../../src/runner/tree.js'
import { expand, expandVariables } from '../../src/runner/variables.js'
import { openFilesIn } from '../helpers/open-files.js'
import t, { type Test } from '../helpers/tap.js'
import { until } from '../helpers/until.js'

const limits = { total: 1_000_000, file: 500_000 }

t.test('matches patterns', async t => {
  for (const [pattern, path, expected] of [
    ['dist', 'dist/a/b', true],
    ['./dist/', 'dist/a', true],
    ['dist', 'other/dist', false],
    ['*.log', 'a.log', true],
    ['*.log', 'a/b.log', false],
    ['**/*.log', 'b.log', true],
    ['**/*.log', 'a/b/c.log', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z', true],
    ['a/**/z', 'a/b/c', false],
    ['*', '.hidden', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]x', ']x', true],
    ['a[', 'a[', true],
    ['{a,b/{c,d}}/x', 'b/d/x', true],
    ['{a,b}', 'c', false],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['?', 'é', true],
    ['(a|b)+', 'a', false],
    ['', 'a', true],
    ['a'.repeat(1001), 'a'.repeat(1001), false],
    ['{a,b}'.repeat(7), 'a'.repeat(7), false]
  ] as const) {
    t.equal(pathMatcher([pattern])(path), expected, `${pattern.slice(0, 20)} on ${path.slice(0, 20)}`)
  }
})

t.test('a pattern with many stars is fast', async t => {
  const matches = pathMatcher([`${'*a'.repeat(300)}b`, `${'**/'.repeat(300)}b`])
  t.notOk(matches('a'.repeat(250)))
  t.notOk(matches('a/'.repeat(500).slice(0, -1)))
})

t.test('expands references in values', async t => {
  const lookup = (name: string) => ({ A: 'x', B: '$A' })[name]
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of variables, not of JavaScript
  t.equal(expand('$A ${A} %A% ${B} $C $$A %20C% %C% 5$', lookup), 'x x x $A  $A %20C% %C% 5$')
  const doubling = Array.from({ length: 60 }, (_, n) => ({ key: `V${n + 1}`, value: `$V${n}$V${n}`, public: true }))
  const values = expandVariables([{ key: 'V0', value: 'xy', public: true }, ...doubling], {})
  t.equal(values.get('V3'), 'xy'.repeat(8))
  t.ok([...values.values()].every(value => value.length <= 131_000))
  const wide = Array.from({ length: 100 }, (_, n) => ({ key: `W${n}`, value: '$E$E', public: true }))
  const much = expandVariables([{ key: 'E', value: 'é'.repeat(30_000), public: true }, ...wide], {})
  const size = [...much.values()].reduce((sum, value) => sum + Buffer.byteLength(value), 0)
  t.ok(size > 500_000 && size < 1_200_000, `${size} bytes: the kernel takes no more`)
  t.equal(expandVariables([{ key: 'PATH', value: '/x:$PATH', public: true }], { PATH: '/bin' }).get('PATH'), '/x:/bin')
})

t.test('finds out whether a link leads inside the tree', async t => {
  for (const [path, target, expected] of [
    ['a', 'b', true],
    ['a/b', '../c', true],
    ['a/b', '../../c', false],
    ['a', '..', false],
    ['a/b', '..', true],
    ['a', '/etc', false],
    ['a', '', false],
    ['a', '..b', true]
  ] as const) {
    t.equal(leadsInside(path, target), expected, `${path} -> ${target}`)
  }
})

t.test('makes safe names of archives', async t => {
  for (const [name, expected] of [
    ['', 'artifacts.zip'],
    ['build 1', 'build 1.zip'],
    ['../../etc/x', '-..-etc-x.zip'],
    ['a\nb', 'a-b.zip']
  ] as const) {
    t.equal(archiveName(name), expected)
  }
})

const pack = (t: Test, tree: string, more: Partial<Packing>) =>
  packArtifacts({
    tree,
    paths: ['**'],
    exclude: [],
    before: undefined,
    to: join(t.testdirName, 'artifacts.zip'),
    limit: 100_000,
    user: undefined,
    signal: new AbortController().signal,
    warn: () => undefined,
    ...more
  })

t.test('unpacking returns the packed files', async t => {
  const folder = t.testdir({ tree: { bin: { run: 'echo' }, 'naïve.txt': 'text', empty: '' }, into: {} })
  const tree = join(folder, 'tree')
  symlinkSync('bin/run', join(tree, 'link'))
  symlinkSync('/etc', join(tree, 'out'))
  const warnings: string[] = []
  const packed = await pack(t, tree, { warn: text => warnings.push(text) })
  t.equal(packed?.files, 4)
  t.equal(packed?.size, statSync(join(folder, 'artifacts.zip')).size)
  t.strictSame(warnings, ['"out" is not packed'])
  await unzip(join(folder, 'artifacts.zip'), join(folder, 'into'), limits)
  t.equal(readFileSync(join(folder, 'into/naïve.txt'), 'utf8'), 'text')
  t.equal(readFileSync(join(folder, 'into/empty'), 'utf8'), '')
  t.equal(readlinkSync(join(folder, 'into/link')), 'bin/run')
})

t.test('files with any time are packed, with the nearest time that an archive can store', async t => {
  const folder = t.testdir({ tree: { old: 'old', new: 'new', now: 'now' }, into: {} })
  const tree = join(folder, 'tree')
  const old = new Date('1901-01-01')
  utimesSync(join(tree, 'old'), old, old)
  utimesSync(join(tree, 'new'), 7_258_118_400, 7_258_118_400)
  const packed = await pack(t, tree, {})
  t.equal(packed?.files, 3)
  await unzip(join(folder, 'artifacts.zip'), join(folder, 'into'), limits)
  for (const name of ['old', 'new', 'now']) t.equal(readFileSync(join(folder, 'into', name), 'utf8'), name)
})

t.test('the size of an archive and of its files is limited', async t => {
  const folder = t.testdir({ tree: { zeros: Buffer.alloc(200_000).toString() } })
  const tree = join(folder, 'tree')
  await t.rejects(pack(t, tree, { limit: 19_999 }), { constructor: TooLarge, message: /larger than 199990 bytes/ })
  await t.rejects(pack(t, tree, { limit: 100, paths: ['zeros'] }), TooLarge)
  t.equal(await pack(t, tree, { paths: ['nothing'] }), undefined)
})

t.test('a failed archive leaves no file open', async t => {
  const folder = t.testdir({ tree: {} })
  const tree = join(folder, 'tree')
  writeFileSync(join(tree, 'noise'), randomBytes(900_000))
  await t.rejects(pack(t, tree, {}), { constructor: TooLarge, message: /the archive is larger/ })
  await until('the file is closed', () => openFilesIn(tree).length === 0)
})

async function archive(
  t: Test,
  entries: [name: string, content: string | Buffer, mode?: number][],
  patch?: [string, string]
) {
  const zip = new ZipFile()
  for (const [name, content, mode = 0o100644] of entries) zip.addBuffer(Buffer.from(content), name, { mode })
  zip.end()
  let bytes = await buffer(zip.outputStream)
  if (patch) bytes = Buffer.from(bytes.toString('latin1').replaceAll(...patch), 'latin1')
  const folder = t.testdir({ into: {}, outside: { kept: 'kept' } })
  writeFileSync(join(folder, 'a.zip'), bytes)
  return { path: join(folder, 'a.zip'), into: join(folder, 'into'), outside: join(folder, 'outside') }
}

t.test('hostile archives are refused', async t => {
  for (const [name, entries, patch, message] of [
    ['a path upwards', [['aa/evil', 'x']], ['aa/', '../'], /invalid relative path/],
    ['an absolute path', [['aa/evil', 'x']], ['aa/', '//a'], /absolute path/],
    ['backslashes', [['aa/evil', 'x']], ['aa/', '..\\'], /invalid characters/],
    ['a repository', [['a/.git/config', 'x']], undefined, /not allowed/],
    ['a link out', [['a/link', '../../x', 0o120777]], undefined, /leads out/],
    ['an absolute link', [['link', '/etc/passwd', 0o120777]], undefined, /leads out/],
    [
      'a write through a link',
      [
        ['link', 'dir', 0o120777],
        ['link/x', 'x']
      ],
      undefined,
      /through a link/
    ],
    ['a device', [['dev', '', 0o020666]], undefined, /neither a file nor a link/],
    ['a large file', [['big', Buffer.alloc(500_001)]], undefined, /larger than 500000/],
    ['large in sum', [1, 2, 3].map(n => [`${n}`, Buffer.alloc(400_000)]), undefined, /more than 1000000 bytes/],
    ['no archive', [['a', 'x']], ['PK\x05\x06', 'KP\x05\x06'], /./]
  ] as [string, [string, string | Buffer, number?][], [string, string] | undefined, RegExp][]) {
    await t.test(name, async t => {
      const { path, into } = await archive(t, entries, patch)
      await t.rejects(unzip(path, into, limits), { constructor: BadArchive, message })
    })
  }
})

t.test('an entry with a false size is refused', async t => {
  const { path, into } = await archive(t, [['bomb', Buffer.alloc(300_000)]])
  const bytes = readFileSync(path)
  const directory = bytes.indexOf('PK\x01\x02', 0, 'latin1')
  bytes.writeUInt32LE(10, directory + 24)
  writeFileSync(path, bytes)
  await t.rejects(unzip(path, into, limits), BadArchive)
  bytes.writeUInt32LE(300_000, directory + 24)
  bytes.writeUInt32LE(20, directory + 20)
  writeFileSync(path, bytes)
  await t.rejects(unzip(path, into, limits), { message: /impossible size/ })
})

t.test('the number of entries is limited', async t => {
  const { path, into } = await archive(t, [
    ['a', ''],
    ['b', '']
  ])
  await t.rejects(unzip(path, into, { ...limits, entries: 1 }), { message: 'more than 1 entries' })
})

t.test('links in the work tree are not followed', async t => {
  const { path, into, outside } = await archive(t, [['dir/new', 'x']])
  symlinkSync(outside, join(into, 'dir'))
  await t.rejects(unzip(path, into, limits), BadArchive)
  t.notOk(existsSync(join(outside, 'new')))
})

t.test('a link in the place of a file is replaced, and its target does not change', async t => {
  const { path, into, outside } = await archive(t, [['dir/kept', 'new']])
  mkdirSync(join(into, 'dir'))
  symlinkSync(join(outside, 'kept'), join(into, 'dir/kept'))
  await unzip(path, into, limits)
  t.equal(readFileSync(join(outside, 'kept'), 'utf8'), 'kept')
  t.equal(readFileSync(join(into, 'dir/kept'), 'utf8'), 'new')
})
