import { READ_REPOSITORY } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/repository/archive': { expected: READ_REPOSITORY },
    'GET /api/v3/projects/:id/repository/archive.:format': {
      expected: READ_REPOSITORY,
      specimen: () => ({ params: { format: 'zip' } })
    }
  }
}
