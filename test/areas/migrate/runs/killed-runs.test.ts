// Kills a migration at twenty places, one after the other. What comes in the end is the same as without a kill, and nothing is visible before.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { partOf } from '../../../../src/areas/migrate/runs/work-folder.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { config, loadConfig, publicUrl, root } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { answersOf } from '../../upkeep/project-archives/compare.js'
import { ada, cloneable, repository as github, serveGithub } from '../github/conversation.js'

process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
const app = await testApp(t)
loadConfig({})
t.setTimeout(600_000)

const NOTES = 3000
const owner = await app.make.user()
const admin = app.as(await app.make.admin())
const { answers, received: fetched } = await cloneable(t)
const { url, received } = await serveGithub(t, answers)
answers['/user-attachments/assets/12'] = 'picture'
answers['repos/crew/tool/issues/comments'] = Array.from({ length: NOTES }, (_, number) => {
  const time = new Date(Date.UTC(2020, 1, 1) + number * 1000).toISOString()
  const body = `Comment ${number}: see #3 ![](${url.origin}/user-attachments/assets/12)`
  return { id: number + 1, body, user: ada, issue_url: 'x/issues/1', created_at: time, updated_at: time }
})

/** Prepares a migration into a new group, as if no other had come. Returns the path that the project will have. */
async function prepare(name: string): Promise<string> {
  await execute('delete from migrated_projects')
  const { path } = await app.make.group({ owner, visibilityLevel: 20 })
  const settings = { kind: 'github', url: url.origin, map: { crew: path }, people: {}, rate: 60, keys: false }
  await addMigration(name, 'sesame', settings, someOrigin)
  return `${path}/tool`
}

function start(name: string): ChildProcess {
  const { PATH, HOME } = process.env
  const { home, database } = config()
  const env = {
    PATH,
    HOME,
    GITSTEAD_HOME: home,
    GITSTEAD_DATABASE_URL: database.url ?? '',
    GITSTEAD_HOOKS_ALLOW: '127.0.0.1'
  }
  const args = ['migrate', 'run', name, '--project', 'crew/tool', '--json']
  return spawn(join(root, 'bin/gitstead'), args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
}

const answersAt = async (path: string) => {
  const base = `/projects/${encodeURIComponent(path)}`
  const ask = async (below: string) => {
    const res = await admin.get(`${base}${below}`)
    const isJson = String(res.headers['content-type']).includes('json')
    return { status: res.statusCode, total: res.headers['x-total'] ?? null, body: isJson ? res.json() : res.body }
  }
  return answersOf({ ask, path, base: publicUrl() })
}
const statusOf = async (path: string) => (await admin.get(`/projects/${encodeURIComponent(path)}`)).statusCode

t.test('a run that is killed twenty times brings the same as one that is not', async t => {
  const quiet = await prepare('quiet')
  t.equal((await once(start('quiet'), 'exit'))[0], 0)
  // Jobs find out what can be merged.
  await app.runJobs()
  const expected = await answersAt(quiet)
  t.match(expected[''], { status: 200 })

  const path = await prepare('killed')
  const part = partOf(await findMigration('killed'), String(github.id))
  const has = (name: string) => existsSync(join(part, name))
  const count = async (sql: string) => Number((await row<{ total: number }>(sql, []))?.total)
  const seen = async (sql: string) => (await count(`select count(*) as total from ${sql}`)) > 0
  const hidden = 'x join project_removals r on r.project_id = x.project_id'
  let [requests, clones] = [0, 0]
  const asked = (more: number) => async () => received.length >= requests + more
  const moments: [string, () => Promise<boolean>][] = [
    ...[1, 3, 5, 7, 9, 12, 15].map(
      more => [`after ${more} more requests`, asked(more)] as [string, () => Promise<boolean>]
    ),
    ['when the first records are written', async () => has('spool/label')],
    ['when notes are written', async () => has('spool/note')],
    ['when the copy of the repository begins', async () => has('repository.git')],
    ['in the middle of the fetch', async () => fetched.length > clones],
    ['when the files are fetched', async () => has('files')],
    ['when the records are converted', async () => has('records.jsonl')],
    ['when the archive is written', async () => readdirSync(part).some(name => name.startsWith('archive.zip'))],
    ['when the import begins', () => seen('project_removals')],
    ['when the first issues are here', () => seen(`issues ${hidden}`)],
    ['when the first notes are here', () => seen(`notes ${hidden}`)],
    [
      'when a thousand notes are here',
      async () => (await count(`select count(*) as total from notes ${hidden}`)) > 1000
    ],
    ['when all notes are here', async () => (await count(`select count(*) as total from notes ${hidden}`)) >= NOTES],
    ['when the project is visible', () => seen('migrated_projects')]
  ]
  t.equal(moments.length, 20)
  for (const [name, isReached] of moments) {
    ;[requests, clones] = [received.length, fetched.length]
    const child = start('killed')
    const ended = once(child, 'exit')
    while (child.exitCode === null && !(await isReached())) await sleep(1)
    const isRunning = child.kill('SIGKILL')
    const [code] = await ended
    t.ok(isRunning && code === null, `killed ${name}`)
    const isDone = await seen('migrated_projects')
    t.equal(await statusOf(path), isDone ? 200 : 404, `${isDone ? 'whole' : 'nothing'} is visible`)
    // The remains of this import; otherwise they would be found at once the next time.
    await execute("update project_removals set created_at = '2000-01-01'")
    await runTask('unfinished_removals', {}, someOrigin)
    await app.runJobs()
  }
  t.equal((await once(start('killed'), 'exit'))[0], 0)
  await app.runJobs()
  const found = await answersAt(path)
  t.same(Object.keys(found), Object.keys(expected))
  for (const [name, answer] of Object.entries(expected)) t.same(found[name], answer, name || 'the project')

  const projects = await rows<{ id: number; storage: string }>('select id, storage from projects')
  t.equal(projects.length, 2)
  t.equal(await count('select count(*) as total from notes where project_id not in (select id from projects)'), 0)
  t.equal(await count('select count(*) as total from project_removals'), 0)
  for (const project of projects) t.ok(existsSync(repositoryPath(project)))
})
