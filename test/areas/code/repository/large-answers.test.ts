// Answers that would be large: each is bounded or streamed, and a client that has the content already gets none.
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryPath, type StoredProject } from '../../../../src/areas/projects/projects/repositories.js'
import { forget, isKept } from '../../../../src/git/objects/cache.js'
import { closeGitProcesses } from '../../../../src/git/repository/processes.js'
import { git } from '../../../git/history.js'
import { type TestApp, testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const below = (project: TestProject) => `/projects/${project.id}/repository`
const pathOf = ({ id }: TestProject) => repositoryPath({ id, storage: 'default' } satisfies StoredProject)

/** Puts a tree of `count` files, whose names have `length` characters, on the branch `many`. */
function manyFiles(project: TestProject, count: number, length: number): string {
  const repository = pathOf(project)
  const blob = git(repository, ['hash-object', '-w', '--stdin'], '')
  const lines = Array.from(
    { length: count },
    (_, at) => `100644 blob ${blob}\t${String(at).padStart(6, '0')}${'n'.repeat(length - 6)}\n`
  )
  const tree = git(repository, ['mktree'], lines.join(''))
  const folder = git(repository, ['mktree'], `040000 tree ${tree}\tfolder\n`)
  const commit = git(repository, ['commit-tree', folder, '-m', 'many'])
  git(repository, ['update-ref', 'refs/heads/many', commit])
  return commit
}

async function filled(app: TestApp): Promise<TestProject> {
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'README.md', '# Read me\n')
  return project
}

t.teardown(() => closeGitProcesses())

t.test('a long tree is streamed, and one beyond the limits is cut and says so', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const tree = (query: Record<string, string>) =>
    app.nobody.get(`${below(project)}/tree`, { ref_name: 'many', ...query })

  manyFiles(project, 5000, 20)
  const long = await tree({ recursive: 'true' })
  t.equal(long.statusCode, 200)
  t.match(long.headers['content-type'], /^application\/json/)
  t.equal(long.headers['content-length'], String(long.rawPayload.length))
  t.equal(long.headers['x-gitstead-truncated'], undefined)
  const entries = long.json()
  t.equal(entries.length, 5001)
  t.same(Object.keys(entries[5000]).sort(), ['id', 'mode', 'name', 'path', 'type'])
  t.match(entries[5000], { path: `folder/004999${'n'.repeat(14)}`, mode: '100644', type: 'blob' })

  manyFiles(project, 20_000, 1500)
  for (const query of [{ recursive: 'true' }, { path: 'folder' }] as Record<string, string>[]) {
    const res = await tree(query)
    t.equal(res.statusCode, 200)
    t.ok(res.rawPayload.length <= 16 * 1024 * 1024, `${res.rawPayload.length} bytes`)
    t.equal(res.headers['x-gitstead-truncated'], 'true')
    t.ok(res.json().length > 4000)
  }
})

t.test('a large file is streamed, as it is and in its record', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  for (const size of [1_500_000, 1_500_001, 1_500_002]) {
    const content = Buffer.alloc(size, 'a large file ')
    await app.make.file(project, `large-${size}`, content.toString())
    const raw = await app.nobody.get(`${below(project)}/blobs/master`, { filepath: `large-${size}` })
    t.ok(raw.rawPayload.equals(content))
    const res = await app.nobody.get(`${below(project)}/files`, { file_path: `large-${size}`, ref: 'master' })
    for (const [path, length] of [
      [`blobs/master?filepath=large-${size}`, size],
      [`files?file_path=large-${size}&ref=master`, res.rawPayload.length]
    ] as const) {
      const head = await app.nobody.inject({ method: 'HEAD', url: `/api/v3${below(project)}/${path}` })
      t.same([head.statusCode, head.headers['content-length'], head.body], [200, String(length), ''])
    }
    t.equal(res.statusCode, 200)
    t.equal(res.headers['content-length'], String(res.rawPayload.length))
    const { content: encoded, ...record } = res.json()
    t.ok(Buffer.from(encoded, 'base64').equals(content))
    t.match(record, { file_name: `large-${size}`, file_path: `large-${size}`, size, encoding: 'base64', ref: 'master' })
    t.match(record, { blob_id: /^[0-9a-f]{40}$/, commit_id: /^[0-9a-f]{40}$/, last_commit_id: record.commit_id })
  }
})

