// Archives, compared with those that `git archive` makes.
import { execFileSync } from 'node:child_process'
import { readdirSync, renameSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { removeOld } from '../../../../src/areas/code/archives/old-archives.js'
import { contributorsFolder } from '../../../../src/areas/code/history/contributors.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../../../src/config.js'
import { slotCounts } from '../../../../src/git/process/slots.js'
import { type ArchiveFormat, requireFormat } from '../../../../src/git/repository/archive.js'
import {
  archiveFolder,
  dropArchives,
  keptArchives,
  keptSize,
  openArchive
} from '../../../../src/git/repository/archive-cache.js'
import { closeGitProcesses } from '../../../../src/git/repository/processes.js'
import { environment, git, stream } from '../../../git/history.js'
import { type TestApp, testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import t, { type Test } from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'

t.teardown(() => closeGitProcesses())

const below = (project: TestProject) => `/projects/${project.id}/repository`
const pathOf = ({ id }: TestProject) => repositoryPath({ id, storage: 'default' })

function setCache(t: Test, bytes: number): void {
  process.env.GITSTEAD_GIT_ARCHIVE_CACHE = String(bytes)
  loadConfig({ home: config().home })
  t.teardown(() => {
    delete process.env.GITSTEAD_GIT_ARCHIVE_CACHE
    loadConfig({ home: config().home })
  })
}

/** What git itself packs. */
const packed = (repository: string, format: string, prefix: string, commit: string) =>
  execFileSync(
    'git',
    ['-c', 'tar.tar.bz2.command=bzip2 -c', 'archive', `--format=${format}`, `--prefix=${prefix}/`, commit],
    { cwd: repository, env: environment, maxBuffer: 1 << 28 }
  )

async function filled(app: TestApp) {
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'README.md', '# Read me\n')
  const repository = pathOf(project)
  const person = 'committer A <a@b> 1700000000 +0000'
  const odd = `commit refs/heads/feature/x\n${person}\ndata 1\nx\nfrom refs/heads/master^0\nM 120000 inline link\ndata 1\na\nM 160000 ${'a'.repeat(40)} module\nM 100755 inline "b\\377d \\303\\244"\ndata 2\n1\n\n`
  git(repository, ['fast-import', '--quiet', '--force'], `${stream(30)}${odd}`)
  return { project, repository, ask: (...args: string[]) => git(repository, args) }
}

t.test('a machine without bzip2 says what to ask for', async t => {
  await requireFormat('zip', '/nonexistent')
  await t.rejects(requireFormat('tar.bz2', '/nonexistent'), {
    name: 'Unavailable',
    message: 'bzip2 is not installed on the server: use tar.gz, tar or zip'
  })
})

t.test('GET archive', async t => {
  const app = await testApp(t)
  const { project, repository, ask } = await filled(app)
  const get = (path: string, query = {}) => app.nobody.get(`${below(project)}/${path}`, query)
  const id = ask('rev-parse', 'master')
  const prefix = `${project.path.split('/').at(-1)}-master-${id}`

  t.test('gives what git archive gives, in each format, twice', async t => {
    const types = { 'tar.gz': 'gzip', 'tar.bz2': 'x-bzip2', tar: 'x-tar', zip: 'zip' }
    for (const [format, type] of Object.entries(types)) {
      const expected = packed(repository, format, prefix, id)
      for (const path of [`archive.${format}`, `archive?format=${format}`, `archive.${format}?sha=master`]) {
        const res = await get(path)
        t.equal(res.statusCode, 200, path)
        t.ok(res.rawPayload.equals(expected), path)
        t.equal(res.headers['content-type'], `application/${type}`)
        t.match(res.headers['content-disposition'], `attachment; filename=${prefix}.${format}`)
        t.equal(res.headers['x-content-type-options'], 'nosniff')
        t.equal(res.headers['content-security-policy'], "default-src 'none'; sandbox")
      }
    }
    t.equal(readdirSync(join(archiveFolder(), repository.slice(-68, -4))).length, 4, 'and keeps one of each')
    t.ok((await get('archive')).rawPayload.equals(packed(repository, 'tar.gz', prefix, id)), 'the default is tar.gz')
    t.ok((await get('archive.tgz')).rawPayload.equals(packed(repository, 'tar.gz', prefix, id)))
  })

  t.test('of a branch, a tag, a commit', async t => {
    const name = project.path.split('/').at(-1)
    ask('tag', 'v1', 'master')
    const feature = ask('rev-parse', 'feature/x')
    const asked: [string, string, string][] = [
      ['feature/x', `${name}-feature-x-${feature}`, feature],
      ['refs/heads/feature/x', `${name}-feature-x-${feature}`, feature],
      ['v1', `${name}-v1-${id}`, id],
      [id, `${name}-${id}`, id],
      [id.slice(0, 8), `${name}-${id}`, id]
    ]
    for (const [sha, folder, commit] of asked) {
      const res = await get('archive.tar', { sha })
      t.ok(res.rawPayload.equals(packed(repository, 'tar', folder, commit)), sha)
    }
  })

  t.test('answers 404 for what does not exist, and 400 for an unknown format', async t => {
    for (const sha of ['nowhere', '-x', '--output=/tmp/x', '--remote=x', 'master^{tree}', 'master:README.md']) {
      const res = await get('archive', { sha })
      t.equal(res.statusCode, 404, sha)
      t.same(res.json(), { message: '404 File Not Found' })
    }
    t.equal((await get('archive', { format: 'rar' })).statusCode, 400)
    t.equal((await get('archive.rar')).statusCode, 400)
    const empty = await app.make.project()
    t.equal((await app.as(empty.owner).get(`${below(empty)}/archive`)).statusCode, 404)
  })

  t.test('HEAD and a client that has the version start no git', async t => {
    const url = `/api/v3${below(project)}/archive.zip`
    const first = await app.nobody.inject({ url })
    const head = await app.nobody.inject({ url, method: 'HEAD' })
    t.equal(head.statusCode, 200)
    t.equal(head.headers['content-length'], String(first.rawPayload.length))
    t.equal(head.headers['content-disposition'], first.headers['content-disposition'])
    const again = await app.nobody.inject({ url, headers: { 'if-none-match': String(first.headers.etag) } })
    t.equal(again.statusCode, 304)
    t.equal(again.body, '')
    await dropArchives(repository)
    const unknown = await app.nobody.inject({ url, method: 'HEAD' })
    t.equal(unknown.statusCode, 200)
    t.equal(unknown.headers.etag, first.headers.etag)
    t.same(await keptArchives(), [])
  })
})

t.test('what git keeps', async t => {
  const app = await testApp(t)
  const { repository, ask } = await filled(app)
  const commit = ask('rev-parse', 'master')
  const request = (prefix: string, format: ArchiveFormat = 'tar') => ({
    repository,
    commit,
    format,
    prefix,
    client: 'x'
  })
  const read = async (prefix: string) => buffer((await openArchive(request(prefix))).stream)
  const expected = (prefix: string) => packed(repository, 'tar', prefix, commit)

  t.test('many who ask at once read the same', async t => {
    const all = await Promise.all(Array.from({ length: 12 }, () => read('many')))
    t.ok(all.every(found => found.equals(expected('many'))))
    await until('the cache and the slots settle', async () =>
      (await keptArchives()).some(({ path }) => !path.endsWith('.new'))
    )
    const { size, stream } = await openArchive(request('many'))
    stream.destroy()
    t.equal(size, expected('many').length, 'and later ones know its size')
  })

  t.test('an archive that is larger than a quarter is given and not kept', async t => {
    await dropArchives(repository)
    setCache(t, 16_000)
    t.ok(expected('large').length > 4000)
    for (let times = 0; times < 2; times++) {
      const all = await Promise.all([read('large'), read('large')])
      t.ok(all.every(found => found.equals(expected('large'))))
    }
    await until('the cache and the slots settle', async () => (await keptArchives()).length === 0)
    setCache(t, 0)
    t.ok((await read('none')).equals(expected('none')))
    t.same(await keptArchives(), [], 'with 0 none is kept')
  })

  t.test('the oldest go when there is no room', async t => {
    await dropArchives(repository)
    const size = expected('n0').length
    setCache(t, size * 4)
    for (let at = 0; at < 6; at++) {
      await read(`n${at}`)
      const sizeOf = (number: number) => keptSize(request(`n${number}`))
      await until('the archive is kept', async () => (await sizeOf(at)) === size)
      await until('and the oldest goes', async () => at < 4 || (await sizeOf(at - 4)) === null)
    }
    const sizes = []
    for (const name of ['n0', 'n1', 'n5']) sizes.push(await keptSize(request(name)))
    t.same(sizes, [null, null, size])
    t.equal((await keptArchives()).length, 4)
  })

  t.test('a client that leaves ends git, and the next one gets everything', async t => {
    await dropArchives(repository)
    const { stream } = await openArchive(request('left'))
    stream.destroy()
    t.ok((await read('left')).equals(expected('left')))
    await until('the cache and the slots settle', () => slotCounts().running === 0)
  })

  t.test('an error of git before the first byte is an error of the request', async t => {
    const gone = { ...request('gone'), commit: 'b'.repeat(40) }
    await t.rejects(openArchive(gone), { name: 'GitFailure' })
    await t.rejects(openArchive(gone), { name: 'GitFailure' })
  })

  t.test('maintenance removes what nobody has used for a week', async t => {
    await dropArchives(repository)
    await read('old')
    await until('the cache and the slots settle', async () =>
      (await keptArchives()).every(({ path }) => !path.endsWith('.new'))
    )
    const [kept] = await keptArchives()
    renameSync(kept?.path ?? '', `${kept?.path}.0123.new`)
    await read('old')
    // The new archive has its own name once it is complete.
    await until('the cache and the slots settle', async () => {
      const paths = (await keptArchives()).map(({ path }) => path)
      return paths.length === 2 && paths.filter(path => path.endsWith('.new')).length === 1
    })
    const notes: string[] = []
    const run = (days: number, dryRun: boolean) => {
      notes.length = 0
      const signal = new AbortController().signal
      const context = { dryRun, signal, count: () => {}, note: (text: string) => void notes.push(text) }
      return removeOld(context, Date.now() + days * 86_400_000)
    }
    await run(0, false)
    t.same(notes, [])
    await run(2, true)
    t.match(notes, [/^cache\/archives\/.*\.new$/])
    t.equal((await keptArchives()).length, 2, 'a dry run removes nothing')
    await run(2, false)
    t.equal((await keptArchives()).length, 1)
    await run(8, false)
    t.same(await keptArchives(), [])
    t.same(readdirSync(archiveFolder()), [])
    t.ok(contributorsFolder())
  })
})

t.test('a client that takes nothing does not hold git up', async t => {
  const app = await testApp(t)
  const { project, repository } = await filled(app)
  await dropArchives(repository)
  const address = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write(`GET /api/v3${below(project)}/archive.tar HTTP/1.1\r\nHost: x\r\n\r\n`)
  socket.pause()
  await until('the cache and the slots settle', async () =>
    (await keptArchives()).some(({ path }) => !path.endsWith('.new'))
  )
  await until('the cache and the slots settle', () => slotCounts().running === 0)
  socket.destroy()
  t.equal((await keptArchives()).length, 1)
})
