import { createHash } from 'node:crypto'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { objectInfo } from '../../../../src/git/objects/reader.js'
import { type TestApp, testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const COMMIT_ID = /^[0-9a-f]{40}$/
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const blobId = (content: string) =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest('hex')

const encoded = (value: string) => encodeURIComponent(value)
const below = (project: TestProject) => `/projects/${project.id}/repository`

async function filled(app: TestApp): Promise<TestProject> {
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'README.md', '# Read me\n')
  await app.make.file(project, 'src/lib/deep.txt', 'deep')
  await app.make.file(project, 'src/grüße 🦊.html', '<script>alert(1)</script>')
  return project
}

t.test('GET tree', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const tree = (query = {}) => app.nobody.get(`${below(project)}/tree`, query)

  t.test('gives the default branch: folders and files with their five attributes', async t => {
    const res = await tree()
    t.equal(res.statusCode, 200)
    t.same(res.json(), [
      { id: blobId('# Read me\n'), name: 'README.md', type: 'blob', path: 'README.md', mode: '100644' },
      { id: res.json()[1].id, name: 'src', type: 'tree', path: 'src', mode: '040000' }
    ])
    t.notOk(res.headers['x-total'], 'and no pages')
  })

  t.test('gives a folder, with or without slash, and everything below it', async t => {
    const names = async (query: object) => (await tree(query)).json().map(({ path }: { path: string }) => path)
    t.same(await names({ path: 'src' }), ['src/grüße 🦊.html', 'src/lib'])
    t.same(await names({ path: 'src/' }), ['src/grüße 🦊.html', 'src/lib'])
    t.same(await names({ path: '/src' }), ['src/grüße 🦊.html', 'src/lib'])
    t.same(await names({ path: '/' }), ['README.md', 'src'])
    t.same(await names({ path: 'src', recursive: true }), ['src/grüße 🦊.html', 'src/lib', 'src/lib/deep.txt'])
    t.same(await names({ recursive: 'yes' }), ['README.md', 'src', 'src/grüße 🦊.html', 'src/lib', 'src/lib/deep.txt'])
    t.same(await names({ ref_name: 'master' }), ['README.md', 'src'])
  })

  t.test('answers 404 for a folder or commit that does not exist', async t => {
    for (const query of [{ ref_name: 'no-branch' }, { ref_name: '-x' }, { path: 'nowhere' }, { path: 'README.md' }]) {
      const res = await tree(query)
      t.equal(res.statusCode, 404, JSON.stringify(query))
      t.same(res.json(), { message: '404 Tree Not Found' })
    }
  })

  t.test('is missing in an empty project', async t => {
    const empty = await app.make.project()
    for (const query of [{ path: '' }, { path: 'src' }, { ref_name: 'master' }] as Record<string, string>[]) {
      const res = await app.as(empty.owner).get(`${below(empty)}/tree`, query)
      t.same([res.statusCode, res.json()], [404, { message: '404 Tree Not Found' }])
    }
  })
})

t.test('GET blobs, raw_blobs', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const blob = (sha: string, query: Record<string, string>) =>
    app.nobody.get(`${below(project)}/blobs/${encoded(sha)}`, query)
  const raw = (sha: string) => app.nobody.get(`${below(project)}/raw_blobs/${encoded(sha)}`)

  t.test('gives the bytes as text that no browser executes', async t => {
    const path = 'src/grüße 🦊.html'
    const res = await blob('master', { filepath: path })
    t.equal(res.statusCode, 200)
    t.equal(res.body, '<script>alert(1)</script>')
    t.match(res.headers['content-type'], /^text\/plain/)
    t.equal(res.headers['x-content-type-options'], 'nosniff')
    t.equal(res.headers['content-length'], '25')
    t.match(res.headers['content-disposition'], /^attachment; filename="gr\?\?e \?+\.html"; filename\*=UTF-8''gr%C3%BC/)
    t.equal(res.headers['content-security-policy'], "default-src 'none'; sandbox")
    t.same((await raw(blobId('<script>alert(1)</script>'))).body, res.body)
    const same = await app.nobody.get(`${below(project)}/commits/master/blob`, { filepath: path })
    t.same([same.body, same.headers['content-disposition']], [res.body, res.headers['content-disposition']])
  })

  t.test('finds commits by id and by branch', async t => {
    const { commit_id } = (
      await app.nobody.get(`${below(project)}/files`, { file_path: 'README.md', ref: 'master' })
    ).json()
    t.equal((await blob(commit_id, { filepath: 'README.md' })).body, '# Read me\n')
    t.equal((await blob(commit_id.slice(0, 8), { filepath: 'README.md' })).body, '# Read me\n')
  })

  t.test('names what is missing', async t => {
    t.match((await blob('nowhere', { filepath: 'README.md' })).json(), { message: '404 Commit Not Found' })
    t.match((await blob('master', { filepath: 'nothing' })).json(), { message: '404 File Not Found' })
    t.match((await blob('master', { filepath: 'src' })).json(), { message: '404 File Not Found' })
    t.same((await blob('master', {})).json(), {
      error: 'filepath is missing',
      message: '400 (Bad request) "filepath" not given'
    })
    t.equal((await blob('master', { filepath: '' })).statusCode, 400)
  })

  t.test('raw_blobs takes ids of blobs only', async t => {
    const { commit_id } = (
      await app.nobody.get(`${below(project)}/files`, { file_path: 'README.md', ref: 'master' })
    ).json()
    const others = ['0'.repeat(40), commit_id, 'master', 'master:README.md', '-h', '--help', `${commit_id}^{tree}`, '%']
    for (const sha of others) {
      const res = await raw(sha)
      t.equal(res.statusCode, 404, sha)
      t.same(res.json(), { message: '404 Blob Not Found' })
    }
  })

  t.test('a blob of another project is not found here', async t => {
    const other = await app.make.project()
    await app.make.file(other, 'secret', 'the secret')
    t.equal((await raw(blobId('the secret'))).statusCode, 404)
  })
})

