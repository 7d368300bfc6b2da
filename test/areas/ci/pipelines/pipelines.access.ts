import { EVERYBODY } from '../../../access/actors.js'
import { READ_PIPELINES, withBuilds, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import { newestBuild } from '../builds/make-builds.js'

export const access: ResourceAccess = {
  instance: {
    'POST /api/v3/ci/lint': { expected: EVERYBODY, specimen: () => ({ payload: { content: 'job: { script: x }' } }) }
  },
  project: {
    'GET /api/v3/projects/:id/pipelines': { expected: READ_PIPELINES },
    'GET /api/v3/projects/:id/pipelines/:pipeline_id': {
      expected: READ_PIPELINES,
      specimen: async ({ project }) => ({ params: { pipeline_id: (await newestBuild(project)).pipelineId } })
    },
    'POST /api/v3/projects/:id/pipeline': {
      expected: withBuilds(write(201)),
      specimen: () => ({ payload: { ref: 'master' } })
    }
  }
}
