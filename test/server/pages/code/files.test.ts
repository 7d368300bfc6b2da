// Pages of folders and files: what they show, to whom, and that nothing in a repository becomes active.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { storeObject } from '../../../../src/areas/projects/lfs/objects.js'
import { execute } from '../../../../src/db/connect/sql.js'
import t from '../../../helpers/tap.js'
import { codePages, commitOf } from './repository.js'

const { app, make, signedIn, nobody } = await codePages(t)
const HOSTILE = '<script>alert(1)</script>'

t.test('a folder, a file, who wrote it, and its content', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  await app.make.file(project, 'src/main.c', 'int main () {\r\n  return 0;\n}\n')
  await app.make.branch(project, 'feature/src')
  git(['tag', 'v1', 'master'])
  const owner = await signedIn(project.owner)
  const tree = await owner.get(`${path}/tree/feature/src`)
  t.equal(tree.status, 200)
  t.match(tree.body, `<a href="${path}/tree/feature/src/src">src/</a>`)
  t.match(tree.body, `<a href="${path}/blob/feature/src/README.md">README.md</a>`)
  t.match(tree.body, />Add src\/main.c<\/a>/)
  t.match(tree.body, /<h2 id="md-hello">Hello /)
  t.match((await owner.get(`${path}/blob/master/README.md`)).body, /<h2 id="md-hello">Hello /)
  t.match((await owner.get(`${path}/blob/master/README.md?plain=true`)).body, '# Hello')
  t.match(tree.body, `<a class="button" href="${path}/new/feature/src">New file</a>`)
  const blob = await owner.get(`${path}/blob/v1/src/main.c`)
  t.match(blob.body, `<tr id="L2"><td><a href="#L2">2</a></td>`)
  t.match(blob.body, /<span class="hljs-[a-z]+">return<\/span>/)
  t.notMatch(blob.body, '>Edit<', 'a tag gets no commits')
  t.match((await owner.get(`${path}/blob/master/src/main.c`)).body, `<a href="${path}/edit/master/src/main.c">Edit</a>`)
  const blame = await owner.get(`${path}/blame/master/src/main.c`)
  t.match(blame.body, '<td rowspan="3"><a href')
  t.match(blame.body, '>Add src/main.c</a>')
  const raw = await owner.get(`${path}/raw/master/src/main.c`)
  t.match(raw.body, 'int main () {\r\n')
  t.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.match(raw.headers.get('content-security-policy'), /sandbox/)
  t.equal(raw.headers.get('x-content-type-options'), 'nosniff')
  t.equal((await owner.get(`${path}/tree/master/src/main.c`)).location, `${path}/blob/master/src/main.c`)
  t.equal((await owner.get(`${path}/blob/master/src`)).location, `${path}/tree/master/src`)
  for (const wrong of [
    'tree/none',
    'tree/master/none',
    'blob/master/none',
    'raw/master',
    'blame/master/src',
    `blob/${'a'.repeat(40)}/README.md`
  ]) {
    t.equal((await owner.get(`${path}/${wrong}`)).status, 404, wrong)
  }
})

t.test('a link to a branch that is gone leads to those that exist, for readers only', async t => {
  const { project, path } = await make()
  const owner = await signedIn(project.owner)
  const stranger = await signedIn(await app.make.user())
  for (const page of ['tree', 'blob', 'commits', 'blame']) {
    const gone = await owner.get(`${path}/${page}/doomed/${encodeURIComponent(HOSTILE)}`)
    t.equal(gone.status, 404, page)
    t.match(gone.body, 'There is no such branch or tag')
    t.match(gone.body, '<code>doomed/&lt;script&gt;')
    t.match(gone.body, `<a href="${path}/branches">`)
    t.match(gone.body, `<a href="${path}/commits">`)
    t.match((await stranger.get(`${path}/${page}/doomed`)).body, 'you may not see it', page)
  }
})

