// Commits, their changes, comparisons and contributors, compared with git's own answers.
import { readContributors } from '../../../../src/areas/code/history/contributors.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { countContributors } from '../../../../src/git/history/contributors.js'
import { forget } from '../../../../src/git/objects/cache.js'
import { writeCommitGraph } from '../../../../src/git/repository/maintenance.js'
import { closeGitProcesses } from '../../../../src/git/repository/processes.js'
import { git, stream } from '../../../git/history.js'
import { type TestApp, testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

t.teardown(() => closeGitProcesses())

const below = (project: TestProject) => `/projects/${project.id}/repository`
const pathOf = ({ id }: TestProject) => repositoryPath({ id, storage: 'default' })
const idsOf = (res: { json: () => { id: string }[] }) => res.json().map(({ id }) => id)
const lines = (text: string) => text.split('\n').filter(Boolean)

/** A public project with a history of 130 commits, a side branch, and a tag whose name looks like a commit. */
async function filled(app: TestApp) {
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'README.md', '# Read me\n')
  const repository = pathOf(project)
  git(repository, ['fast-import', '--quiet', '--force'], stream(130))
  git(repository, ['update-ref', 'refs/tags/deadbeef', 'refs/heads/side'])
  await writeCommitGraph(repository)
  forget(repository)
  const ask = (...args: string[]) => git(repository, args)
  const get = (path: string, query = {}) => app.as(project.owner).get(`${below(project)}/${path}`, query)
  return { project, repository, ask, get }
}

t.test('GET commits', async t => {
  const app = await testApp(t)
  const { ask, get } = await filled(app)
  const all = lines(ask('rev-list', 'master'))

  t.test('gives the newest 20 of the default branch, and pages count from 0', async t => {
    const res = await get('commits')
    t.equal(res.statusCode, 200)
    t.same(idsOf(res), all.slice(0, 20))
    t.notOk(res.headers.link, 'no headers for pages')
    t.same(Object.keys(res.json()[0]).sort(), [
      'author_email',
      'author_name',
      'committer_email',
      'committer_name',
      'created_at',
      'id',
      'message',
      'short_id',
      'title'
    ])
    t.match(res.json()[0], { title: 'commit 130', message: 'commit 130\n', short_id: all[0]?.slice(0, 8) })
    t.same(idsOf(await get('commits', { page: 0, per_page: 7 })), all.slice(0, 7))
    t.same(idsOf(await get('commits', { page: 3, per_page: 7 })), all.slice(21, 28))
    t.same(idsOf(await get('commits', { per_page: 1000 })), all.slice(0, 100))
    t.equal(idsOf(await get('commits', { per_page: 0 })).length, 20)
    t.same(idsOf(await get('commits', { page: 1_000_000_000, per_page: 100 })), [])
    t.same(idsOf(await get('commits', { page: -1 })), all.slice(0, 20))
  })

  t.test('of a branch, a tag, a commit or its first digits', async t => {
    const side = lines(ask('rev-list', '--max-count=20', 'side'))
    for (const ref_name of ['side', 'deadbeef', 'refs/heads/side', side[0] ?? '', side[0]?.slice(0, 9) ?? '']) {
      t.same(idsOf(await get('commits', { ref_name })), side, ref_name)
    }
    for (const ref_name of ['nowhere', '-x', '--all', 'master..side', 'master^', '^master', 'HEAD', '0000']) {
      const res = await get('commits', { ref_name })
      t.equal(res.statusCode, 404, ref_name)
      t.same(res.json(), { message: '404 Ref Not Found' })
    }
  })

  t.test('between two moments', async t => {
    const [since, until] = ['2020-09-13T13:00:00Z', '2020-09-13T14:00:00Z']
    const expected = (...args: string[]) => lines(ask('rev-list', '--max-count=20', ...args, 'master'))
    t.same(idsOf(await get('commits', { since })), expected(`--since=${since}`))
    t.same(idsOf(await get('commits', { until })), expected(`--until=${until}`))
    t.same(idsOf(await get('commits', { since, until })), expected(`--since=${since}`, `--until=${until}`))
    for (const query of [{ since: 'yesterday' }, { until: '2020-13-01' }]) {
      const res = await get('commits', query)
      t.equal(res.statusCode, 400)
      t.equal(
        res.json().message,
        `"${Object.keys(query)[0]}" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ`
      )
    }
  })

  t.test('of a file or folder', async t => {
    for (const path of ['side', 'lib/part-3', 'lib/part-3/', '/lib/part-3', 'lib/part-3/file-3.txt', 'nothing']) {
      const plain = path.replace(/^\/|\/$/g, '')
      t.same(
        idsOf(await get('commits', { path })),
        lines(ask('rev-list', '--max-count=20', 'master', '--', plain)),
        path
      )
    }
    for (const path of ['../x', 'a//b', 'a\0b', '.git/config'])
      t.equal((await get('commits', { path })).statusCode, 400)
  })

  t.test('a project without commits has none, and an unknown ref neither', async t => {
    const empty = await app.make.project()
    t.same((await app.as(empty.owner).get(`${below(empty)}/commits`)).json(), [])
    t.equal((await app.as(empty.owner).get(`${below(empty)}/commits`, { ref_name: 'master' })).statusCode, 404)
  })
})

