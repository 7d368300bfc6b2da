// Story: a source listed a project in a form that its API does not describe. The project was missing here, and the run said that all was well.
// The same happened to groups, their members, users and their SSH keys.
import t from 'tap'
import { gitea } from '../../../../src/areas/migrate/gitea/reader.js'
import { github } from '../../../../src/areas/migrate/github/github.js'
import { gitlab3 } from '../../../../src/areas/migrate/gitlab/v3/reader.js'
import { gitlab4 } from '../../../../src/areas/migrate/gitlab/v4/reader.js'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { planMigration } from '../../../../src/areas/migrate/runs/plan.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { newUnreadable } from '../../../../src/areas/migrate/runs/skips.js'
import { verifyMigration } from '../../../../src/areas/migrate/runs/verify/verify.js'
import { config } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { cliProcess } from '../../../helpers/cli.js'
import { someOrigin } from '../../../helpers/factory.js'
import { type Answer, all, type ForgeOptions, openSource, startForge } from '../forge.js'
import { GITEA } from '../gitea/conversation.js'
import { cloneable, GITHUB, serveGithub } from '../github/conversation.js'
import { GITLAB } from '../gitlab/v4/conversation.js'

const app = await testApp(t)
await app.make.admin()
const given = { origin: someOrigin, signal: new AbortController().signal }
const ITEMS = [{ id: 1 }, null, { path_with_namespace: 'a/b', full_name: 'a/b', id: 'x' }, { id: 1 }]
const LISTED = ['the project with the id 1', 'a project without a name', 'a/b']
const ERROR = 'the source sends it in another form than its API describes: repair it there'

const OWNERS = { id: 4, name: 'Owners', permission: 'owner' }

/** The environment of a command. */
function environmentOf() {
  const { home, database } = config()
  return { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: database.url ?? '', GITSTEAD_HOOKS_ALLOW: '127.0.0.1' }
}

async function prepare(kind: string, url: string, map = {}) {
  const settings = { kind, url, map, people: {}, rate: 1000, keys: false }
  await addMigration(`un-${kind}`, 'sesame', settings, someOrigin)
  return findMigration(`un-${kind}`)
}

const FORGES: readonly (readonly [kind: string, options: ForgeOptions, answers: { [path: string]: Answer }])[] = [
  [
    'gitlab3',
    { ...GITLAB, api: '/api/v3' },
    { user: { id: 1, username: 'root', name: 'Root' }, projects: ITEMS, groups: [] }
  ],
  ['gitlab4', GITLAB, { user: { username: 'root' }, projects: ITEMS, groups: [] }],
  ['gitea', GITEA, { user: { id: 1, login: 'root' }, 'user/repos': ITEMS }]
]

for (const [kind, options, answers] of FORGES)
  t.test(`${kind}: an item of the list that is no project is named by plan, run and verify`, async t => {
    const { url } = await startForge(t, answers, options)
    const migration = await prepare(kind, url.href)
    const { problems } = await planMigration(migration, { projects: [], quick: true }, given)
    t.same(new Set(problems), new Set(LISTED.map(from => `${from}: ${ERROR}`)))
    const { unreadable } = await runMigration(migration, { projects: [], overwrite: false }, given)
    t.same(new Set(unreadable), new Set(LISTED.map(from => ({ from, error: ERROR }))))
    t.match(await verifyMigration(migration, [], given), [{ from: LISTED[0], to: null, error: ERROR }])
  })

const GROUPS = [{ id: 2, name: 'Crew', path: 'crew', full_path: 'crew' }, { id: 9 }]
const ada = { id: 1, username: 'ada', login: 'ada', name: 'Ada' }
const users = (query: URLSearchParams) => (query.get('username') === 'ada' ? [ada] : [{ id: 3 }])
/** One more item of an unknown form in each list. */
const PEOPLE = [
  [
    gitlab3,
    { ...GITLAB, api: '/api/v3' },
    { groups: GROUPS, 'groups/2/members': [{ id: 7 }], users, 'users/1': ada, 'users/1/keys': [{ id: 8 }] }
  ],
  [
    gitlab4,
    GITLAB,
    {
      ...{ user: ada, groups: GROUPS, 'groups/2/members/all': [{ id: 7 }] },
      ...{ users, 'users/1': ada, 'users/1/keys': [{ id: 8 }] }
    }
  ],
  [
    gitea,
    GITEA,
    {
      ...{ user: ada, 'user/orgs': [{ username: 'crew' }, { id: 9 }], 'orgs/crew/teams': [{ id: 6 }, OWNERS] },
      ...{ 'teams/4/members': [{ id: 7 }], 'users/ada': ada, 'users/ada/keys': [{ id: 8 }], 'users/odd': { id: 3 } }
    }
  ],
  [
    github,
    GITHUB,
    {
      ...{ user: ada, 'user/orgs': [{ login: 'crew' }, { id: 9 }], 'orgs/crew': { login: 'crew' } },
      ...{ 'orgs/crew/members': [{ id: 7 }], 'users/ada': ada, 'users/ada/keys': [{ id: 8 }], 'users/odd': { id: 3 } }
    }
  ]
] as const