t.test('a branch comes before a tag and an id, and the longest name wins', async t => {
  const { path, git, project } = await make()
  const owner = await signedIn(project.owner)
  git(['fast-import', '--quiet', '--force'], commitOf({ here: 'on the branch' }, { branch: 'both' }))
  git(['tag', 'both', 'master'])
  git(['tag', 'master/x', 'refs/heads/both'])
  const [id] = git(['rev-parse', 'refs/heads/both']).split('\n')
  const menu = (await owner.get(`${path}/blob/both/here`)).body
  for (const ref of ['both', 'master', 'master/x']) {
    t.match(menu, `${path}/switch?ref=${encodeURIComponent(ref)}&amp;page=blob&amp;path=here`)
  }
  t.equal((await owner.get(`${path}/switch?ref=master%2Fx&page=blob&path=here`)).location, `${path}/blob/master/x/here`)
  t.equal((await owner.get(`${path}/switch?ref=master&page=blob&path=here`)).location, `${path}/tree/master`)
  t.equal((await owner.get(`${path}/switch?ref=none`)).status, 404)
  t.match((await owner.get(`${path}/tree/both`)).body, '>here</a>')
  t.match((await owner.get(`${path}/blob/master/x/here`)).body, 'on the branch')
  t.match((await owner.get(`${path}/blob/${id?.slice(0, 10)}/here`)).body, 'on the branch')
})

t.test('readers see what the API shows them, and others a page that does not exist', async t => {
  const open = await make({ visibility_level: 20 })
  const closed = await make()
  const stranger = await signedIn(await app.make.user())
  const guest = await signedIn(await app.make.member(closed.project, 10))
  for (const page of ['tree/master', 'blob/master/README.md', 'raw/master/README.md', 'search?q=hello']) {
    t.equal((await nobody.get(`${open.path}/${page}`)).status, 200, page)
    for (const reader of [nobody, stranger, guest])
      t.equal((await reader.get(`${closed.path}/${page}`)).status, 404, page)
  }
  // Visitors may not read commits, not even those of a public project.
  const tree = await nobody.get(`${open.path}/tree/master`)
  t.notMatch(tree.body, /Add README|Last commit|History|New file/)
  t.notMatch((await nobody.get(`${open.path}/blob/master/README.md`)).body, /Add README|Blame|History|Edit/)
  t.equal((await nobody.get(`${open.path}/blame/master/README.md`)).status, 404)
  t.match((await stranger.get(`${open.path}/tree/master`)).body, 'Add README')
  const empty = await app.make.project({ visibility_level: 20 })
  t.match((await nobody.get(`/${empty.path}/tree/master`)).body, 'no files yet')
})

