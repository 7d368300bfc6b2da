import { administer, withBuilds, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeEnvironment, newestDeployment } from './make-environments.js'

const anEnvironment = async ({ project, unique }: Asking) => ({
  params: { environment_id: await makeEnvironment(project, unique) }
})

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/environments': { expected: withBuilds(administer('reporter')) },
    'POST /api/v3/projects/:id/environments': {
      expected: withBuilds(write(201)),
      specimen: ({ unique }) => ({ payload: { name: unique } })
    },
    'PUT /api/v3/projects/:id/environments/:environment_id': {
      expected: withBuilds(administer('master')),
      specimen: async asking => ({ ...(await anEnvironment(asking)), payload: { external_url: 'https://example.org' } })
    },
    'POST /api/v3/projects/:id/environments/:environment_id/stop': {
      expected: withBuilds(write(200)),
      specimen: anEnvironment
    },
    'DELETE /api/v3/projects/:id/environments/:environment_id': {
      expected: withBuilds(administer('master')),
      specimen: anEnvironment
    },
    'GET /api/v3/projects/:id/deployments': { expected: withBuilds(administer('reporter')) },
    'GET /api/v3/projects/:id/deployments/:deployment_id': {
      expected: withBuilds(administer('reporter')),
      specimen: async ({ project }) => ({ params: { deployment_id: await newestDeployment(project) } })
    }
  }
}
