import { READ_COMMIT, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { newestBuild } from '../builds/make-builds.js'

const aSha = async ({ project }: Asking) => ({ params: { sha: (await newestBuild(project)).sha } })

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/repository/commits/:sha/statuses': { expected: READ_COMMIT, specimen: aSha },
    'POST /api/v3/projects/:id/statuses/:sha': {
      expected: write(201),
      specimen: async asking => ({ ...(await aSha(asking)), payload: { state: 'success' } })
    }
  }
}
