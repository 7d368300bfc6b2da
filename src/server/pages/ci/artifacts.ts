import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { readArtifactsOf } from '../../../areas/ci/builds/build-readings.js'
import { openArtifactFile, readArtifactFolder } from '../../../areas/ci/builds/shown/artifact-folders.js'
import { mayBeDirect } from '../../../storage/direct-downloads.js'
import { sendFile } from './files.js'
import { ArtifactParams, BuildParams } from './params.js'
import { showCi } from './pipelines.js'

export const artifactPages: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'build.read' as const }
  const inside = { config, schema: { params: ArtifactParams } }

  app.get(
    '/:namespace/:project/builds/:build_id/artifacts/download',
    { config, schema: { params: BuildParams } },
    async (request, reply) => {
      const { project, params, actor } = request
      const { size, stream, filename } = await readArtifactsOf(project, params.build_id, {
        actor,
        direct: mayBeDirect(request)
      })
      return sendFile(reply, { size, stream, type: 'application/zip', name: filename })
    }
  )

  for (const place of ['browse', 'browse/*']) {
    app.get(`/:namespace/:project/builds/:build_id/artifacts/${place}`, inside, async (request, reply) => {
      const { project, params, actor } = request
      const { '*': path = '' } = params
      const folder = path === '' || path.endsWith('/') ? path : `${path}/`
      const found = await readArtifactFolder(project, params.build_id, folder, actor)
      return showCi(request, reply, 'ci/artifacts', { title: `Artifacts of ${found.build.name}`, ...found, folder })
    })
  }

  app.get(
    '/:namespace/:project/builds/:build_id/artifacts/file/*',
    inside,
    async ({ project, params, actor }, reply) => {
      const { '*': path = '' } = params
      const { size, stream } = await openArtifactFile(project, params.build_id, path, actor)
      const name = path.split('/').at(-1) ?? 'file'
      return sendFile(reply, { size, stream, type: 'application/octet-stream', name })
    }
  )
}