t.test('a client that has the version gets 304 without content, and another one gets the content', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const { commit_id, blob_id } = (
    await app.nobody.get(`${below(project)}/files`, { file_path: 'README.md', ref: 'master' })
  ).json()
  const urls = [
    '/tree',
    '/tree?recursive=true',
    '/files?file_path=README.md&ref=master',
    '/blobs/master?filepath=README.md',
    `/raw_blobs/${blob_id}`,
    `/commits/${commit_id}`
  ].map(path => `/api/v3${below(project)}${path}`)
  for (const url of urls) {
    const ask = (headers: Record<string, string> = {}) => app.as(project.owner).inject({ url, headers })
    const first = await ask()
    const { etag } = first.headers
    t.match(etag, /^W\/"[^"]+"$/, url)
    t.equal(first.headers['cache-control'], 'private, no-cache', 'and no proxy keeps it for others')
    for (const known of [etag, `"other", ${etag}`, '*']) {
      const again = await ask({ 'if-none-match': String(known) })
      t.equal(again.statusCode, 304, known as string)
      t.equal(again.body, '')
      t.equal(again.headers.etag, etag)
    }
    t.equal((await ask({ 'if-none-match': '"other"' })).body, first.body)
  }
  const versionOf = async (url: string) => (await app.as(project.owner).inject({ url })).headers.etag
  const versions = await Promise.all(urls.map(versionOf))
  await app.make.file(project, 'another', 'x')
  const later = await Promise.all(urls.map(versionOf))
  t.same(
    later.map((etag, at) => etag === versions[at]),
    [false, false, false, true, true, true],
    'a version changes with what the answer shows'
  )
})

t.test('a client that has a file gets no 304 later than the file is found in its folder', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const url = `/api/v3${below(project)}/blobs/master?filepath=README.md`
  const { etag } = (await app.nobody.inject({ url })).headers
  forget(pathOf(project))
  const again = await app.nobody.inject({ url, headers: { 'if-none-match': String(etag) } })
  t.equal(again.statusCode, 304)
  const id = String(etag).slice(3, -1)
  t.notOk(isKept(pathOf(project), `size ${id}`), 'the file was not read')
})

t.test('a client that may not read gets no 304', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  await app.make.file(project, 'secret', 'x')
  const res = await app.nobody.inject({ url: `/api/v3${below(project)}/tree`, headers: { 'if-none-match': '*' } })
  t.equal(res.statusCode, 404)
})

t.test('a damaged repository answers an error, and never reads as empty or absent', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const user = app.as(project.owner)
  const repository = pathOf(project)
  const blob = git(repository, ['rev-parse', 'master:README.md'])
  const tree = git(repository, ['rev-parse', 'master^{tree}'])
  const file = (id: string) => join(repository, 'objects', id.slice(0, 2), id.slice(2))
  const without = async (path: string, urls: string[]) => {
    await closeGitProcesses()
    forget(repository)
    renameSync(path, `${path}.away`)
    for (const url of urls) t.equal((await user.inject({ url })).statusCode, 500, `${url} without ${path}`)
    renameSync(`${path}.away`, path)
  }
  const url = (path: string) => `/api/v3${below(project)}${path}`
  const reads = [url('/tree'), url('/blobs/master?filepath=README.md'), url('/files?file_path=README.md&ref=master')]
  await without(file(blob), reads.slice(1))
  await without(file(tree), reads)
  const refs = [
    url('/branches'),
    url('/branches/master'),
    `/${project.path}.git/info/refs?service=git-upload-pack`,
    `/${project.path}/info/refs?service=git-upload-pack`
  ]
  await without(join(repository, 'refs/heads/master'), [...reads, ...refs])
  await without(join(repository, 'refs'), refs)
  const master = join(repository, 'refs/heads/master')
  const tip = readFileSync(master)
  // As after a loss of power.
  writeFileSync(master, '')
  for (const url of refs) t.equal((await user.inject({ url })).statusCode, 500, `${url} with an empty file`)
  writeFileSync(master, tip)
  await without(join(repository, 'objects'), reads)
  await without(repository, [...reads, `/${project.path}.git/info/refs?service=git-upload-pack`])
  for (const url of reads) t.equal((await user.inject({ url })).statusCode, 200, 'and it reads again')

  const change = { branch_name: 'master', commit_message: 'A change', file_path: 'new', content: 'x' }
  const write = async () => (await user.post(`${below(project)}/files`, change)).statusCode
  await closeGitProcesses()
  forget(repository)
  renameSync(file(tree), `${file(tree)}.away`)
  t.equal(await write(), 500, 'a write is no mistake of the client')
  renameSync(`${file(tree)}.away`, file(tree))
  t.equal(await write(), 201)
})

t.test('an error has no version, so that a client does not keep it', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const repository = pathOf(project)
  const blob = git(repository, ['hash-object', '-w', '--stdin'], 'lost')
  const tree = git(repository, ['mktree'], `100644 blob ${blob}\tlost\n`)
  const commit = git(repository, ['commit-tree', tree, '-m', 'lost'])
  git(repository, ['update-ref', 'refs/heads/lost', commit])
  const path = join(repository, 'objects', blob.slice(0, 2), blob.slice(2))
  chmodSync(path, 0o600)
  writeFileSync(path, 'damaged')
  const res = await app.nobody.get(`${below(project)}/blobs/${commit}`, { filepath: 'lost' })
  t.ok(res.statusCode >= 500)
  t.notOk('etag' in res.headers || 'cache-control' in res.headers)
})