for (const [reader, options, answers] of PEOPLE)
  t.test(`${reader.title}: groups, members, users and keys in an unknown form are reported by name`, async t => {
    const { url } = await startForge(t, { ...answers }, options)
    const { source } = openSource(t, reader, url)
    const { skipped, list } = newUnreadable()
    t.match(await all(source.groups(skipped)), [{ path: 'crew', members: [] }])
    t.match(await source.user('ada', skipped), { username: 'ada', keys: [] })
    t.equal(await source.user('odd', skipped), null)
    const expected = [
      ...['the group with the id 9', 'the member of crew with the id 7'],
      ...['the key of ada with the id 8', 'the user with the id 3'],
      ...(reader === gitea ? ['the team of crew with the id 6'] : [])
    ]
    t.same(new Set(list().map(({ from }) => from)), new Set(expected))
  })

t.test('long names and control characters are cut', async t => {
  const { skipped, list } = newUnreadable()
  skipped('member of crew', 'odd', { username: `a\n${'🎉'.repeat(500)}` })
  t.match(list(), [{ from: /^a 🎉{74} \(member of crew\)$/u, error: 'odd: repair it there' }])
})

t.test('plan, run and verify name a member of a group that cannot be read, and the group comes', async t => {
  const { answers } = await cloneable(t)
  answers['orgs/crew/members?role=admin&per_page=100'] = [{ id: 1 }]
  const { url } = await serveGithub(t, answers)
  const settings = { kind: 'github', url: url.href, map: {}, people: {}, rate: 1000, keys: false }
  await addMigration('members', 'sesame', settings, someOrigin)
  const migration = await findMigration('members')
  const from = 'the member of crew with the id 1'
  const environment = environmentOf()
  const planned = await cliProcess(['migrate', 'plan', 'members', '--project', 'crew/tool', '--json'], { environment })
  t.same(JSON.parse(planned.stdout).problems, [`${from}: ${ERROR}`])
  t.equal(planned.code, 1)
  const { code, stdout } = await cliProcess(['migrate', 'run', 'members', '--project', 'crew/tool'], { environment })
  t.equal(code, 1)
  t.match(stdout.replaceAll(/\s+/g, ' '), `${from}: ${ERROR}`)
  t.match(stdout, 'crew/tool: created crew/tool')
  t.match(await verifyMigration(migration, ['crew/tool'], given), [{ to: 'crew/tool' }, { from, to: null }])
})

t.test('keys that cannot be read are a problem only when people get their keys', async t => {
  const { answers } = await cloneable(t)
  answers['users/ada/keys'] = [{ id: 8 }]
  const { url } = await serveGithub(t, answers)
  const problems = async (keys: boolean) => {
    const settings = { kind: 'github', url: url.href, map: {}, people: {}, rate: 1000, keys }
    await addMigration(`keys-${keys}`, 'sesame', settings, someOrigin)
    await execute('delete from migrated_people')
    const migration = await findMigration(`keys-${keys}`)
    return (await planMigration(migration, { projects: ['crew/tool'], quick: false }, given)).problems
  }
  t.match(await problems(true), [/^the namespace crew exists here/, `the key of ada with the id 8: ${ERROR}`])
  t.match(await problems(false), [/^the namespace crew exists here/])
})

t.test('the other projects come, and the command says that one did not', async t => {
  const { answers } = await cloneable(t)
  const { url } = await serveGithub(t, { ...answers, 'user/repos': [...ITEMS, answers['repos/crew/tool']] })
  const place = await app.make.group({ visibilityLevel: 20 })
  const migration = await prepare('github', url.href, { crew: place.path })
  const environment = environmentOf()
  const { code, stdout } = await cliProcess(['migrate', 'run', migration.name], { environment })
  t.equal(code, 1)
  const shown = stdout.replaceAll(/\s+/g, ' ')
  t.match(shown, `${LISTED[0]}: ${ERROR}`)
  t.match(shown, `${place.path}/tool`)
})

t.test('a plan names a project with a wrong page; once it is mended, it is asked for again', async t => {
  const { answers } = await cloneable(t)
  const labels = answers['repos/crew/tool/labels'] ?? []
  answers['repos/crew/tool/labels'] = { message: 'not today' }
  const { url } = await serveGithub(t, answers)
  const place = await app.make.group({ visibilityLevel: 20 })
  const settings = { kind: 'github', url: url.href, map: { crew: place.path }, people: {}, rate: 1000, keys: false }
  await addMigration('mended', 'sesame', settings, someOrigin)
  const run = async () =>
    (await runMigration(await findMigration('mended'), { projects: ['crew/tool'], overwrite: false }, given))
      .projects[0]
  const planned = await planMigration(await findMigration('mended'), { projects: ['crew/tool'], quick: false }, given)
  t.match(planned, { projects: [], problems: [/^crew\/tool: .*labels\S* is not a list/] })
  t.match(await run(), { result: 'failed', error: /labels\S* is not a list/ })
  answers['repos/crew/tool/labels'] = labels
  t.match(await run(), { result: 'created' })
})
