import { ADMINISTRATOR } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    'DELETE /api/v3/users/:id': {
      expected: ADMINISTRATOR,
      specimen: async ({ world: { app } }) => ({ params: { id: (await app.make.user()).id } })
    }
  }
}