t.test('GET commits/:sha/diff', async t => {
  const app = await testApp(t)
  const { ask, get } = await filled(app)
  const rename = ask('rev-list', '-1', 'master', '--', 'moved/100.txt')
  const res = await get(`commits/${rename}/diff`)
  t.equal(res.statusCode, 200)
  t.match(res.json().find(({ renamed_file }: { renamed_file: boolean }) => renamed_file) ?? res.json()[0], {
    new_path: 'moved/100.txt',
    b_mode: '100644',
    deleted_file: false
  })
  const [added] = (await get(`commits/${ask('rev-parse', 'side')}/diff`)).json()
  t.same(added, {
    old_path: 'side/125.txt',
    new_path: 'side/125.txt',
    a_mode: '0',
    b_mode: '100644',
    diff: '--- /dev/null\n+++ b/side/125.txt\n@@ -0,0 +1 @@\n+side 125\n',
    new_file: true,
    renamed_file: false,
    deleted_file: false
  })
  t.same((await get('commits/side/diff')).json(), [added], 'by a branch too')
  t.same((await get('commits/nowhere/diff')).json(), { message: '404 Commit Not Found' })
  const root = ask('rev-list', '--max-parents=0', 'master')
  t.equal((await get(`commits/${root}/diff`)).json().length, lines(ask('ls-tree', '-r', root)).length)
})

t.test('a diff that is cut says so', async t => {
  const app = await testApp(t)
  const { repository, get } = await filled(app)
  const files = Array.from({ length: 1001 }, (_, at) => `M 100644 inline many/${at}\ndata 2\n1\n`).join('')
  const head = 'commit refs/heads/wide\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\nfrom refs/heads/master^0\n'
  git(repository, ['fast-import', '--quiet'], `${head}${files}\n`)
  const res = await get('commits/wide/diff')
  t.equal(res.json().length, 1000)
  t.equal(res.headers['x-gitstead-truncated'], 'true')
  t.equal((await get('compare', { from: 'master', to: 'wide' })).json().compare_timeout, true)
})

t.test('GET compare', async t => {
  const app = await testApp(t)
  const { ask, get, project } = await filled(app)

  t.test('gives commits from the oldest, and what they changed since both had the same history', async t => {
    const pairs = [
      ['master~40', 'master'],
      ['side', 'master'],
      ['master', 'side'],
      ['master', 'master~5']
    ].map(([from = '', to = '']) => [ask('rev-parse', from), ask('rev-parse', to)])
    for (const [from = '', to = ''] of pairs) {
      const res = await get('compare', { from, to })
      t.equal(res.statusCode, 200)
      const { commit, commits, diffs, ...rest } = res.json()
      const expected = lines(ask('rev-list', '--reverse', `${from}..${to}`))
      t.same(
        commits.map(({ id }: { id: string }) => id),
        expected
      )
      t.equal(commit?.id ?? null, expected.at(-1) ?? null)
      const names = ask('diff', '--name-only', '-M', `${from}...${to}`)
      t.same(
        diffs.map(({ new_path }: { new_path: string }) => new_path),
        lines(names)
      )
      t.same(rest, { compare_timeout: false, compare_same_ref: false })
    }
  })

  t.test('works with branches and tags, without credentials on a public project, and with itself', async t => {
    const res = await app.nobody.get(`${below(project)}/compare`, { from: 'deadbeef', to: 'master' })
    t.equal(res.statusCode, 200)
    t.same((await get('compare', { from: 'side', to: 'deadbeef' })).json(), {
      commit: null,
      commits: [],
      diffs: [],
      compare_timeout: false,
      compare_same_ref: true
    })
  })

  t.test('names what is missing', async t => {
    t.same((await get('compare', { from: 'master', to: 'nowhere' })).json(), { message: '404 Commit Not Found' })
    t.same((await get('compare', { from: '--output=/tmp/x', to: 'master' })).json(), {
      message: '404 Commit Not Found'
    })
    t.match((await get('compare', { from: 'master' })).json(), { error: 'to is missing' })
  })

  t.test('histories without a common commit are compared as they are', async t => {
    const { project: other, repository, ask, get } = await filled(app)
    const import_ =
      'commit refs/heads/lone\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\nM 100644 inline only\ndata 2\n1\n\n'
    git(repository, ['fast-import', '--quiet'], import_)
    const { commits, diffs } = (await get('compare', { from: 'master', to: 'lone' })).json()
    t.equal(commits.length, 1)
    t.equal(diffs.length, lines(ask('diff', '--name-only', '-M', 'master', 'lone')).length)
    t.ok(other)
  })
})

