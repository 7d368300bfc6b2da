// Story: a source listed a project in a form that its API does not describe. The project was missing here, and the run said that all was well.
import t from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { planMigration } from '../../../../src/areas/migrate/runs/plan.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { verifyMigration } from '../../../../src/areas/migrate/runs/verify/verify.js'
import { config } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import { cliProcess } from '../../../helpers/cli.js'
import { someOrigin } from '../../../helpers/factory.js'
import { type Answer, type ForgeOptions, startForge } from '../forge.js'
import * as gitea from '../gitea/conversation.js'
import { cloneable, serveGithub } from '../github/conversation.js'
import { GITLAB } from '../gitlab/v4/conversation.js'

const app = await testApp(t)
await app.make.admin()
const given = { origin: someOrigin, signal: new AbortController().signal }
const ITEMS = [{ id: 1 }, null, { path_with_namespace: 'a/b', full_name: 'a/b', id: 'x' }, { id: 1 }]
const LISTED = ['the project with the id 1', 'a project without a path', 'a/b']
const ERROR = 'the source sends it in another form than its API describes: repair it there'

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
  ['gitea', gitea.GITEA, { user: { id: 1, login: 'root' }, 'user/repos': ITEMS }]
]

for (const [kind, options, answers] of FORGES)
  t.test(`${kind}: an item of the list that is no project is named by plan, run and verify`, async t => {
    const { url } = await startForge(t, answers, options)
    const migration = await prepare(kind, url.href)
    const { problems } = await planMigration(migration, { projects: [], quick: true }, given)
    t.same(new Set(problems), new Set(LISTED.map(from => `${from}: ${ERROR}`)))
    const { projects } = await runMigration(migration, { projects: [], overwrite: false }, given)
    t.ok(projects.every(each => each.result === 'failed' && each.error === ERROR))
    t.same(new Set(projects.map(({ from }) => from)), new Set(LISTED))
    t.match(await verifyMigration(migration, [], given), [{ from: LISTED[0], to: null }])
  })

t.test('the other projects come, and the command says that one did not', async t => {
  const { answers } = await cloneable(t)
  const { url } = await serveGithub(t, { ...answers, 'user/repos': [...ITEMS, answers['repos/crew/tool']] })
  const place = await app.make.group({ visibilityLevel: 20 })
  const migration = await prepare('github', url.href, { crew: place.path })
  const { home, database } = config()
  const environment = {
    ...{ GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: database.url ?? '', GITSTEAD_HOOKS_ALLOW: '127.0.0.1' }
  }
  const { code, stdout } = await cliProcess(['migrate', 'run', migration.name], { environment })
  t.equal(code, 1)
  const shown = stdout.replaceAll(/\s+/g, ' ')
  t.match(shown, `${LISTED[0]}: failed: ${ERROR}`)
  t.match(shown, `${place.path}/tool`)
})

t.test('a page that the source has mended is asked for again', async t => {
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
  t.match(await run(), { result: 'failed', error: /labels\S* is not a list/ })
  answers['repos/crew/tool/labels'] = labels
  t.match(await run(), { result: 'created' })
})
