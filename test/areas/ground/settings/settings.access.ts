import { ADMINISTRATOR, SIGNED_IN } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/version': { expected: SIGNED_IN },
    'GET /api/v3/application/settings': { expected: ADMINISTRATOR },
    'PUT /api/v3/application/settings': {
      expected: ADMINISTRATOR,
      specimen: () => ({ payload: { default_projects_limit: 11 } })
    }
  }
}
