import { SIGNED_IN_OR_READ_USER } from '../../../access/actors.js'
import { READ_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/users/:id/events': {
      expected: SIGNED_IN_OR_READ_USER,
      specimen: ({ world }) => ({ params: { id: world.admin.id } })
    }
  },
  project: { 'GET /api/v3/projects/:id/events': { expected: READ_PROJECT } }
}
