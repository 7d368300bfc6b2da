// One Gitstead moves into another, by commands: groups, people and their projects.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createProjectHook } from '../../../../src/areas/ground/hooks/project-hooks.js'
import { loadConfig } from '../../../../src/config.js'
import { MASTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { connectTo, dropDatabase, makeDatabase } from '../../../helpers/database-server.js'
import { someOrigin } from '../../../helpers/factory.js'
import { gitstead } from '../../../scenarios/appliance.js'

const { databaseUrl } = await testDatabase()
const app = await testApp(t)
await app.fastify.listen({ port: 0, host: '127.0.0.1' })
const url = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`
process.env.GITSTEAD_URL = url
loadConfig({})

const other = new URL(databaseUrl)
other.pathname = `${other.pathname}_other`
const name = other.pathname.slice(1)
await makeDatabase(other, name, process.env.GITSTEAD_TEST_SCHEMA)
t.teardown(() => dropDatabase(other, name))
const home = t.testdir()
const environment = { GITSTEAD_DATABASE_URL: other.href, GITSTEAD_HOME: home, GITSTEAD_HOOKS_ALLOW: '127.0.0.1' }
const run = async (args: readonly string[], input = '') => {
  const { code, stdout, stderr } = await gitstead([...args, '--json'], { input, environment })
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stdout} ${stderr}`)
  return JSON.parse(stdout)
}
const user = (username: string, email: string, more: readonly string[] = []) =>
  run(
    ['users', 'create', '--username', username, '--email', email, '--name', username, '--password-stdin', ...more],
    'password of a user\n'
  )

t.test('groups, members, personal projects and hooks come', async t => {
  const ada = await app.make.user({ username: 'ada', name: 'Ada', email: 'ada@example.org' })
  const bob = await app.make.user({ username: 'bob', name: 'Bob', email: 'bob@example.org' })
  const admin = await app.make.admin({ username: 'root' })
  await app
    .as(ada)
    .post('/groups', { name: 'Machines', path: 'machines', description: 'All of them', visibility_level: 0 })
  const { id: groupId } = (await app.as(ada).get('/groups/machines')).json()
  await app.as(ada).post('/groups/machines/members', { user_id: bob.id, access_level: MASTER })
  const engine = await app.make.project({ owner: ada, group: { id: groupId, path: 'machines' }, name: 'engine' })
  await app.make.file(engine, 'README.md', 'The engine\n')
  await createProjectHook({ id: engine.id }, { url: 'https://hooks.example.org/in', push_events: true }, someOrigin)
  await app.as(bob).post(`/projects/${engine.id}/issues`, { title: 'Broken' })
  const notes = await app.make.project({ owner: bob, name: 'notes' })
  await app.as(bob).post(`/projects/${notes.id}/archive`)
  await app.runJobs()

  await run(['db', 'migrate'])
  await user('boss', 'boss@example.com', ['--admin'])
  await user('lovelace', 'ada@example.org')
  const settings = ['--kind', 'gitlab3', '--token-stdin', '--rate', '1000']
  await run(['migrate', 'add', 'old', url, ...settings], `${admin.privateToken}\n`)
  t.match(await run(['migrate', 'list']), { migrations: [{ name: 'old', kind: 'gitlab3', url }] })
  const plan = await run(['migrate', 'plan', 'old'])
  t.match(plan, { matched: { ada: 'lovelace' }, unmatched: ['bob'] })
  const report = await run(['migrate', 'run', 'old'])
  t.match(report.projects, [
    { from: 'machines/engine', to: 'machines/engine', result: 'created' },
    { from: 'bob/notes', to: 'bob/notes', result: 'created' }
  ])
  const connection = await connectTo(other)
  const ask = async (sql: string) => (await connection.query(sql.replaceAll('@', `${name}.`)))[0]
  t.match(await ask("select name, description, visibility_level from @namespaces where path = 'machines'"), [
    { name: 'Machines', description: 'All of them', visibility_level: 0 }
  ])
  const members = `select u.username, m.access_level from @members m join @users u on u.id = m.user_id
    where m.source_type = 'namespace' order by u.username`
  t.match(await ask(members), [
    { username: 'bob', access_level: 40 },
    { username: 'lovelace', access_level: 50 }
  ])
  t.match(await ask('select i.title, u.username from @issues i join @users u on u.id = i.author_id'), [
    { title: 'Broken', username: 'bob' }
  ])
  t.match(await ask('select url, enabled from @hooks'), [{ url: 'https://hooks.example.org/in', enabled: 0 }])
  await connection.end()
  t.match(await run(['migrate', 'verify', 'old']), {
    projects: [
      { different: 0, refs: [] },
      { different: 0, refs: [] }
    ]
  })
  t.match(await run(['migrate', 'placeholders']), {
    placeholders: [{ username: 'bob', source_username: 'bob', email: 'bob@example.org' }]
  })
  await user('robert', 'bob@example.org')
  t.match(await run(['migrate', 'placeholders', 'old']), { placeholders: [{ username: 'bob' }] })
  await run(['migrate', 'add', 'another', 'https://forge.example.org', '--kind', 'gitea', '--token-stdin'], 'sesame\n')
  t.same(await run(['migrate', 'placeholders', 'another']), { placeholders: [] }, 'only those of its forge')
  await run(['projects', 'create', 'robert/notes'])
  const error = /^projects of robert have the paths .*: rename, transfer or delete robert\/notes$/
  const kept = await gitstead(['migrate', 'assign', '--confirmed', '--json'], { environment })
  t.equal(kept.code, 1)
  t.match(JSON.parse(kept.stdout), { assigned: [], refused: [{ placeholder: 'bob', user: 'robert', error }] })
  const shown = await gitstead(['migrate', 'assign', '--confirmed'], { environment })
  t.match(shown.stdout, /^robert could not get the records of bob: projects of robert/)
  const refused = await gitstead(['migrate', 'assign', 'bob', 'robert'], { environment })
  t.equal(refused.code, 4)
  t.match(refused.stderr, /rename, transfer or delete robert\/notes/)
  await run(['projects', 'delete', 'robert/notes', '--yes'])
  t.match(await run(['migrate', 'assign', '--confirmed']), {
    assigned: [{ placeholder: 'bob', user: 'robert' }],
    refused: []
  })
  t.match(await run(['projects', 'show', 'robert/notes']), { path_with_namespace: 'robert/notes' })
  await app.as(bob).post(`/projects/${notes.id}/unarchive`)
  await app.as(bob).post(`/projects/${notes.id}/labels`, { name: 'later', color: '#123456' })
  t.match(
    (await run(['migrate', 'run', 'old'])).projects,
    [
      { from: 'machines/engine', result: 'unchanged' },
      { from: 'bob/notes', to: 'robert/notes', result: 'replaced' }
    ],
    'the new place does not count as a change'
  )

  const settingsFile = join(home, 'migrations/old/migration.json')
  t.notMatch(readFileSync(settingsFile, 'utf8'), admin.privateToken, 'the token is encrypted')
  t.match(await run(['migrate', 'remove', 'old', '--yes']), { removed: 'old' })
  t.match(await run(['migrate', 'list']), { migrations: [{ name: 'another' }] })
})
