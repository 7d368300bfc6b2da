import { IdOf, Paging, projectParam, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

const url = Type.Optional(Text('where it can be visited: an http or https URL of at most 255 characters'))
/** The rule refuses it by name, as the requirement wants. */
const slug = Type.Optional(Text('refused: it is made from the name'))

export const EnvironmentParams = Type.Object({ ...projectParam, environment_id: IdOf('the environment') })
export const EnvironmentListQuery = Type.Object(Paging)
export const EnvironmentBody = Type.Object(
  { name: Text('its name: letters, digits, spaces and - _ / $ { } .'), external_url: url, slug },
  { title: 'EnvironmentBody', description: 'A new environment.' }
)
export type EnvironmentBody = Static<typeof EnvironmentBody>
export const EnvironmentChange = Type.Object(
  { name: Type.Optional(EnvironmentBody.properties.name), external_url: url, slug },
  { title: 'EnvironmentChange', description: 'What changes of an environment.' }
)
export type EnvironmentChange = Static<typeof EnvironmentChange>

export const DeploymentParams = Type.Object({ ...projectParam, deployment_id: IdOf('the deployment') })
export const DeploymentListQuery = Type.Object(Paging)