t.test('GET files', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const read = (query: Record<string, string>) => app.nobody.get(`${below(project)}/files`, query)

  t.test('gives the record', async t => {
    const res = await read({ file_path: 'src/lib/deep.txt', ref: 'master' })
    t.equal(res.statusCode, 200)
    const { commit_id, last_commit_id, ...rest } = res.json()
    t.same(rest, {
      file_name: 'deep.txt',
      file_path: 'src/lib/deep.txt',
      size: 4,
      encoding: 'base64',
      content: Buffer.from('deep').toString('base64'),
      ref: 'master',
      blob_id: blobId('deep')
    })
    t.match(commit_id, COMMIT_ID)
    t.match(last_commit_id, COMMIT_ID)
    t.not(commit_id, last_commit_id, 'commit_id is of the branch, last_commit_id of the file')
  })

  t.test('answers 404 for what does not exist', async t => {
    t.match((await read({ file_path: 'x', ref: 'master' })).json(), { message: '404 File Not Found' })
    t.match((await read({ file_path: 'src', ref: 'master' })).json(), { message: '404 File Not Found' })
    t.match((await read({ file_path: 'x', ref: 'nowhere' })).json(), { message: '404 Commit Not Found' })
    t.match((await read({})).json(), { error: 'file_path is missing, ref is missing' })
  })

  const hostile = [
    '../../config',
    '/etc/passwd',
    'src/../README.md',
    './README.md',
    'a\0b',
    '.git/config',
    'x'.repeat(5000)
  ]
  for (const file_path of hostile) {
    t.test(`not ${JSON.stringify(file_path.slice(0, 20))}`, async t => {
      const res = await read({ file_path, ref: 'master' })
      t.ok([400, 404].includes(res.statusCode), String(res.statusCode))
      t.type(res.json().message, 'string')
    })
  }

  const refs = [
    '-x',
    '--output=/tmp/x',
    '--upload-pack=touch',
    'refs/heads/../x',
    'master..',
    'a b',
    '@{-1}',
    'master^{tree}',
    'HEAD~1',
    ':README.md',
    '\0',
    'master\nother'
  ]
  for (const ref of refs) {
    t.test(`no commit is called ${JSON.stringify(ref)}`, async t => {
      const res = await read({ file_path: 'README.md', ref })
      t.equal(res.statusCode, 404)
      t.same(res.json(), { message: '404 Commit Not Found' })
      const byPath = await app.as(project.owner).get(`${below(project)}/commits/${encoded(ref)}`)
      t.equal(byPath.statusCode, 404)
    })
  }
})

t.test('GET commits/:sha', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const get = (sha: string) => app.as(project.owner).get(`${below(project)}/commits/${encoded(sha)}`)
  const res = await get('master')
  t.equal(res.statusCode, 200)
  const commit = res.json()
  t.match(commit, {
    id: COMMIT_ID,
    short_id: commit.id.slice(0, 8),
    title: 'Add src/grüße 🦊.html',
    author_name: project.owner.name,
    author_email: project.owner.email,
    created_at: DATE_TIME,
    committer_name: project.owner.name,
    committer_email: project.owner.email,
    message: 'Add src/grüße 🦊.html',
    parent_ids: [COMMIT_ID],
    committed_date: DATE_TIME,
    authored_date: DATE_TIME,
    stats: { additions: 1, deletions: 0, total: 1 },
    status: null
  })
  t.equal(Object.keys(commit).length, 14, 'and no more')
  t.equal((await get(commit.id)).json().id, commit.id)
  t.equal((await get(commit.short_id)).json().id, commit.id)
  t.same((await get('nowhere')).json(), { message: '404 Commit Not Found' })
  t.equal((await get(blobId('deep'))).statusCode, 404, 'a blob is not a commit')
})

