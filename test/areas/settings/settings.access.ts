import { ADMINISTRATOR } from '../../access/actors.js'
import type { ResourceAccess } from '../../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/application/settings': { expected: ADMINISTRATOR },
    'PUT /api/v3/application/settings': {
      expected: ADMINISTRATOR,
      specimen: () => ({ payload: { default_projects_limit: 11 } })
    }
  }
}
