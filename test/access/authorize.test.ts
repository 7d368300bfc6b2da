// The whole matrix as a table: compares `authorize` with the expectation of every route, for every actor on every kind
// of project and group. The tests of the areas check over HTTP what this test cannot: that each route calls
// `authorize`, and what rules refuse.
import { testApp } from '../helpers/app.js'
import { configOf } from '../helpers/route-configs.js'
import t from '../helpers/tap.js'
import { tableOnly } from './actions.js'
import { type Cell, cellsOf } from './cells.js'
import { allAccess } from './files.js'
import { verdictOf } from './verdict.js'

const nameOf = ({ actor, subject }: Cell) => [actor, ...Object.values(subject)].join(' on ')

t.test('the table of abilities allows and refuses every actor as expected', async t => {
  const { fastify } = await testApp(t)
  for (const { route, cells } of (await allAccess()).flatMap(cellsOf)) {
    const config = configOf(fastify, route)
    // A route without an action is public or answers preflights: its own rules choose each response, and the test of its area
    // checks them all.
    if (config.can === undefined) continue
    const found = cells.map(cell => [nameOf(cell), verdictOf(config, cell.actor, cell.subject).refused ?? 'allowed'])
    const [table] = cellsOf((config.can && tableOnly(route, config.can)) ?? {})
    const wanted = (table?.cells ?? cells).map(cell => [nameOf(cell), cell.expected >= 400 ? cell.expected : 'allowed'])
    t.same(Object.fromEntries(found), Object.fromEntries(wanted), `${route} is ${config.can}`)
    if (!route.startsWith('GET ')) continue
    t.equal(configOf(fastify, route.replace('GET', 'HEAD')).can, config.can, 'its HEAD has the same action')
  }
})