t.test('GET contributors', async t => {
  const app = await testApp(t)
  const { project, repository, ask, get } = await filled(app)
  const commit = (name: string, email: string, content: string) =>
    git(
      repository,
      ['fast-import', '--quiet'],
      `commit refs/heads/master\nauthor ${name} <${email}> 1700000000 +0000\ncommitter C <c@d> 1700000000 +0000\ndata 1\nx\nfrom refs/heads/master^0\nM 100644 inline by\ndata ${Buffer.byteLength(content)}\n${content}\n\n`
    )
  commit('Zoë\u2028X', 'zoe@example.com', '1\n2\n3\n')
  commit('Zoë', 'zoe@example.com', '1\nb\n')
  const byGit = () => {
    const found = new Map<string, [number, number, number]>()
    for (const id of lines(ask('rev-list', '--no-merges', 'master'))) {
      const [email = '', ...stat] = lines(ask('show', '--no-renames', '--shortstat', '--format=%ae', id))
      const [commits, additions, deletions] = found.get(email) ?? [0, 0, 0]
      const figure = (what: RegExp) => Number(what.exec(stat.join())?.[1] ?? 0)
      found.set(email, [commits + 1, additions + figure(/(\d+) ins/), deletions + figure(/(\d+) del/)])
    }
    return Object.fromEntries(found)
  }
  const shown = async () =>
    Object.fromEntries(
      (await get('contributors'))
        .json()
        .map((one: Record<string, unknown>) => [one.email, [one.commits, one.additions, one.deletions]])
    )
  const expected = byGit()
  t.same(await shown(), expected)
  const list = (await app.nobody.get(`${below(project)}/contributors`)).json()
  t.same(list[1], { name: 'Zoë', email: 'zoe@example.com', commits: 2, additions: 4, deletions: 2 })
  t.equal(list[0].email, 'ann@example.com', 'those with the most commits come first')

  commit('Zoë', 'zoe@example.com', '1\n')
  const [additions, deletions] = [expected['zoe@example.com']?.[1], expected['zoe@example.com']?.[2]]
  t.same(
    await shown(),
    { ...expected, 'zoe@example.com': [3, additions, (deletions ?? 0) + 1] },
    'counted from there on'
  )
  const tip = ask('rev-parse', 'master')
  t.same(
    (await countContributors(repository, tip, null)).people.toSorted((a, b) => (a.email < b.email ? -1 : 1)),
    (await get('contributors'))
      .json()
      .toSorted((a: { email: string }, b: { email: string }) => (a.email < b.email ? -1 : 1)),
    'with the same result as from the start'
  )

  git(repository, ['update-ref', 'refs/heads/master', 'master~30'])
  t.same(await shown(), byGit(), 'and again after a forced push')

  const stored = { id: project.id, storage: 'default' }
  const old = ask('rev-parse', 'master~1')
  await t.rejects(readContributors(stored, old, 0), { name: 'Unavailable', retryAfter: 10 })
  t.ok((await readContributors(stored, old)).people.length > 0, 'the count continues in the meantime')

  const empty = await app.make.project()
  t.same((await app.as(empty.owner).get(`${below(empty)}/contributors`)).json(), [])
})

t.test('a client that has the version gets 304', async t => {
  const app = await testApp(t)
  const { project } = await filled(app)
  for (const path of ['commits', 'commits/side/diff', 'compare?from=side&to=master', 'contributors']) {
    const url = `/api/v3${below(project)}/${path}`
    const first = await app.as(project.owner).inject({ url })
    t.equal(first.statusCode, 200)
    const headers = { 'if-none-match': String(first.headers.etag) }
    const again = await app.as(project.owner).inject({ url, headers })
    t.equal(again.statusCode, 304, path)
    t.equal(again.body, '')
    t.equal((await app.as(project.owner).inject({ method: 'HEAD', url })).statusCode, 200)
  }
})
