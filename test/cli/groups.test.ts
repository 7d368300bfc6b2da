// Tests the commands for groups and members, as scripts use them: with --json, exit codes and dry runs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { row, rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(args, { environment })
const given = (input: string, ...args: string[]) => cli(args, { environment, input })
const json = async (...args: string[]) => (await run(...args, '--json')).json()
const audited = async (action: string) =>
  rows<{ via: string; target_name: string }>('select via, target_name from audit_events where action = ? order by id', [
    action
  ])

const ada = await factory.user({ username: 'ada' })
const bert = await factory.user({ username: 'bert', can_create_group: false })
const eve = await factory.user({ username: 'eve' })

t.test('groups create, list, show and update', async t => {
  const made = await run('groups', 'create', 'team', '--owner', 'bert', '--visibility', 'public', '--request-access')
  t.match(
    made,
    { code: 0, stdout: /^created group team \(id \d+\), owner bert\n$/ },
    'even if bert may not create groups'
  )
  t.match(await json('groups', 'show', 'team'), {
    path: 'team',
    name: 'team',
    visibility: 'public',
    request_access_enabled: true,
    share_with_group_lock: false,
    projects: 0,
    members: 1
  })
  t.match(await audited('group.create'), [{ via: 'command', target_name: 'team' }])
  t.match(await json('groups', 'create', 'team', '--owner', 'ada'), {
    error: { code: 'conflict', message: 'path has already been taken' }
  })
  t.match(await run('groups', 'create', 'team', '--owner', 'ada'), {
    code: 4,
    stderr: 'gitstead: path has already been taken\n'
  })
  t.match(await run('groups', 'create', 'other', '--owner', 'ghost'), { code: 3, stderr: /no user is called "ghost"/ })
  const renamed = await run('groups', 'update', 'team', '--path', 'crew', '--visibility', 'private', '--share-lock')
  t.match(renamed, {
    code: 0,
    stdout: /^changed path, visibility_level, share_with_group_lock of group crew \(id \d+\)\n/
  })
  t.match(await json('groups', 'show', 'team'), { path: 'crew', visibility: 'private', share_with_group_lock: true })
  t.match(await run('groups', 'update', 'crew'), { code: 2, stderr: /at least one attribute/ })
  t.match(await run('groups', 'update', 'crew', '--path', 'a b'), { code: 2, stderr: /path/ })
  t.match(await json('groups', 'list', '--search', 'cre'), { groups: [{ path: 'crew' }], total: 1 })
  t.match((await run('groups', 'list')).stdout, /^ID .*\n\d+ +crew +team +private +0 +1 +0 B /)
  t.match((await run('groups', 'list', '--all', '--json')).json(), { groups: [{ path: 'crew' }], total: 1 })
})

t.test('groups delete reports what it deletes, and deletes the projects too', async t => {
  const group = await factory.group({ path: 'doomed', owner: ada })
  const project = await factory.project({ owner: ada, group })
  const kept = await factory.project({ owner: eve })
  await factory.share(kept, group, 30)
  await factory.member(project, 30, eve)
  t.match(await run('groups', 'delete', 'doomed'), { code: 2, stderr: /add --yes/ })
  t.match(await json('groups', 'delete', 'doomed', '--dry-run'), {
    would_delete: { path: 'doomed', projects: 1 },
    projects: [project.path],
    members: 2,
    access_requests: 0,
    builds: 0,
    unshared_projects: 1
  })
  t.match((await run('groups', 'delete', 'doomed', '--dry-run')).stdout, /projects: 1\n {2}doomed\/.*\nmembers: 2\n/)
  t.match(await run('groups', 'delete', 'doomed', 'ghost', '--yes'), {
    code: 3,
    stdout: `deleted group doomed (id ${group.id}) with 1 project\n`,
    stderr: /ghost: no group is called "ghost"/
  })
  t.same(await rows('select id from projects where id in (?, ?)', [project.id, kept.id]), [{ id: kept.id }])
  t.match(await audited('group.delete'), [{ via: 'command', target_name: 'doomed' }])
  t.equal((await run('groups', 'show', 'doomed')).code, 3)
})

t.test('members add, list, set and remove, in a project and in a group', async t => {
  const project = await factory.project({ owner: ada })
  const group = await factory.group({ path: 'people', owner: ada })
  for (const [of, name, path] of [
    [project.path, `project ${project.path}`, project.path],
    ['people', 'group people', 'people']
  ] as const) {
    const added = await run('members', 'add', of, 'bert', 'eve', '--level', 'reporter', '--expires', '2999-01-31')
    t.equal(added.stderr, '', of)
    t.equal(
      added.stdout,
      `added bert to ${name} (Reporter, until 2999-01-31)\nadded eve to ${name} (Reporter, until 2999-01-31)\n`
    )
    t.match(await run('members', 'add', of, 'bert', '--level', 'guest'), { code: 4, stderr: /already a member of / })
    t.match(await json('members', 'list', of, '--search', 'bert'), {
      members: [{ username: 'bert', access_level: 20, expires_at: '2999-01-31' }],
      total: 1
    })
    t.match(await json('members', 'set', of, 'bert', '--level', 'developer'), {
      access_level: 30,
      expires_at: '2999-01-31'
    })
    t.match(await json('members', 'set', of, 'bert', '--expires', 'never'), { access_level: 30, expires_at: null })
    t.match(await run('members', 'set', of, 'bert'), { code: 2, stderr: /--level or --expires/ })
    t.match(await run('members', 'set', of, 'bert', '--expires', 'soon'), { code: 2, stderr: /it is "soon"/ })
    t.match(await json('members', 'remove', of, 'bert', '--dry-run'), { would_remove: { username: 'bert' } })
    t.match(await run('members', 'remove', of, 'bert', 'eve', '--yes'), {
      code: 0,
      stdout: `removed bert (Developer) from ${name}\nremoved eve (Reporter, until 2999-01-31) from ${name}\n`
    })
    t.match(await run('members', 'remove', of, 'bert', '--yes'), { code: 3, stderr: /no member of/ })
    t.match(await run('members', 'remove', of, 'ada', '--yes'), { code: 4, stderr: /owner/ })
    t.match((await run('members', 'list', of, '--all')).stdout, /^ID .*\n\d+ +ada .*\n$/)
    const shown = await json('audit', 'list', '--action', 'member.remove', '--limit', '1')
    t.match(shown, { audit_events: [{ target_name: path, via: 'command' }] })
  }
  t.match(await json('members', 'list', String(group.id)), { members: [{ username: 'ada' }], total: 1 })
  t.match(await run('members', 'add', project.path, 'eve', '--level', 'owner'), { code: 2, stderr: /not known/ })
  t.match(await run('members', 'add', 'no/such', 'eve', '--level', 'guest'), {
    code: 3,
    stderr: /no project is called/
  })
  t.match(await run('members', 'add', 'people', 'eve', '--level', 'boss'), { code: 2 })
})

