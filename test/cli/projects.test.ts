// Tests the commands for projects, with the rules of the areas.
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { DEVELOPER, OWNER } from '../../src/lib/levels.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import { numbersTo } from '../helpers/numbers.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(['projects', ...args], { environment })
const audited = async (id: number) =>
  (
    await rows<{ action: string; via: string }>(
      "select action, via from audit_events where target_type = 'project' and target_id = ? order by id",
      [String(id)]
    )
  ).map(({ action, via }) => `${action} ${via}`)
const stored = (id: number) =>
  row<{ id: number; storage: string }>('select id, storage from projects where id = ?', [id]).then(found => {
    if (!found) throw new Error(`project ${id} is gone`)
    return repositoryPath(found)
  })

t.test('projects show', async t => {
  const project = await factory.project()
  await execute("update projects set import_state = 'failed', import_error = 'no answer' where id = ?", [project.id])
  const { code, json } = await run('show', project.path, '--json')
  t.equal(code, 0)
  t.match(json(), {
    id: project.id,
    path_with_namespace: project.path,
    visibility: 'private',
    archived: false,
    import_status: 'failed',
    import_error: 'no answer'
  })
  t.match((await run('show', String(project.id))).stdout, /^import_error: no answer$/m)
  const missing = await run('show', 'no/such', '--json')
  t.equal(missing.code, 3)
})

t.test('projects list: filters, orders, parts', async t => {
  const owner = await factory.user({ username: 'lister' })
  const [small, large, old] = [
    await factory.project({ owner, name: 'small', visibility_level: 20 }),
    await factory.project({ owner, name: 'large' }),
    await factory.project({ owner, name: 'old' })
  ]
  const measure = (id: number, bytes: number) =>
    execute(
      `insert into project_statistics (project_id, commit_count, repository_size, build_artifacts_size, updated_at)
       values (?, 7, ?, 0, now())`,
      [id, bytes]
    )
  await measure(small.id, 10)
  await measure(large.id, 5_000_000)
  await execute("update projects set archived = true, last_activity_at = '2020-01-01' where id = ?", [old.id])
  const list = async (...args: string[]) => {
    const { code, stderr, json } = await run('list', '--namespace', 'lister', '--json', ...args)
    t.equal(code, 0, stderr)
    const { projects, total } = json() as unknown as { projects: { path_with_namespace: string }[]; total: number }
    return [total, ...projects.map(({ path_with_namespace }) => path_with_namespace.slice('lister/'.length))]
  }
  t.same(await list(), [3, 'old', 'large', 'small'])
  t.same(await list('--limit', '1'), [3, 'old'])
  t.same(await list('--archived'), [1, 'old'])
  t.same(await list('--no-archived'), [2, 'large', 'small'])
  t.same(await list('--inactive', '365d'), [1, 'old'])
  t.same(await list('--visibility', 'public'), [1, 'small'])
  t.same(await list('--search', 'LARG'), [1, 'large'])
  for (const [order, found] of Object.entries({
    path: ['large', 'old', 'small'],
    size: ['large', 'small', 'old'],
    newest: ['old', 'large', 'small']
  })) {
    t.same(await list('--order', order), [3, ...found])
    t.same(await list('--order', order, '--all'), [3, ...found], 'the same order in parts and at once')
  }
  t.equal((await list('--order', 'activity', '--all')).at(-1), 'old')
  const text = await run('list', '--namespace', 'lister', '--order', 'size')
  t.match(text.stdout, /lister\/large +private +no +7 +4\.8 MiB +0 B/)
  t.match(text.stdout, /lister\/old +private +yes +- +- +- +2020-01-01T/)
  t.equal((await run('list', '--namespace', 'nobody-here')).code, 3)
  t.equal((await run('list', '--inactive', 'soon')).code, 2)
})