t.test('POST, PUT and DELETE files', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const user = app.as(project.owner)
  const url = `${below(project)}/files`
  const base = { branch_name: 'master', commit_message: 'A change' }
  const content = async (file_path: string, ref = 'master') => {
    const res = await user.get(url, { file_path, ref })
    return res.statusCode === 200 ? Buffer.from(res.json().content, 'base64').toString() : null
  }
  const head = async () => (await user.get(`${below(project)}/commits/master`)).json()

  t.test('the first file of an empty project makes its branch', async t => {
    const res = await user.post(url, { ...base, file_path: 'app/project.rb', content: 'new' })
    t.equal(res.statusCode, 201)
    t.same(res.json(), { file_name: 'app/project.rb', file_path: 'app/project.rb', branch_name: 'master' })
    t.equal(await content('app/project.rb'), 'new')
    t.equal((await user.get(`/projects/${project.id}`)).json().default_branch, 'master')
    t.same((await head()).parent_ids, [])
  })

  t.test('updates and deletes', async t => {
    const put = await user.put(url, { ...base, file_path: 'app/project.rb', content: 'changed' })
    t.equal(put.statusCode, 200)
    t.match(put.json(), { file_name: 'app/project.rb', branch_name: 'master' })
    t.equal(await content('app/project.rb'), 'changed')
    await user.post(url, { ...base, file_path: 'gone', content: 'x' })
    const del = await user.delete(url, { ...base, file_path: 'gone' })
    t.equal(del.statusCode, 200)
    t.match(del.json(), { file_name: 'gone', branch_name: 'master' })
    t.equal(await content('gone'), null)
  })

  t.test('accepts base64, which can hold any byte', async t => {
    const bytes = Buffer.from([0, 255, 10, 13, 128])
    const body = { ...base, file_path: 'binary', encoding: 'base64', content: bytes.toString('base64') }
    t.equal((await user.post(url, body)).statusCode, 201)
    const res = await user.get(url, { file_path: 'binary', ref: 'master' })
    t.equal(res.json().content, bytes.toString('base64'))
    t.equal((await user.post(url, { ...body, file_path: 'b2', content: 'no base64!' })).statusCode, 400)
    t.match((await user.post(url, { ...body, encoding: 'rot13' })).json(), {
      error: 'encoding does not have a valid value'
    })
  })

  t.test('accepts an empty file', async t => {
    t.equal((await user.post(url, { ...base, file_path: 'empty', content: '' })).statusCode, 201)
    t.equal(await content('empty'), '')
  })

  t.test('accepts another author', async t => {
    const author = { author_name: 'Ann Author', author_email: 'ann@example.org' }
    await user.post(url, { ...base, ...author, file_path: 'authored', content: 'x' })
    t.match(await head(), { ...author, committer_name: project.owner.name, committer_email: project.owner.email })
  })

  t.test('no text of an author or message becomes a header of the commit', async t => {
    const before = (await head()).id
    const author = { author_name: 'A <x@y> 0 +0000\nparent 1', author_email: 'a@b>\ncommitter Evil <e@e> 0 +0000' }
    const message = 'first\n\nparent 0000000000000000000000000000000000000000\ncommitter Evil <e@e> 0 +0000\n'
    const res = await user.post(url, { ...base, ...author, commit_message: message, file_path: 'header', content: 'x' })
    const commit = await head()
    if (res.statusCode === 201) {
      t.same(commit.parent_ids, [before])
      t.match(commit, { committer_name: project.owner.name, committer_email: project.owner.email })
      t.match(commit.message, /^first\n\nparent 0/)
    } else {
      t.equal(res.statusCode, 400)
      t.equal(commit.id, before)
    }
  })

  t.test('a message with NUL does not make a broken commit', async t => {
    const res = await user.post(url, { ...base, commit_message: 'a\0b', file_path: 'nul', content: 'x' })
    t.ok([201, 400].includes(res.statusCode), String(res.statusCode))
    t.equal((await user.get(`${below(project)}/commits/master`)).statusCode, 200)
  })

  t.test('writes to another branch only when it exists', async t => {
    const res = await user.post(url, { ...base, branch_name: 'other', file_path: 'o', content: 'x' })
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: 'You can only create or edit files when you are on a branch' })
  })

  const refusals: [string, 'post' | 'put' | 'delete', object][] = [
    ['creating what is there', 'post', { file_path: 'empty', content: 'x' }],
    ['creating below a file', 'post', { file_path: 'empty/x', content: 'x' }],
    ['creating over a folder', 'post', { file_path: 'app', content: 'x' }],
    ['updating a missing file', 'put', { file_path: 'nothing', content: 'x' }],
    ['updating to the same', 'put', { file_path: 'empty', content: '' }],
    ['deleting a missing file', 'delete', { file_path: 'nothing' }],
    ['deleting a folder', 'delete', { file_path: 'app' }],
    ['dots in the middle', 'post', { file_path: 'a/../b', content: 'x' }],
    ['dots at the start', 'post', { file_path: '../b', content: 'x' }],
    ['a dot', 'post', { file_path: './b', content: 'x' }],
    ['an absolute path of two slashes', 'post', { file_path: '//etc/passwd', content: 'x' }],
    ['NUL in the path', 'post', { file_path: 'a\0b', content: 'x' }],
    ['the git folder', 'post', { file_path: '.git/hooks/update', content: 'x' }],
    ['the git folder by another name', 'post', { file_path: 'a/.GiT/config', content: 'x' }],
    ['a slash at the end', 'post', { file_path: 'folder/', content: 'x' }],
    ['a component beyond what file systems take', 'post', { file_path: 'x'.repeat(5000), content: 'x' }],
    ['a branch that begins with a dash', 'post', { file_path: 'x', content: 'x', branch_name: '-x' }],
    ['a branch that is an option', 'post', { file_path: 'x', content: 'x', branch_name: '--force' }],
    ['a branch with dots', 'post', { file_path: 'x', content: 'x', branch_name: 'a..b' }],
    ['a branch with NUL', 'post', { file_path: 'x', content: 'x', branch_name: 'a\0b' }],
    ['a branch with a line end', 'post', { file_path: 'x', content: 'x', branch_name: 'a\nb' }],
    ['a branch of 300 characters', 'post', { file_path: 'x', content: 'x', branch_name: 'b'.repeat(300) }],
    ['an empty message', 'post', { file_path: 'x', content: 'x', commit_message: '' }],
    ['a list as content', 'post', { file_path: 'x', content: ['x'] }],
    ['an object as path', 'post', { file_path: { a: 1 }, content: 'x' }]
  ]
  for (const [what, method, values] of refusals) {
    t.test(`refuses ${what}`, async t => {
      const before = (await head()).id
      const res = await user[method](url, { ...base, ...values } as Record<string, string>)
      t.equal(res.statusCode, 400, res.body)
      t.type(res.json().message, 'string')
      t.equal((await head()).id, before, 'and changes nothing')
    })
  }

  const names: [string, RegExp][] = [
    ['x'.repeat(256), /"x{40}\.\.\." is longer than 255 bytes/],
    [`folder/${'ü'.repeat(128)}`, /is longer than 255 bytes/],
    ['line\nend', /"line\\nend" contains a line end/],
    ['back\\slash', /"back\\\\slash" contains a backslash/]
  ]
  for (const [file_path, why] of names) {
    t.test(`refuses the name ${JSON.stringify(file_path.slice(0, 20))}, and says why`, async t => {
      const res = await user.post(url, { ...base, file_path, content: 'x' })
      t.equal(res.statusCode, 400)
      t.match(res.json().message, why)
    })
  }

  t.test('accepts a name of 255 bytes', async t => {
    t.equal((await user.post(url, { ...base, file_path: 'x'.repeat(255), content: 'x' })).statusCode, 201)
  })

  t.test('drops one slash at the start of a path', async t => {
    const res = await user.post(url, { ...base, file_path: '/slash', content: 'x' })
    t.equal(res.statusCode, 201)
    t.match(res.json(), { file_name: 'slash', file_path: 'slash' }, 'and answers the path that is stored')
    t.equal(await content('slash'), 'x')
    t.match((await user.get(url, { file_path: '/slash', ref: 'master' })).json(), { file_path: 'slash' })
  })

  t.test('names everything that is missing', async t => {
    const res = await user.post(url, {})
    t.equal(res.statusCode, 400)
    t.match(res.json(), {
      error: 'file_path is missing, branch_name is missing, commit_message is missing, content is missing'
    })
  })

  t.test('after writes at once to one branch, every write that was answered with success is in it', async t => {
    const names = Array.from({ length: 12 }, (_, at) => `race-${at}`)
    const all = await Promise.all(names.map(file_path => user.post(url, { ...base, file_path, content: file_path })))
    for (const [at, { statusCode }] of all.entries()) {
      t.ok([201, 400].includes(statusCode), String(statusCode))
      t.equal(await content(names[at] ?? ''), statusCode === 201 ? names[at] : null)
    }
    t.ok(all.some(({ statusCode }) => statusCode === 201))
  })

  t.test('the repository is bare and whole', async t => {
    const found = await objectInfo(repositoryPath({ id: project.id, storage: 'default' }), 'refs/heads/master')
    t.equal(found?.type, 'commit')
  })
})