t.test('hostile names, texts, images and files stay what they are', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  const name = `${HOSTILE.replaceAll('/', '')}"'\n\u202e`
  const files = {
    [name]: `${HOSTILE}\u202e\u0000`,
    'evil.html': HOSTILE,
    'evil.ts': `// ${HOSTILE} \u202e\n\`${HOSTILE}\``,
    'evil.svg': `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
    'latin.txt': Buffer.from([0xe9, 10]),
    'empty.txt': '',
    'long.txt': `${'x'.repeat(6000)}\n${'line\n'.repeat(10_100)}`,
    'large.txt': 'y'.repeat(600_000),
    'a%2Fb #?&.txt': 'odd'
  }
  git(['fast-import', '--quiet', '--force'], commitOf(files, { message: HOSTILE }))
  const owner = await signedIn(project.owner)
  const tree = await owner.get(`${path}/tree/master`)
  t.notMatch(tree.body, /<script>|\u202e/)
  const links = [...tree.body.matchAll(/href="([^"]*\/blob\/master\/[^"]*)"/g)].map(([, link = '']) =>
    link.replace('&#39;', "'")
  )
  t.equal(links.length, Object.keys(files).length + 2, 'with the README and its section')
  for (const link of links) {
    const page = await owner.get(link)
    t.equal(page.status, 200, link)
    // The menu of branches sends the path as it is.
    t.notMatch(page.body.replace(/name="path" value="[^"]*"/, ''), /<script>|\u202e/, link)
    t.notMatch(page.body, / style=| on[a-z]+=/, link)
  }
  const blob = async (file: string) => (await owner.get(`${path}/blob/master/${encodeURIComponent(file)}`)).body
  t.match(await blob(name), 'This file is binary')
  t.match(await blob('evil.ts'), '[U+202E]')
  t.match(await blob('latin.txt'), 'é')
  t.match(await blob('empty.txt'), 'This file is empty')
  t.match(await blob('long.txt'), 'The last 101 lines are left out')
  t.match(await blob('large.txt'), 'too large to show it here (586 KiB)')
  t.match(await blob('a%2Fb #?&.txt'), 'odd')
  t.match(await blob('evil.svg'), `<img src="${path}/raw/master/evil.svg"`)
  const raw = async (file: string) => (await owner.get(`${path}/raw/master/${encodeURIComponent(file)}`)).headers
  t.equal((await raw('evil.html')).get('content-type'), 'text/plain; charset=utf-8')
  const svg = await raw('evil.svg')
  t.match([svg.get('content-disposition'), svg.get('content-security-policy')], [/^attachment/, /sandbox/])
  t.equal(svg.get('content-type'), 'image/svg+xml')
})

t.test('names and paths that are very long do not make a page very large', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  const long = Array.from({ length: 40 }, (_, at) => `n/${at}${'"'.repeat(60_000)}`)
  const wide = Array.from({ length: 200 }, (_, at) => `n/w${at}${'"'.repeat(3_900)}`)
  const deep = `${'d/'.repeat(900)}file`
  const files = Object.fromEntries([...long, ...wide, deep].map(name => [name, 'text\n']))
  git(['fast-import', '--quiet', '--force'], commitOf(files))
  const owner = await signedIn(project.owner)
  for (const page of ['tree/master/n', 'search?q=text', 'search?q=w1', `commit/${git(['rev-parse', 'master'])}`]) {
    const { status, body } = await owner.get(`${path}/${page}`)
    t.equal(status, 200, page)
    t.match(body, '&quot;…', page)
    t.ok(body.length < 4_000_000, `${page}: ${body.length} characters`)
  }
  const { body } = await nobody.get(`${path}/tree/master/n`)
  t.match(body, /<a href="[^"]*\/blob\/master\/n\/w/, 'a path that a request can have is a link')
  t.notMatch(body, /<a href="[^"]*\/blob\/master\/n\/\d/)
  const blob = (await nobody.get(`${path}/blob/master/${deep}`)).body
  t.match(blob, '</a> / … / <a')
  t.ok(blob.length < 100_000, `${blob.length} characters`)
})

t.test('a file whose lines come from two commits in turn has a small page', async t => {
  const { project, path, git } = await make()
  const author = 'A'.repeat(2000)
  const lines = (text: string) =>
    Array.from({ length: 4000 }, (_, at) => (at % 2 ? 'same' : `${text} ${at}`)).join('\n')
  for (const text of ['one', 'two']) {
    const commit = commitOf({ 'a.txt': lines(text) }).toString()
    git(['fast-import', '--quiet', '--force'], commit.replace('committer Ann', `committer ${author}`))
  }
  const { body } = await (await signedIn(project.owner)).get(`${path}/blame/master/a.txt`)
  t.match(body, 'id="L4000"')
  t.match(body, `${'A'.repeat(40)}…, <time`)
  t.ok(body.length < 1_500_000, `${body.length} characters`)
})

t.test('a file whose name is not UTF-8 has its pages', async t => {
  const { project, path, git } = await make()
  const [before, after] = commitOf({ 'odd/x': 'first\n' }).toString().split('odd/x')
  git(['fast-import', '--quiet', '--force'], `${before}odd/b\\377d ä${after}`)
  const owner = await signedIn(project.owner)
  const link = `${path}/blob/${git(['rev-parse', 'master'])}/odd/b%5C377d%20%C3%A4`
  t.match((await owner.get(`${path}/commit/master`)).body, `href="${link}"`)
  t.match((await owner.get(link)).body, 'first')
  const blame = await owner.get(`${path}/blame/master/odd/b%5C377d%20%C3%A4`)
  t.equal(blame.status, 200)
  t.match(blame.body, 'is not UTF-8')
  t.equal((await owner.get(`${path}/commits/master/odd/b%5C377d%20%C3%A4`)).status, 200)
})

t.test('a page that a commit fixes is not sent twice, unless something around it changes', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  const id = git(['rev-parse', 'master'])
  const owner = await signedIn(project.owner)
  for (const page of [`tree/${id}`, `blob/${id}/README.md`, `blame/${id}/README.md`]) {
    const first = await owner.get(`${path}/${page}`)
    const known = { 'if-none-match': String(first.headers.get('etag')) }
    t.equal(first.status, 200)
    t.equal(first.headers.get('cache-control'), 'private, no-cache')
    const again = await owner.get(`${path}/${page}`, known)
    t.equal(again.status, 304, page)
    const other = await signedIn(project.owner)
    t.equal((await other.get(`${path}/${page}`, known)).status, 200, 'its forms belong to another session')
  }
  t.equal((await owner.get(`${path}/tree/master`)).headers.get('etag'), null)
})

t.test('the search in the files of a project', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  git(['fast-import', '--quiet', '--force'], commitOf({ 'a & b.c': `int Needle; // ${HOSTILE}\n`, other: 'x' }))
  const owner = await signedIn(project.owner)
  const found = await owner.get(`${path}/search?q=needle`)
  t.match(found.body, '1 line in 1 file')
  t.match((await owner.get(`${path}/search?q=READ`)).body, `<a href="${path}/blob/master/README.md">README.md</a>`)
  t.match(found.body, `href="${path}/blob/master/a%20%26%20b.c#L1"`)
  t.notMatch(found.body, '<script>')
  t.match((await owner.get(`${path}/search?q=--help&ref=master`)).body, '0 lines in 0 files')
  t.equal((await owner.get(`${path}/search?q=x&ref=none`)).status, 404)
  t.equal((await owner.get(`${path}/search?q=${'x'.repeat(300)}`)).status, 400)
  t.equal((await owner.get(`${path}/search`)).status, 200)
})

