// Measures lists of 20 to-dos with a million of them in the database, a thousand for each user, of which a hundred are pending:
// of an administrator and of a member of a thousand projects. `statements` is how many statements the database counts for a request.
import { type Prepared, withAppliance } from './lib/appliance.js'
import { report } from './lib/figure.js'
import { get, rate, stopLoad } from './lib/load.js'
import { ask } from './lib/rest.js'
import { seedMemberships, seedProjects, seedTodos } from './lib/seed.js'
import { statementsOf } from './lib/statements.js'

const LIMIT = 2500

async function measureList({ port, parts }: Prepared, name: string, token: string, path: string): Promise<void> {
  const request = get(`/api/v3${path}`, token)
  const { perSecond, ...detail } = await rate({ port, requests: [request], connections: 16, parts, rounds: 3 })
  report({
    name: `to-dos, ${name}`,
    value: perSecond,
    unit: 'requests/s',
    limit: LIMIT,
    better: 'higher',
    detail: { ...detail, statements: await statementsOf(port, request) }
  })
}

async function measure(appliance: Prepared): Promise<void> {
  const { firstUser, firstProject } = await seedProjects()
  const person = { username: 'reader', name: 'Reader', email: 'reader@example.org', password: 'a-long-password' }
  const { id } = await ask<{ id: number }>(appliance, 'POST', '/users', person)
  const { private_token: token } = await ask<{ private_token: string }>(appliance, 'POST', '/session', {
    login: person.username,
    password: person.password
  })
  await seedMemberships(id, firstProject, 1000)
  await seedTodos({ firstUser, firstProject, member: id, administrator: appliance.admin.id })
  await measureList(appliance, 'of a member of 1,000 projects', token, '/todos')
  await measureList(appliance, 'of a member, with two filters', token, '/todos?type=Issue&action=mentioned')
  await measureList(appliance, 'of a member, those that are done, page 40', token, '/todos?state=done&page=40')
  await measureList(appliance, 'of an administrator', appliance.admin.token, '/todos')
}

await withAppliance({}, measure)
stopLoad()
