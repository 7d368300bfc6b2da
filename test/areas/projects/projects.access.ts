import { ADMINISTRATOR, ANYBODY, created, SIGNED_IN } from '../../access/actors.js'
import { READ_GROUP, READ_PROJECT } from '../../access/expectations.js'
import type { ResourceAccess } from '../../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/projects': { expected: SIGNED_IN },
    'GET /api/v3/projects/owned': { expected: SIGNED_IN },
    'GET /api/v3/projects/visible': { expected: ANYBODY },
    'GET /api/v3/projects/all': { expected: ADMINISTRATOR },
    'POST /api/v3/projects': {
      expected: created(SIGNED_IN),
      specimen: ({ unique }) => ({ payload: { name: unique } })
    }
  },
  project: { 'GET /api/v3/projects/:id': { expected: READ_PROJECT } },
  group: { 'GET /api/v3/groups/:id/projects': { expected: READ_GROUP } }
}
