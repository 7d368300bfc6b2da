import { IdOf, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

const place = {
  namespace: Text('the namespace of the project', { maxLength: 255 }),
  project: Text('the name of the project in its path', { maxLength: 255 })
}

export const PipelineParams = Type.Object({ ...place, pipeline_id: IdOf('the pipeline') })
export const BuildParams = Type.Object({ ...place, build_id: IdOf('the build') })
export const EnvironmentParams = Type.Object({ ...place, environment_id: IdOf('the environment') })
/** A file or folder in the artifacts of a build. */
export const ArtifactParams = Type.Object({
  ...BuildParams.properties,
  '*': Type.Optional(Text('a path in the archive', { maxLength: 4096 }))
})
