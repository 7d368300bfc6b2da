import { IdOf, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const url = Type.Optional(Text('the URL of the deployed application: http or https, at most 255 characters'))
/** The rule refuses it by name, as the requirement specifies. */
const slug = Type.Optional(Text('refused: the slug is derived from the name'))

export const EnvironmentParams = Type.Object({ ...projectParam, environment_id: IdOf('the environment') })
export const EnvironmentListQuery = Type.Object(Paging)
export const EnvironmentBody = Type.Object(
  { name: Text('the name: letters, digits, spaces and - _ / $ { } .'), external_url: url, slug },
  { title: 'EnvironmentBody', description: 'A new environment.' }
)
export type EnvironmentBody = Static<typeof EnvironmentBody>
export const EnvironmentChange = Type.Object(
  { name: Type.Optional(EnvironmentBody.properties.name), external_url: url, slug },
  { title: 'EnvironmentChange', description: 'The new attributes of an environment.' }
)
export type EnvironmentChange = Static<typeof EnvironmentChange>

export const DeploymentParams = Type.Object({ ...projectParam, deployment_id: IdOf('the deployment') })
export const DeploymentListQuery = Type.Object(Paging)
