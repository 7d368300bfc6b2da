import { answering, created, SIGNED_IN, statuses } from '../../../access/actors.js'
import { administer, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeSnippet } from './make-snippets.js'

const aPublicOne = async ({ project, world }: Asking) => ({
  params: { snippet_id: await makeSnippet(world.admin, project) }
})
const anOwnOne = async ({ user }: Asking) => ({ params: { id: await makeSnippet(user) } })
const body = { title: 'Hello', file_name: 'hello.rb', content: 'puts 1' }

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/snippets': { expected: SEE_PROJECT() },
    'GET /api/v3/projects/:id/snippets/:snippet_id': { expected: SEE_PROJECT(), specimen: aPublicOne },
    'GET /api/v3/projects/:id/snippets/:snippet_id/raw': { expected: SEE_PROJECT(), specimen: aPublicOne },
    'POST /api/v3/projects/:id/snippets': {
      expected: administer('reporter', 201),
      specimen: () => ({ payload: { title: 'Hello', file_name: 'hello.rb', code: 'puts 1', visibility_level: 0 } })
    },
    'PUT /api/v3/projects/:id/snippets/:snippet_id': {
      expected: administer('master'),
      specimen: async asking => ({ ...(await aPublicOne(asking)), payload: { title: 'Bye' } })
    },
    'DELETE /api/v3/projects/:id/snippets/:snippet_id': { expected: administer('master'), specimen: aPublicOne }
  },
  instance: {
    'GET /api/v3/snippets': { expected: SIGNED_IN },
    'GET /api/v3/snippets/public': { expected: SIGNED_IN },
    'GET /api/v3/snippets/:id': { expected: SIGNED_IN, specimen: anOwnOne },
    'GET /api/v3/snippets/:id/raw': { expected: SIGNED_IN, specimen: anOwnOne },
    'POST /api/v3/snippets': {
      expected: statuses({ ...created(SIGNED_IN), external: 403 }),
      specimen: () => ({ payload: body })
    },
    'PUT /api/v3/snippets/:id': {
      expected: SIGNED_IN,
      specimen: async asking => ({ ...(await anOwnOne(asking)), payload: { title: 'Bye' } })
    },
    'DELETE /api/v3/snippets/:id': { expected: answering(204, SIGNED_IN), specimen: anOwnOne }
  }
}
