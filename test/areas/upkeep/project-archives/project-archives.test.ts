// An archive restores a project with the same API responses, and a wrong archive changes nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nobody } from '../../../../src/access/actor.js'
import { findLinks } from '../../../../src/areas/projects/lfs/objects.js'
import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'
import { draftOf, removeDeadDrafts } from '../../../../src/areas/upkeep/project-archives/drafts.js'
import { exportProject } from '../../../../src/areas/upkeep/project-archives/export.js'
import { EXTRAS } from '../../../../src/areas/upkeep/project-archives/format.js'
import { type Imported, importProject } from '../../../../src/areas/upkeep/project-archives/import.js'
import { stayReserved } from '../../../../src/areas/upkeep/project-archives/staging.js'
import { config, publicUrl } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { cli } from '../../../helpers/cli.js'
import { testDatabase } from '../../../helpers/database.js'
import { connectTo, dropDatabase, makeDatabase } from '../../../helpers/database-server.js'
import { projectRow, someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { gitstead, program, startAppliance } from '../../../scenarios/appliance.js'
import { askApi } from '../../../scenarios/client.js'
import { answersOf } from './compare.js'
import { type Entries, LFS_OID, makeEverything, readEntries, SECRETS, writeEntries } from './make-archives.js'

const { signal } = new AbortController()

/** Lists of all projects of the owner, who is also the importing user. */
const LISTS = ['/projects', '/issues?scope=all', '/issues', '/snippets', '/todos', '/groups']
t.test('a project', async t => {
  const { home, databaseUrl } = await testDatabase()
  const app = await testApp(t)
  const { project, group, developer, stranger } = await makeEverything(app)
  const owner = app.as(project.owner)
  const folder = t.testdir()
  const good = join(folder, 'good.zip')
  const place = await app.make.group({ owner: project.owner })
  const source = await projectRow(project)
  const exported = await exportProject(source, { output: good, signal, extras: EXTRAS }, someOrigin)
  // A label of the group that the project does not use is not exported.
  await execute("delete from labels where title = 'unused'")
  const load = (file: string, path: string, namespace = place.path) =>
    importProject(file, { namespace, path, signal }, someOrigin)

  const here = ({ id, path }: { id: number; path: string }) => ({
    ask: async (below: string) => {
      const res = await owner.get(`/projects/${id}${below}`)
      const isJson = String(res.headers['content-type']).includes('json')
      return { status: res.statusCode, total: res.headers['x-total'] ?? null, body: isJson ? res.json() : res.body }
    },
    path,
    base: publicUrl()
  })
  let same: Imported

  t.test('an imported project has the same responses as the exported one', async t => {
    same = await load(good, 'same')
    const [before, after] = [
      await answersOf(here(project)),
      await answersOf(here({ id: same.id, path: `${place.path}/same` }))
    ]
    t.ok(Object.keys(before).length > 55, 'there are records of every kind')
    for (const [name, answer] of Object.entries(before)) t.same(after[name], answer, name || 'the project')
    t.same(Object.keys(after), Object.keys(before))
    t.same([same.missing_users, same.missing_members], [[], []])
    t.match(same.counts, { issue: 3, merge_request: 3, label: 3, snippet: 1, board: 1, commit_status: 1 })
    const uploads = join(home, 'uploads', String(project.id))
    const upload = readdirSync(uploads).find(secret => existsSync(join(uploads, secret, 'notes.txt')))
    const file = await owner.inject({ url: `/${place.path}/same/uploads/${upload}/notes.txt` })
    t.equal(file.body, 'hello', 'links to uploads work')
    t.same(await findLinks(same.id, [LFS_OID]), new Map([[LFS_OID, 12]]))
    const next = await owner.post(`/projects/${same.id}/issues`, { title: 'Next' })
    t.equal(next.json().iid, 4, 'the numbers continue')
    t.same(await rows('select * from project_removals'), [])
    t.same(exported.counts, same.counts)
  })

  t.test('an import on another home has the same responses', async t => {
    const url = new URL(databaseUrl)
    url.pathname = `${url.pathname}_other`
    const name = url.pathname.slice(1)
    await makeDatabase(url, name, process.env.GITSTEAD_TEST_SCHEMA)
    t.teardown(() => dropDatabase(url, name))
    const database = url.href
    const otherHome = t.testdir()
    const appliance = await startAppliance({ home: otherHome, environment: { GITSTEAD_DATABASE_URL: database } })
    const run = (args: readonly string[], input = '') =>
      gitstead(args, { input, environment: { GITSTEAD_DATABASE_URL: database, GITSTEAD_HOME: otherHome } })
    const admin = ['--username', 'root', '--email', 'root@example.org', '--name', 'Root', '--admin', '--password-stdin']
    const made = await run(['users', 'create', ...admin, '--json'], 'password of root\n')
    const asRoot = { url: appliance.url, token: JSON.parse(made.stdout).private_token }
    const as = new Map<string, { url: string; token: string }>()
    for (const { username, name, email, password } of [project.owner, developer, stranger]) {
      await askApi(asRoot, 'POST', '/users', { username, name, email, password })
      const session = await askApi<{ private_token: string }>(asRoot, 'POST', '/session', { login: username, password })
      as.set(username, { url: appliance.url, token: session.json.private_token })
    }
    const other = as.get(project.owner.username) ?? asRoot
    await askApi(other, 'POST', '/groups', { name: 'machines', path: 'machines' })
    const imported = await run(['projects', 'import', good, '--namespace', 'machines', '--json'])
    t.equal(imported.code, 0, imported.stderr)
    const { id, path_with_namespace: path } = JSON.parse(imported.stdout)
    const ask = async (below: string) => {
      const { status, headers, json, bytes } = await askApi<unknown>(other, 'GET', `/projects/${id}${below}`)
      return { status, total: headers.get('x-total'), body: json ?? bytes.toString() }
    }
    const [before, after] = [await answersOf(here(project)), await answersOf({ ask, path, base: appliance.url })]
    for (const [name, answer] of Object.entries(before)) t.same(after[name], answer, name || 'the project')
    t.same(Object.keys(after), Object.keys(before))
    t.equal(await appliance.stop(), 0)
  })

  t.test('the audit log records the import with its source, and the export', async t => {
    const entry = await row<{ changes: string }>(
      "select changes from audit_events where action = 'project.create' and target_id = ?",
      [String(same.id)]
    )
    t.match(JSON.parse(entry?.changes ?? '{}'), {
      imported_from: { after: project.path },
      archive: { after: /^\w{64}$/ }
    })
    t.ok(
      await row("select 1 from audit_events where action = 'project.export' and target_id = ?", [String(project.id)])
    )
  })

  t.test('an export of an import is the same archive', async t => {
    const again = await load(good, 'again')
    const file = join(folder, 'again.zip')
    const found = (await findProject(again.id, nobody)) ?? source
    await exportProject(found, { output: file, signal, extras: EXTRAS }, someOrigin)
    const [one, two] = [await readEntries(good), await readEntries(file)]
    const lines = (entries: Entries) => entries.get('records.jsonl')?.toString().split('\n').slice(1)
    t.same(lines(two), lines(one))
    const names = (entries: Entries) => [...entries.keys()]
    t.match(names(one), ['manifest.json', 'records.jsonl', 'refs.jsonl', 'repository.pack', /^uploads/, /^uploads/])
    t.same(names(one).slice(6), ['traces/1.log', 'artifacts/2.zip', `lfs/${LFS_OID}`, 'SHA256SUMS'])
    t.same(names(two), names(one))
    for (const name of names(one).slice(4, -1)) t.same(two.get(name), one.get(name), name)
    t.same(two.get('refs.jsonl')?.toString(), one.get('refs.jsonl')?.toString())
    await t.rejects(exportProject(found, { output: file, signal }, someOrigin), { message: /already exists/ })
    t.same(
      readdirSync(folder).filter(name => name.includes('unfinished')),
      []
    )
  })

  t.test('an archive has secrets and files of builds only on request', async t => {
    const file = join(folder, 'plain.zip')
    const { counts, traces, artifacts } = await exportProject(source, { output: file, signal }, someOrigin)
    t.match({ ...counts, traces, artifacts }, { variable: 0, hook: 1, pipeline_schedule: 1, traces: 0, artifacts: 0 })
    const text = Buffer.concat([...(await readEntries(file)).values()]).toString('latin1')
    const whole = Buffer.concat([...(await readEntries(good)).values()]).toString('latin1')
    for (const secret of SECRETS) {
      t.notOk(text.includes(secret), secret)
      t.ok(whole.includes(secret), secret)
    }
  })

  t.test('hooks and schedules of an import are disabled, and the avatar is shown', async t => {
    const { id } = await load(good, 'quiet')
    const [hook] = (await owner.get(`/projects/${id}/hooks`)).json()
    t.match(hook, {
      url: 'https://user:redacted@hooks.example.org/in?key=key-of-hook',
      issues_events: true,
      enabled: false
    })
    t.match(await rows('select active, next_run_at from pipeline_schedules where project_id = ?', [id]), [
      { active: 0, next_run_at: null }
    ])
    const deliveries = () => rows('select event from hook_deliveries where hook_id = ?', [hook.id])
    const report = async () => {
      await owner.post(`/projects/${id}/issues`, { title: 'x' })
      await app.runJobs()
    }
    await report()
    t.same(await deliveries(), [])
    const enabled = await owner.put(`/projects/${id}/hooks/${hook.id}`, { url: hook.url, enabled: true })
    t.notOk('enabled' in enabled.json())
    await report()
    t.same(await deliveries(), [{ event: 'issue' }])
    const { avatar_url: url } = (await owner.get(`/projects/${id}`)).json()
    t.match(url, new RegExp(`^${publicUrl()}/${place.path}/quiet/uploads/\\w{32}/logo.png$`))
    t.equal((await owner.inject({ url: new URL(url).pathname })).body, 'png')
  })

  t.test('an archive of format 1 is imported', async t => {
    const entries = await readEntries(good)
    const added = ['avatar', 'number', 'environment', 'environment_url', 'trace', 'artifacts']
    const kinds = ['hook', 'variable', 'pipeline_schedule', 'environment', 'deployment']
    const lines = (entries.get('records.jsonl')?.toString() ?? '').trimEnd().split('\n')
    const former = lines
      .map(line => JSON.parse(line))
      .filter(({ kind }) => !kinds.includes(kind))
      .map(record => (['project', 'build'].includes(record.kind) ? without(record, added) : record))
    const manifest = JSON.parse(entries.get('manifest.json')?.toString() ?? '')
    const old = {
      ...without(manifest, ['traces', 'artifacts', 'lfs']),
      format: 1,
      counts: without(manifest.counts, kinds)
    }
    entries.set('manifest.json', Buffer.from(JSON.stringify(old)))
    entries.set('records.jsonl', Buffer.from(former.map(record => `${JSON.stringify(record)}\n`).join('')))
    for (const name of ['traces/1.log', 'artifacts/2.zip', `lfs/${LFS_OID}`]) entries.delete(name)
    const file = join(folder, 'former.zip')
    await writeEntries(file, entries)
    const { id, counts } = await load(file, 'former')
    t.match(counts, { issue: 3, build: 3, hook: 0 })
    t.equal((await owner.get(`/projects/${id}`)).json().avatar_url, null)
    t.equal((await owner.get(`/projects/${id}/builds`)).json().length, 3)
  })

  t.test('texts of missing people belong to the importing user', async t => {
    await execute("update users set username = 'somebody-else' where id = ?", [stranger.id])
    const found = await load(good, 'missing')
    t.same([found.missing_users, found.missing_members], [[stranger.username], [stranger.username]])
    const [second] = (await owner.get(`/projects/${found.id}/issues?iid=2`)).json()
    t.equal(second.author.username, project.owner.username)
    t.match(second.description, `by a stranger\n\n*Imported: written by ${stranger.username}, who`)
    const [first] = (await owner.get(`/projects/${found.id}/issues?iid=1`)).json()
    t.equal(first.assignee.username, developer.username)
    const awards = (await owner.get(`/projects/${found.id}/issues/${first.id}/award_emoji`)).json()
    t.same(
      awards.map(({ name }: { name: string }) => name),
      ['thumbsup']
    )
    await execute('update users set username = ? where id = ?', [stranger.username, stranger.id])
  })

  t.test('running builds are canceled', async t => {
    const file = join(folder, 'running.zip')
    const entries = await readEntries(good)
    const records = entries.get('records.jsonl')?.toString() ?? ''
    entries.set('records.jsonl', Buffer.from(records.replaceAll('"status":"failed"', '"status":"running"')))
    await writeEntries(file, entries)
    const { id } = await load(file, 'running')
    const builds = (await owner.get(`/projects/${id}/builds`)).json()
    t.same(builds.map(({ status }: { status: string }) => status).sort(), ['canceled', 'success', 'success'])
    const canceled = builds.find(({ status }: { status: string }) => status === 'canceled')
    const again = await owner.post(`/projects/${id}/builds/${canceled.id}/retry`)
    t.equal(again.statusCode, 201, 'they can be retried')
    t.match(await row('select plan from builds where id = ?', [again.json().id]), {
      plan: /imported without its script/
    })
  })

  t.test('two imports at once', async t => {
    const both = await Promise.allSettled([load(good, 'twin'), load(good, 'twin'), load(good, 'apart')])
    t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'fulfilled', 'rejected'])
    const refused = both.find(each => each.status === 'rejected')
    t.match(refused?.reason, { errors: { path: ['has already been taken'] } })
    t.same(await rows('select * from project_removals'), [])
    await t.rejects(load(good, 'twin'), {
      message: `${place.path}/twin already exists: choose another path with --path`
    })
  })

  t.test('the remains of a killed import are invisible, and are removed', async t => {
    await app.runJobs()
    const before = await counts()
    const seen = () => Promise.all(LISTS.map(async path => (await owner.get(path)).headers['x-total']))
    const listed = await seen()
    // All transactions except the last, which writes the audit log.
    const args = ['projects', 'import', good, '--namespace', place.path, '--path', 'half']
    const id = await killed(args, 'audit_events', async () => {
      const found = await row<{ id: number }>('select project_id as id from project_removals')
      return found && existsSync(join(home, 'uploads', String(found.id))) ? found.id : undefined
    })
    t.not((await counts()).issues, before.issues, 'rows exist')
    t.same(await seen(), listed, 'no list has them')
    t.equal((await owner.get(`/projects/${id}`)).statusCode, 404)
    t.equal((await owner.get(`/projects/${id}/issues`)).statusCode, 404)
    await execute('update project_removals set created_at = ?', [new Date(Date.now() - 7_200_000)])
    await t.rejects(stayReserved(id), { message: /stood still for too long/ })
    const done = await cli(['maintenance', 'run', 'unfinished_removals', '--json'], { environment: environment(home) })
    t.equal(done.code, 0)
    await execute("delete from jobs where name = 'repository.optimise'")
    await app.runJobs()
    t.same(await counts(), before)
    const second = await load(good, 'half')
    const [{ '': _first, ...first }, { '': _own, ...again }] = [
      await answersOf(here(project)),
      await answersOf(here({ id: second.id, path: `${place.path}/half` }))
    ]
    t.same(again, first, 'a second import is complete')
  })

  t.test('a killed export leaves no archive, and the next export writes it', async t => {
    const output = join(folder, 'killed.zip')
    const args = ['projects', 'export', project.path, '--output', output]
    const left = () => readdirSync(folder).filter(name => name.startsWith('killed.zip'))
    // The counts are written, but the issues are not.
    await killed(args, 'timelogs', async () => left()[0])
    t.match(left(), [/^killed\.zip\.unfinished-\w+-\d+-\d+$/])
    // A draft of a living process, and a recent one of another machine.
    const others = [
      basename(draftOf(join(folder, 'killed.zip.alive'))),
      `killed.zip.far.unfinished-${'0'.repeat(12)}-1-1`
    ]
    for (const name of others) writeFileSync(join(folder, name), '')
    await exportProject(source, { output, signal, extras: EXTRAS }, someOrigin)
    t.same(left().sort(), ['killed.zip', ...others].sort(), 'the draft of the dead process is deleted')
    const longAgo = new Date(Date.now() - 90_000_000)
    for (const name of others) utimesSync(join(folder, name), longAgo, longAgo)
    await removeDeadDrafts(output)
    t.same(left().sort(), ['killed.zip', others[0]].sort())
    const lines = async (file: string) => (await readEntries(file)).get('records.jsonl')?.toString().split('\n').length
    t.equal(await lines(output), await lines(good))
    for (const name of left()) rmSync(join(folder, name))
  })

  /** Starts a command, blocks it when it reaches a table, and kills it there as soon as `reached` returns a value. */
  async function killed<T>(args: readonly string[], table: string, reached: () => Promise<T | undefined>): Promise<T> {
    const url = new URL(databaseUrl)
    const connection = await connectTo(url)
    await connection.query(`lock tables ${url.pathname.slice(1)}.${table} write`)
    const command = ['-u', 'NODE_OPTIONS', process.execPath, program, ...args]
    const child = spawn('env', command, { env: { ...process.env, ...environment(home) }, stdio: 'ignore' })
    const ended = once(child, 'exit')
    let found = await reached()
    for (let tries = 0; found === undefined && child.exitCode === null && tries < 2000; tries++) {
      await sleep(20)
      found = await reached()
    }
    child.kill('SIGKILL')
    t.same(await ended, [null, 'SIGKILL'])
    await connection.end()
    if (found === undefined) throw new Error('the command did not reach the table')
    return found
  }

  t.test('wrong archives change nothing', async t => {
    const before = await counts()
    const repositories = repositoryCount()
    const text = (entries: Entries, name: string, change: (text: string) => string) =>
      entries.set(name, Buffer.from(change(entries.get(name)?.toString() ?? '')))
    const records = (entries: Entries, change: (text: string) => string) => text(entries, 'records.jsonl', change)
    const manifest = (entries: Entries, change: object) =>
      text(entries, 'manifest.json', old => JSON.stringify({ ...JSON.parse(old), ...change }))
    const refs = (entries: Entries, line: object) => {
      text(entries, 'refs.jsonl', old => `${old}${JSON.stringify(line)}\n`)
      manifest(entries, { refs: exported.refs + 1 })
    }
    const some = 'a'.repeat(40)
    const cases: readonly (readonly [name: string, change: (entries: Entries) => unknown, refusal: RegExp])[] = [
      ['a newer format', entries => manifest(entries, { format: 3 }), /has format 3, .* up to 2: update Gitstead/],
      ['no format', entries => manifest(entries, { format: '1' }), /names no format/],
      ['a manifest of another kind', entries => text(entries, 'manifest.json', () => '[1]'), /names no format/],
      ['a manifest that is not JSON', entries => text(entries, 'manifest.json', () => '{'), /is not JSON/],
      [
        'a billion records',
        entries => manifest(entries, { counts: { ...exported.counts, note: 1e9 } }),
        /more than 100000000 of note/
      ],
      [
        'fewer records than lines',
        entries => manifest(entries, { counts: { ...exported.counts, issue: 1 } }),
        /kind issue differs/
      ],
      [
        'more records than lines',
        entries => manifest(entries, { counts: { ...exported.counts, note: 99 } }),
        /kind note differs/
      ],
      [
        'a negative number',
        entries => manifest(entries, { counts: { ...exported.counts, note: -1 } }),
        /number of note is invalid/
      ],
      ['no records', entries => entries.delete('records.jsonl'), /records.jsonl is missing/],
      ['no checksums', entries => entries.delete('SHA256SUMS'), /SHA256SUMS is missing/],
      ['another file', entries => entries.set('x.txt', Buffer.from('x')), /"x.txt" does not belong/],
      ['an absolute path', entries => entries.set('uploads/etc/passwd', Buffer.from('x')), /does not belong/],
      ['a hidden upload', entries => entries.set(`uploads/${'a'.repeat(32)}/.x`, Buffer.from('x')), /does not belong/],
      [
        'one upload too many',
        entries => entries.set(`uploads/${'a'.repeat(32)}/x`, Buffer.from('x')),
        /wrong place|number of uploads/
      ],
      [
        'a record of an unknown kind',
        entries => records(entries, old => old.replace('"kind":"label"', '"kind":"hooks"')),
        /not a record of a known kind/
      ],
      [
        'a record that is a list',
        entries => records(entries, old => old.replace(/\n.*\n/, '\n[]\n')),
        /line 2 .*not a record/
      ],
      [
        'a line that is not JSON',
        entries => records(entries, old => old.replace(/\n.*\n/, '\n{\n')),
        /line 2 of records.jsonl is not JSON/
      ],
      ['half a line', entries => records(entries, old => old.slice(0, -5)), /ends within a line/],
      [
        'an endless line',
        entries => entries.set('records.jsonl', Buffer.alloc(17 * 1024 * 1024, 97)),
        /more than 16777216 bytes/
      ],
      [
        'a text in place of a number',
        entries => records(entries, old => old.replace('"iid":2', '"iid":"2"')),
        /issue\/iid must be integer/
      ],
      [
        'another attribute',
        entries => records(entries, old => old.replace('"iid":2', '"iid":2,"admin":true')),
        /additional properties/
      ],
      [
        'a duplicate number',
        entries => records(entries, old => old.replace('"iid":2,"title":"Second"', '"iid":1,"title":"Second"')),
        /cannot be stored/
      ],
      [
        'an invalid day',
        entries => records(entries, old => old.replace('2027-02-01', '2027-02-31')),
        /due_date must match format/
      ],
      [
        'a missing label',
        entries => records(entries, old => old.replace('"labels":["bug"', '"labels":["gub"')),
        /label "gub" is used/
      ],
      [
        'a note about a missing target',
        entries =>
          records(entries, old => old.replace('"on":{"type":"Issue","number":1', '"on":{"type":"Issue","number":9')),
        /names Issue 9/
      ],
      [
        'an owner as a member',
        entries => records(entries, old => old.replace('"access_level":30', '"access_level":50')),
        /access_level/
      ],
      [
        'no project as the first record',
        entries =>
          records(entries, old =>
            old
              .split('\n')
              .toSpliced(0, 2, old.split('\n')[1] ?? '', old.split('\n')[0] ?? '')
              .join('\n')
          ),
        /begin with a project|too late/
      ],
      [
        'builds before their pipeline',
        entries => records(entries, old => old.replace('"kind":"build","pipeline":1', '"kind":"build","pipeline":7')),
        /pipeline 7 does not come before/
      ],
      [
        'a fork with the id of a real project',
        entries => records(entries, old => old.replace('"fork":1', `"fork":${2_147_483_647 - project.id}`)),
        /merge_request\/fork must be <= 1000000/
      ],
      ['a hidden ref', entries => refs(entries, { ref: 'refs/internal/x', id: some }), /not a branch or tag/],
      [
        'a ref whose path leads outside',
        entries => refs(entries, { ref: 'refs/heads/../../config', id: some }),
        /not a branch or tag/
      ],
      ['a ref like an id', entries => refs(entries, { ref: `refs/heads/${some}`, id: some }), /not a branch or tag/],
      ['a ref to nothing', entries => refs(entries, { ref: 'refs/heads/x', id: some }), /git rejects the repository/],
      [
        'a forged pack',
        entries =>
          entries.set(
            'repository.pack',
            Buffer.concat([(entries.get('repository.pack') ?? Buffer.alloc(0)).subarray(0, -30), Buffer.alloc(30)])
          ),
        /git rejects the repository/
      ],
      [
        'a truncated pack',
        entries => entries.set('repository.pack', (entries.get('repository.pack') ?? Buffer.alloc(0)).subarray(0, 300)),
        /git rejects the repository/
      ],
      [
        'an avatar that is no upload',
        entries => records(entries, old => old.replace(/"avatar":"\w+/, `"avatar":"${'a'.repeat(32)}`)),
        /the avatar a+\/logo.png is not in the archive/
      ],
      [
        'an avatar outside of the uploads',
        entries => records(entries, old => old.replace(/"avatar":"[^"]+/, '"avatar":"../config.png')),
        /avatar must match format/
      ],
      [
        'an environment with a script as its address',
        entries => records(entries, old => old.replace('https://staging.example.org/', 'javascript:alert(1)')),
        /external_url must match format/
      ],
      [
        'a missing environment',
        entries => records(entries, old => old.replace('"environment":"staging"', '"environment":"other"')),
        /environment "other" is used/
      ],
      [
        'a deployment of a missing build',
        entries => records(entries, old => old.replace('"build":3', '"build":9')),
        /the build 9, which has no environment/
      ],
      [
        'a hook that calls no server',
        entries => records(entries, old => old.replace('"url":"https://user', '"url":"file://user')),
        /hook\/url must match format/
      ],
      [
        'a variable with a name for a shell',
        entries => records(entries, old => old.replace('"key":"PLAIN"', '"key":"A B"')),
        /variable\/key must match pattern/
      ],
      [
        'a schedule with too many variables',
        entries =>
          records(entries, old => old.replace('"value":"value-of-schedule"', `"value":"${'x'.repeat(65_536)}"`)),
        /a schedule: variables can have at most/
      ],
      [
        'a trace of another build',
        entries => {
          const after = [...entries].map(
            ([name, content]) => [name.replace('traces/1.', 'traces/2.'), content] as const
          )
          entries.clear()
          for (const [name, content] of after) entries.set(name, content)
        },
        /traces\/2.log is of no build/
      ],
      [
        'a trace without a build',
        entries => records(entries, old => old.replace('"trace":true', '"trace":false')),
        /traces\/ has not as many files/
      ],
      [
        'artifacts with a path',
        entries => entries.set('artifacts/x/2.zip', Buffer.from('x')),
        /"artifacts\/x\/2.zip" does not belong/
      ],
      [
        'an LFS file with another content',
        entries => entries.set(`lfs/${LFS_OID}`, Buffer.from('A large file')),
        /has another SHA-256/
      ],
      [
        'an LFS file without a hash',
        entries => entries.set('lfs/passwd', Buffer.from('x')),
        /"lfs\/passwd" does not belong/
      ],
      [
        'more artifacts than there may be',
        entries => manifest(entries, { artifacts: 100_001 }),
        /more than 100000 of artifacts/
      ],
      ['no pack', entries => entries.delete('repository.pack'), /refs without a pack/]
    ]
    const right = await readEntries(good)
    for (const [name, change, refusal] of cases) {
      const entries = new Map(right)
      change(entries)
      const file = join(folder, 'wrong.zip')
      await writeEntries(file, entries)
      await t.rejects(load(file, 'wrong'), { message: refusal }, name)
    }
    const bytes = readFileSync(good)
    const file = join(folder, 'raw.zip')
    writeFileSync(file, bytes)
    truncateSync(file, bytes.length - 100)
    await t.rejects(load(file, 'wrong'), { message: /cut or damaged/ }, 'a truncated file')
    const changed = Buffer.from(bytes)
    const at = changed.indexOf('PACK') + 200
    changed[at] = (changed[at] ?? 0) ^ 1
    writeFileSync(file, changed)
    await t.rejects(load(file, 'wrong'), { message: /git rejects|has changed|cut or damaged/ }, 'a changed byte')
    const outside = await readEntries(good)
    outside.set('uploads/aa/bb/x', Buffer.from('x'))
    await writeEntries(file, outside)
    const bad = readFileSync(file, 'latin1').replaceAll('uploads/aa/bb/x', 'uploads/../../x')
    writeFileSync(file, bad, 'latin1')
    await t.rejects(load(file, 'wrong'), { message: /invalid relative path/ }, 'a path outside of the archive')
    const link = await readEntries(good)
    await writeEntries(file, link, 0o120777)
    await t.rejects(load(file, 'wrong'), { message: /"refs.jsonl" is not a file/ }, 'a link')
    await t.rejects(load(join(folder, 'none.zip'), 'wrong'), { message: /no file is called/ })
    await t.rejects(load(good, '../x'), { message: /no namespace is called|path/ })
    await t.rejects(load(good, 'x', 'nowhere'), { message: 'no namespace is called "nowhere"' })
    t.same(await counts(), before)
    t.equal(repositoryCount(), repositories)
  })

  t.test('the commands', async t => {
    const options = { environment: environment(home) }
    const output = join(folder, 'command.zip')
    const done = await cli(['projects', 'export', project.path, '--output', output, '--json'], options)
    t.match(done.json(), { project: project.path, path: output, counts: { issue: 3 } })
    const back = await cli(['projects', 'import', output, '--namespace', place.path, '--path', 'command'], options)
    t.equal(back.code, 0, back.stderr)
    t.match(back.stdout, `imported ${place.path}/command (id `)
    t.equal(
      (await cli(['projects', 'import', output, '--namespace', place.path, '--path', 'command'], options)).code,
      4
    )
    t.equal((await cli(['projects', 'export', 'no/where'], options)).code, 3)
  })

  async function counts(): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {}
    for (const { name } of await rows<{ name: string }>(
      `select distinct table_name as name from information_schema.columns where table_schema = database()
       and table_name in ('projects', 'project_removals', 'issues', 'notes', 'labels', 'label_links', 'members', 'award_emoji',
         'merge_requests', 'merge_request_versions', 'pipelines', 'builds', 'snippets', 'boards', 'board_lists', 'counters',
         'lfs_links', 'hooks', 'variables', 'pipeline_schedules', 'environments', 'deployments', 'participants', 'subscriptions', 'timelogs', 'releases', 'protected_branches', 'milestones', 'issue_counts')`
    ))
      found[name] = (await row<{ total: number }>(`select count(*) as total from ${name}`))?.total
    const files = (kind: string) =>
      readdirSync(join(home, kind), { recursive: true, encoding: 'utf8' })
        // A kill in the middle of a file leaves its draft, which another task removes.
        .filter(name => name.includes('-') && !name.startsWith('.drafts')).length
    const [traces, artifacts] = [files('traces'), files('artifacts')]
    return { ...found, traces, artifacts, uploads: readdirSync(join(home, 'uploads')).length }
  }

  function repositoryCount(): number {
    const root = join(config().home, 'repositories')
    return existsSync(root)
      ? readdirSync(root, { recursive: true }).filter(name => /\.git[^/]*$/.test(String(name))).length
      : 0
  }

  t.ok(group.id)
})

const without = (record: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))

const environment = (home: string) => ({
  GITSTEAD_HOME: home,
  GITSTEAD_DATABASE_URL: process.env.GITSTEAD_DATABASE_URL ?? config().database.url ?? ''
})
