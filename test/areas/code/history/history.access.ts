import { READ_COMMIT, READ_REPOSITORY } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/repository/commits': { expected: READ_COMMIT },
    'GET /api/v3/projects/:id/repository/commits/:sha/diff': {
      expected: READ_COMMIT,
      specimen: () => ({ params: { sha: 'master' } })
    },
    'GET /api/v3/projects/:id/repository/compare': {
      expected: READ_REPOSITORY,
      specimen: () => ({ query: { from: 'master', to: 'master' } })
    },
    'GET /api/v3/projects/:id/repository/contributors': { expected: READ_REPOSITORY }
  }
}