t.test('a list in parts contains each of many equal projects once', async t => {
  const owner = await factory.user({ username: 'many' })
  const { id } = await factory.project({ owner })
  await execute(
    `insert into projects (name, path, namespace_id, storage, runners_token_hash, runners_token_encrypted, tag_list,
       created_at, updated_at, last_activity_at)
     select concat('n', seq), concat('n', seq), p.namespace_id, p.storage, unhex(sha2(seq, 256)), '', '',
       p.created_at, p.updated_at, p.last_activity_at from ${numbersTo(1100)} join projects p on p.id = ?`,
    [id]
  )
  for (const order of ['newest', 'activity', 'size', 'path']) {
    const { json } = await run('list', '--namespace', 'many', '--all', '--json', '--order', order)
    const { projects, total } = json() as unknown as { projects: { id: number }[]; total: number }
    t.equal(total, 1101)
    t.equal(new Set(projects.map(project => project.id)).size, 1101, order)
  }
})

t.test('projects create: for a user, in a group, and refused calls', async t => {
  const ada = await factory.user({ username: 'ada', projects_limit: 1 })
  const made = await run('create', 'ada/engine', '--description', 'Calculates', '--visibility', 'internal', '--json')
  t.equal(made.code, 0, made.stderr)
  t.match(made.json(), { path_with_namespace: 'ada/engine', name: 'engine', visibility: 'internal' })
  const creator = await row('select creator_id, description from projects where id = ?', [Number(made.json().id)])
  t.match(creator, { creator_id: ada.id, description: 'Calculates' })
  t.match(await run('create', 'ada/second'), { code: 2, stderr: /project limit is 1/ })
  t.match(await run('create', 'ada/engine'), { code: 2 })
  t.match(await run('create', 'ghost/x'), { code: 3, stderr: /no namespace is called "ghost"/ })
  const group = await factory.group({ path: 'machines' })
  t.match(await run('create', 'machines/x'), { code: 4, stderr: /--creator/ })
  await factory.groupMember(group, OWNER, ada)
  t.match(await run('create', 'machines/x', '--name', 'An X'), { code: 0, stdout: /created project machines\/x/ })
  const other = await factory.user()
  t.match(await run('create', 'machines/y', '--creator', other.username), { code: 2, stderr: /namespace is not valid/ })
  t.match(await run('create', 'machines/y', '--visibility', 'public'), { code: 2 }, 'more visible than the group')
  t.match(await run('create', 'machines/y', '--import-url', 'file:///etc'), { code: 2 })
  const file = join(t.testdir({ url: 'https://u:secret@git.example.org/x.git\n' }), 'url')
  const imported = await run('create', 'machines/z', '--import-url-file', file, '--json')
  t.match(imported.json(), { import_status: 'scheduled' })
  t.notMatch(imported.stdout, /secret/)
  t.match(await run('create', 'machines/w', '--import-url-file', '/dev/null'), { code: 2 })
})

t.test('projects archive and unarchive, several at once', async t => {
  const [one, other] = [await factory.project(), await factory.project()]
  const both = await run('archive', one.path, 'no/such', String(other.id))
  t.match(both, { code: 3, stdout: `archived project ${one.path}\narchived project ${other.path}\n` })
  t.match(both.stderr, /no project is called "no\/such"/)
  t.match((await run('archive', one.path)).stdout, /is already archived/)
  t.match((await run('unarchive', one.path, '--json')).json(), { id: one.id, archived: false })
  t.same(
    (await audited(one.id)).filter(line => line.includes('archive')),
    ['project.archive command', 'project.unarchive command']
  )
})

