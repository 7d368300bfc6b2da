// Projects from a list of git URLs: what is imported and refused, and how a second run continues.
import { importList, type ListedRefusal } from '../../../../src/areas/projects/imports/import-list.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { factory, someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const { home } = config()
loadConfig({ home, hooks: { allow: ['127.0.0.1'] } })
t.teardown(() => void loadConfig({ home }))
const { port } = new URL(await app.fastify.listen({ host: '127.0.0.1', port: 0 }))
t.teardown(() => app.fastify.server.closeAllConnections())
const source = await app.make.project()
await app.make.file(source, 'a', 'content')
const urlWith = (password: string) => `http://${source.owner.username}:${password}@127.0.0.1:${port}/${source.path}.git`
const url = urlWith(source.owner.password)

type Values = Readonly<Record<string, string>>

/** Imports a list while a worker runs. */
async function run(list: readonly Values[], dryRun = false) {
  const refused: ListedRefusal[] = []
  const outcomes: string[] = []
  // A line is under way from the moment when it is read until it is reported.
  let [underWay, most] = [0, 0]
  async function* lines() {
    for (const [at, values] of list.entries()) {
      underWay++
      most = Math.max(most, underWay)
      yield { line: at + 2, values }
    }
  }
  const options = {
    dryRun,
    signal: new AbortController().signal,
    refuse: (refusal: ListedRefusal) => {
      underWay--
      refused.push(refusal)
    },
    done: (outcome: string, path: string) => {
      underWay--
      outcomes.push(`${outcome} ${path}`)
    }
  }
  let isDone = false
  const work = importList(lines(), options, someOrigin).finally(() => {
    isDone = true
  })
  while (!isDone) await app.runJobs()
  await work
  return { refused, outcomes: outcomes.sort(), most }
}

t.test('each line becomes a project, or is refused by name', async t => {
  const user = await app.make.user()
  const at = (name: string) => `${user.username}/${name}`
  const list: readonly Values[] = [
    { path: at('one'), url, visibility: 'internal' },
    { path: at('two'), url: urlWith('wrong-secret') },
    { path: 'nowhere/three', url },
    { path: at('four'), url: 'file:///etc/passwd' },
    { path: at('five'), url: 'http://10.0.0.1/a.git' },
    { path: at('../six'), url },
    { path: at('seven'), url, visibility: 'secret' },
    { path: at('one'), url }
  ]
  const planned = await run(list, true)
  t.same(
    planned.refused.map(({ line }) => line),
    [4, 5, 6, 7, 8]
  )
  t.same((await app.as(user).get('/projects')).json(), [], 'a dry run creates nothing')
  const { refused, outcomes } = await run(list)
  t.same(outcomes, [`imported ${at('one')}`])
  const errors = new Map(refused.map(({ line, error }) => [line, error]))
  t.match(errors.get(3), /git could not fetch it/)
  t.match(errors.get(4), /no namespace is called/)
  t.match(errors.get(5), /must be an http, https or git URL/)
  t.match(errors.get(6), /private address/)
  t.match(errors.get(7), /path/)
  t.match(errors.get(8), /private, internal or public/)
  t.notMatch(JSON.stringify(refused), /secret@|wrong-secret/)
  const one = (await app.as(user).get(`/projects/${encodeURIComponent(at('one'))}`)).json()
  t.match(one, { default_branch: 'master', visibility_level: 10 })

  const again = await run(list.slice(0, 1).concat({ path: at('two'), url }))
  t.same(again.outcomes, [`existing ${at('one')}`, `imported ${at('two')}`], 'a failed import is tried again')
  t.same(again.refused, [])
})

t.test('a project with commits stays as it is, although its import failed', async t => {
  const user = await app.make.user()
  const list = [{ path: `${user.username}/own`, url: urlWith('wrong') }]
  t.equal((await run(list)).refused.length, 1)
  const id = (await app.as(user).get('/projects')).json()[0].id
  await factory.file({ id, path: '', owner: user, storage: '' }, 'own', 'x')
  t.same((await run([{ path: `${user.username}/own`, url }])).outcomes, [`existing ${user.username}/own`])
  t.equal((await app.as(user).get(`/projects/${id}/repository/tree`)).json()[0].name, 'own')
})

t.test('only a few projects are under way at once', async t => {
  const user = await app.make.user()
  await execute('update users set projects_limit = 100 where id = ?', [user.id])
  const list = Array.from({ length: 13 }, (_, at) => ({ path: `${user.username}/p${at}`, url }))
  const { outcomes, most } = await run(list)
  t.equal(outcomes.length, 13)
  t.equal(most, 10)
})
