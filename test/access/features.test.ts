// While a part of a project is switched off, its routes return 403, 404 or an empty list, as their actions require. The
// test adds a route for each case.
import { type Action, abilities } from '../../src/access/abilities.js'
import { execute } from '../../src/db/connect/sql.js'
import { GUEST } from '../../src/lib/levels.js'
import { buildApp } from '../../src/server/app.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const OUTCOMES = { forbidden: 403, missing: 404, empty: 200 } as const

async function appWithLists(t: { teardown(fn: () => Promise<void>): void }) {
  await testDatabase()
  for (const whenOff of Object.keys(OUTCOMES)) {
    Object.assign(abilities, {
      [`test.${whenOff}`]: { on: 'project', least: GUEST, feature: 'issues_enabled', whenOff }
    })
  }
  const app = await buildApp()
  for (const whenOff of Object.keys(OUTCOMES)) {
    app.get(`/api/v3/test/:id/${whenOff}`, { config: { can: `test.${whenOff}` as Action } }, async () => ['an issue'])
  }
  await app.ready()
  t.teardown(() => app.close())
  return app
}

t.test('a route whose feature is switched off', async t => {
  const app = await appWithLists(t)
  const project = await factory.project()
  const stranger = await factory.user()
  const ask = (whenOff: string, token: string) =>
    app.inject({ url: `/api/v3/test/${project.id}/${whenOff}`, headers: { 'private-token': token } })
  for (const whenOff of Object.keys(OUTCOMES)) {
    t.same((await ask(whenOff, project.owner.privateToken)).json(), ['an issue'], `${whenOff}: on`)
  }
  await execute('update projects set issues_enabled = 0 where id = ?', [project.id])
  for (const [whenOff, status] of Object.entries(OUTCOMES)) {
    const res = await ask(whenOff, project.owner.privateToken)
    t.equal(res.statusCode, status, whenOff)
    t.equal((await ask(whenOff, stranger.privateToken)).statusCode, 404, `${whenOff}: a stranger gets 404`)
    if (whenOff !== 'empty') continue
    t.same(res.json(), [])
    t.match(res.headers, { 'x-total': '0', 'x-page': '1', 'x-total-pages': '1' })
  }
})