t.test('a file in LFS shows its size, and gives its content', async t => {
  const { project, path } = await make({ visibility_level: 20 })
  const bytes = Buffer.from('\u0089PNG large content', 'latin1')
  const oid = createHash('sha256').update(bytes).digest('hex')
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${bytes.length}\n`
  for (const name of ['image.png', 'film.bin', 'page.html']) await app.make.file(project, name, pointer)
  const owner = await signedIn(project.owner)
  t.match((await owner.get(`${path}/raw/master/film.bin`)).body, /^version https/, 'the project has no such object')
  t.notMatch((await owner.get(`${path}/blob/master/film.bin`)).body, 'in LFS')
  await storeObject(project.id, { oid, size: bytes.length }, () => Readable.from([bytes]))
  const blob = await owner.get(`${path}/blob/master/film.bin`)
  t.match(blob.body, new RegExp(`>${bytes.length} \\w+ in LFS`))
  t.match(blob.body, 'This file is in LFS')
  t.match((await owner.get(`${path}/blob/master/image.png`)).body, `<img src="${path}/raw/master/image.png"`)
  for (const [name, type, how] of [
    ['image.png', 'image/png', /^inline/],
    ['film.bin', 'text/plain; charset=utf-8', /^attachment/],
    ['page.html', 'text/plain; charset=utf-8', /^inline/]
  ] as const) {
    const raw = await nobody.get(`${path}/raw/master/${name}`)
    t.equal(raw.headers.get('content-length'), String(bytes.length), name)
    t.equal(raw.headers.get('content-type'), type)
    t.match(raw.headers.get('content-disposition'), how)
    t.match(raw.headers.get('content-security-policy'), /sandbox/)
    t.match(raw.body, 'large content')
  }
  await execute('update projects set lfs_enabled = 0 where id = ?', [project.id])
  t.match((await owner.get(`${path}/raw/master/film.bin`)).body, /^version https/, 'LFS is off')
  const other = await make({ visibility_level: 20 })
  await app.make.file(other.project, 'film.bin', pointer)
  t.match(
    (await nobody.get(`${other.path}/raw/master/film.bin`)).body,
    /^version https/,
    'the object of another project'
  )
})
