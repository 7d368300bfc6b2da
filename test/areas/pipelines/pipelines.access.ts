import { READ_PIPELINES } from '../../access/expectations.js'
import type { ResourceAccess } from '../../access/resource.js'
import { newestBuild } from '../builds/make-builds.js'

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/pipelines': { expected: READ_PIPELINES },
    'GET /api/v3/projects/:id/pipelines/:pipeline_id': {
      expected: READ_PIPELINES,
      specimen: async ({ project }) => ({ params: { pipeline_id: (await newestBuild(project)).pipelineId } })
    }
  }
}
