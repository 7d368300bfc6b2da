import { READ_BUILDS, withBuilds, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { anotherBuild, newestBuild } from './make-builds.js'

const aBuild = async ({ project }: Asking) => ({ params: { build_id: (await newestBuild(project)).id } })

const own = async ({ project }: Asking) => ({ params: { build_id: (await anotherBuild(project)).id } })
const manual = async ({ project }: Asking) => ({
  params: { build_id: (await anotherBuild(project, { status: 'skipped', when: 'manual' })).id }
})
const unfinished = async ({ project }: Asking) => ({
  params: { build_id: (await anotherBuild(project, { status: 'pending' })).id }
})
const pipelineWith =
  (status: string) =>
  async ({ project }: Asking) => ({
    params: { pipeline_id: (await anotherBuild(project, { status })).pipelineId }
  })

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
    },
    'POST /api/v3/projects/:id/builds/:build_id/cancel': { expected: withBuilds(write(201)), specimen: unfinished },
    'POST /api/v3/projects/:id/builds/:build_id/retry': { expected: withBuilds(write(201)), specimen: own },
    'POST /api/v3/projects/:id/builds/:build_id/erase': { expected: withBuilds(write(201)), specimen: own },
    'POST /api/v3/projects/:id/builds/:build_id/artifacts/keep': { expected: withBuilds(write(200)), specimen: own },
    'POST /api/v3/projects/:id/builds/:build_id/play': { expected: withBuilds(write(200)), specimen: manual },
    'POST /api/v3/projects/:id/pipelines/:pipeline_id/retry': {
      expected: withBuilds(write(201)),
      specimen: pipelineWith('failed')
    },
    'POST /api/v3/projects/:id/pipelines/:pipeline_id/cancel': {
      expected: withBuilds(write(200)),
      specimen: pipelineWith('pending')
    }
  }
}
