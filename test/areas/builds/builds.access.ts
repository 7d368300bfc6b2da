import { READ_BUILDS } from '../../access/expectations.js'
import type { ResourceAccess } from '../../access/resource.js'
import type { Asking } from '../../access/world.js'
import { newestBuild } from './make-builds.js'

const aBuild = async ({ project }: Asking) => ({ params: { build_id: (await newestBuild(project)).id } })

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/builds': { expected: READ_BUILDS },
    'GET /api/v3/projects/:id/repository/commits/:sha/builds': {
      expected: READ_BUILDS,
      specimen: () => ({ params: { sha: 'master' } })
    },
    'GET /api/v3/projects/:id/builds/:build_id': { expected: READ_BUILDS, specimen: aBuild },
    'GET /api/v3/projects/:id/builds/:build_id/trace': { expected: READ_BUILDS, specimen: aBuild },
    'GET /api/v3/projects/:id/builds/:build_id/artifacts': { expected: READ_BUILDS, specimen: aBuild },
    'GET /api/v3/projects/:id/builds/artifacts/:ref_name/download': {
      expected: READ_BUILDS,
      specimen: () => ({ params: { ref_name: 'master' }, query: { job: 'job' } })
    }
  }
}