t.test('members import imports valid rows and reports invalid ones', async t => {
  const project = await factory.project({ owner: ada })
  const group = await factory.group({ path: 'imported', owner: ada })
  await factory.groupMember(group, 20, bert)
  const file = join(t.testdir(), 'members.csv')
  const text = [
    'path,user,level,expires_at',
    `${project.path},bert,developer,2999-01-31`,
    'imported,eve,30,',
    'imported,bert,master,',
    'imported,ada,owner,',
    `${project.path},eve,owner,`,
    'imported,ghost,guest,',
    'no/such,eve,guest,',
    'imported,eve,guest,',
    `${project.path},eve,chief,`,
    `${project.path},eve,guest,1999-01-01`,
    `${project.path},eve`,
    ''
  ].join('\n')
  writeFileSync(file, text)
  const refused = [
    { line: 6, attribute: 'level', error: 'Access level is not known' },
    { line: 7, user: 'ghost', attribute: 'user', error: 'no user is called "ghost"' },
    { line: 8, path: 'no/such', attribute: 'path', error: 'no project is called "no/such"' },
    { line: 9, attribute: 'user', error: 'is already on line 3' },
    { line: 10, attribute: 'level', error: /^is not one of guest, reporter, / },
    { line: 11, attribute: 'expires_at', error: /future/ },
    { line: 12, attribute: null, error: /2 values instead of 4/ }
  ]
  const other = { line: 4, user: 'bert', attribute: 'user', error: /--update/ }
  const sorted = (found: Record<string, unknown>) => ({
    ...found,
    refused: (found.refused as { line: number }[]).sort((one, two) => one.line - two.line)
  })
  const members = async () =>
    (await row<{ total: number }>('select count(*) as total from members where user_id in (?, ?)', [bert.id, eve.id]))
      ?.total
  const before = await members()
  const tried = await run('members', 'import', file, '--dry-run', '--json')
  t.equal(tried.code, 1)
  t.match(sorted(tried.json()), { would_add: 2, would_change: 0, unchanged: 1, refused: [other, ...refused] })
  t.equal(await members(), before, 'a dry run changes nothing')
  const done = await given(text, 'members', 'import', '-', '--json')
  t.equal(done.code, 1)
  t.match(sorted(done.json()), { added: 2, changed: 0, unchanged: 1, refused: [other, ...refused] })
  const again = await run('members', 'import', file, '--update')
  t.match(again, {
    code: 1,
    stdout: 'added 0 members, changed 1, left 3 unchanged, refused 7\n',
    stderr: /^line 7: imported ghost: no user is called "ghost"$/m
  })
  t.match(await json('members', 'list', 'imported', '--search', 'bert'), { members: [{ access_level: 40 }] })
  t.match(await json('members', 'list', project.path, '--search', 'bert'), {
    members: [{ access_level: 30, expires_at: '2999-01-31' }]
  })
  t.match(await given('path,user\n', 'members', 'import', '-'), { code: 2, stderr: /no column level/ })
  t.match(await given('path,user,level,name\n', 'members', 'import', '-'), { code: 2, stderr: /unknown column name/ })
})

t.test('paths list and free show and give up the old path of a renamed group', async t => {
  const group = await factory.group({ path: 'before', owner: ada })
  await factory.project({ owner: ada, group })
  t.equal((await run('groups', 'update', group.path, '--path', 'after')).code, 0)
  const listed = (await json('paths', 'list')) as { paths: { path: string }[] }
  t.match(
    listed.paths.find(({ path }) => path === 'before'),
    { leads_to: 'after', kind: 'group', reserved_until: String }
  )
  t.match((await run('paths', 'list')).stdout, /^before +after +group +\d{4}-\d\d-\d\d$/m)
  t.match(await run('groups', 'create', 'before', '--owner', 'eve'), { code: 2, stderr: /is reserved until/ })
  t.match(await run('paths', 'free', 'before'), { code: 0, stdout: 'freed before, which led to after\n' })
  t.match(await run('paths', 'free', 'before'), { code: 3 })
  t.equal((await run('groups', 'create', 'before', '--owner', 'eve')).code, 0)
})
