import { administer, withBuilds } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeVariable } from './make-variables.js'

const read = withBuilds(administer('master'))
const aVariable = async ({ project, unique }: Asking) => ({ params: { key: await makeVariable(project, unique) } })

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/variables': { expected: read },
    'GET /api/v3/projects/:id/variables/:key': { expected: read, specimen: aVariable },
    'POST /api/v3/projects/:id/variables': {
      expected: withBuilds(administer('master', 201)),
      specimen: ({ unique }) => ({ payload: { key: unique.replace(/\W/g, '_'), value: 'x' } })
    },
    'PUT /api/v3/projects/:id/variables/:key': {
      expected: read,
      specimen: async asking => ({ ...(await aVariable(asking)), payload: { value: 'y' } })
    },
    'DELETE /api/v3/projects/:id/variables/:key': { expected: read, specimen: aVariable }
  }
}
