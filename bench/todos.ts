// Measures lists of 20 to-dos with a million of them in the database, a thousand for each user, of which a hundred are pending: for
// an administrator and for a member of a thousand projects. `statements` is how many statements the database counts for a request.
import { type Prepared, withAppliance } from './lib/appliance.js'
import { measureList } from './lib/lists.js'
import { get, stopLoad } from './lib/load.js'
import { ask } from './lib/rest.js'
import { seedMemberships, seedProjects, seedTodos } from './lib/seed.js'

async function measure(appliance: Prepared): Promise<void> {
  const list = (name: string, token: string, path: string) =>
    measureList(appliance, { name: `to-dos, ${name}`, request: get(`/api/v3${path}`, token), rounds: 3 })
  const { firstUser, firstProject } = await seedProjects()
  const person = { username: 'reader', name: 'Reader', email: 'reader@example.org', password: 'a-long-password' }
  const { id } = await ask<{ id: number }>(appliance, 'POST', '/users', person)
  const { private_token: token } = await ask<{ private_token: string }>(appliance, 'POST', '/session', {
    login: person.username,
    password: person.password
  })
  await seedMemberships(id, firstProject, 1000)
  await seedTodos({ firstUser, firstProject, member: id, administrator: appliance.admin.id })
  await list('of a member of 1,000 projects', token, '/todos')
  await list('of a member, with two filters', token, '/todos?type=Issue&action=mentioned')
  await list('of a member, those that are done, page 40', token, '/todos?state=done&page=40')
  await list('of an administrator', appliance.admin.token, '/todos')
}

await withAppliance({}, measure)
stopLoad()
