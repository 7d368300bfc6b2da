import { administer } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  project: {
    'DELETE /api/v3/projects/:id': {
      expected: administer('owner'),
      // Other cases need the projects of the world unchanged.
      specimen: async ({ world: { app, users }, actor }) => {
        if (actor !== 'owner' && actor !== 'admin') return {}
        return { params: { id: (await app.make.project({ owner: users.owner })).id } }
      }
    }
  }
}