t.test('projects transfer moves into a group, and the old path leads there', async t => {
  const project = await factory.project({ visibility_level: 20 })
  const group = await factory.group({ path: 'movers' })
  const moved = await run('transfer', project.path, 'movers', '--json')
  t.equal(moved.code, 0, moved.stderr)
  t.match(moved.json(), { id: project.id, path_with_namespace: /^movers\//, visibility: 'private' })
  t.match((await run('show', project.path, '--json')).json(), { id: project.id })
  t.match(await run('transfer', project.path, String(group.id)), { code: 4, stderr: /already/ })
  const name = project.path.split('/')[1] ?? ''
  const namesake = await factory.project({ name })
  t.match(await run('transfer', namesake.path, 'movers'), {
    code: 4,
    stderr: 'gitstead: in the group movers, the path has already been taken\n'
  })
  t.match(await run('transfer', project.path, 'ghosts'), { code: 3 })
  t.match(await run('transfer', project.path, project.owner.username), { code: 3 }, 'a user is not a group')
  t.ok((await audited(project.id)).includes('project.transfer command'))
})

t.test('projects delete reports what it deletes, asks first, and keeps an audit row', async t => {
  const [one, other] = [await factory.project(), await factory.project()]
  await factory.member(one, DEVELOPER)
  const dry = await run('delete', one.path, '--dry-run', '--json')
  t.equal(dry.code, 0, dry.stderr)
  t.match(dry.json(), { would_delete: { id: one.id }, commit_count: null, goes: { members: 2, builds: 0 }, forks: 0 })
  t.match((await run('delete', one.path, '--dry-run')).stdout, /^members: 2$/m)
  t.equal((await run('delete', one.path)).code, 2, 'it needs --yes')
  const done = await run('delete', one.path, 'no/such', other.path, '--yes', '--json')
  t.equal(done.code, 3)
  t.match(done.json(), {
    results: [{ result: { deleted: { id: one.id } } }, { ok: false }, { result: { deleted: { id: other.id } } }]
  })
  t.equal((await run('show', one.path)).code, 3)
  t.ok((await audited(one.id)).includes('project.delete command'))
  const job = await row("select id from jobs where name = 'project.remove' and payload like ?", [`%${one.id}%`])
  t.ok(job, 'a job removes the files')
})

t.test('projects fsck finds missing objects', async t => {
  const [good, bad, fresh] = [await factory.project(), await factory.project(), await factory.project()]
  for (const project of [good, bad]) await factory.file(project, 'a', 'hello')
  t.match((await run('fsck', good.path, '--contents', '--json')).json(), { state: 'intact', problems: [] })
  t.match((await run('fsck', fresh.path)).stdout, `${fresh.path}: empty\n`)
  rmSync(join(await stored(bad.id), 'objects'), { recursive: true })
  const both = await run('fsck', good.path, bad.path)
  t.equal(both.code, 1)
  t.match(both.stdout, new RegExp(`^${good.path}: intact\n${bad.path}: damaged\n {2}.`))
  const all = await run('fsck', '--all', '--json')
  t.equal(all.code, 1)
  t.match(all.json(), { damaged: [{ id: bad.id, state: 'damaged' }], failed: [] })
  t.equal((await run('fsck')).code, 2)
  t.equal((await run('fsck', '--all', good.path)).code, 2)
})

t.test('projects fsck --contents finds a byte that the disk has changed', async t => {
  const project = await factory.project()
  await factory.file(project, 'a', 'hello')
  const id = createHash('sha1').update('blob 5\0hello').digest('hex')
  const path = join(await stored(project.id), 'objects', id.slice(0, 2), id.slice(2))
  rmSync(path)
  writeFileSync(path, 'changed')
  t.equal((await run('fsck', project.path)).code, 0, 'a quick check does not read it')
  t.match(await run('fsck', project.path, '--contents'), { code: 1, stdout: /damaged/ })
})

t.test('projects gc packs the repository, but not while the task runs', async t => {
  const project = await factory.project()
  await factory.file(project, 'a', 'hello')
  const packed = await run('gc', project.path, '--json')
  t.equal(packed.code, 0, packed.stderr)
  t.match(packed.json(), { before: { packs: 0 }, after: { objects: 0, packs: 1 } })
  t.match((await run('show', project.path, '--json')).json(), { commit_count: 1 }, 'it counts the stored commits')
  await execute(
    "insert into maintenance_locks (task, holder, lease_until) values ('repository_upkeep', 'x#1#0#0', ?)",
    [new Date(Date.now() + 20_000)]
  )
  t.equal((await run('gc', project.path)).code, 6)
  await execute('delete from maintenance_locks')
  const all = await run('gc', '--all', '--json')
  t.equal(all.code, 1)
  t.ok(Number(all.json().packed) > 1000)
  t.match(all.json(), { failed: [{ project: String }] }, 'a damaged repository does not stop the others')
})
