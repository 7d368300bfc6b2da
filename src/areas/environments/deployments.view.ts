// "Deployment".
import { described, IdOf, Integer, Moment, Nullable, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import { Build, type BuildReading, viewBuild } from '../builds/builds.view.js'
import { viewJoinedUser } from '../users/joined-user.js'
import { UserBasic } from '../users/users.view.js'
import type { DeploymentRow } from './deployments.queries.js'

const EnvironmentOfDeployment = Type.Object(
  {
    id: IdOf('the environment'),
    name: Text('its name'),
    external_url: Nullable(Text('where it can be visited'))
  },
  { title: 'DeploymentEnvironment', description: 'The environment of a deployment.' }
)

const { pipeline: _, ...ofBuild } = Build.properties
const Deployable = Type.Object(ofBuild, { title: 'Deployable', description: 'The build that deployed.' })

export const Deployment = Type.Object(
  {
    id: IdOf('the deployment'),
    iid: Integer('its number in the project'),
    ref: Text('the branch or tag'),
    sha: Text('the id of the commit'),
    created_at: Moment('when it was made'),
    user: Nullable(described(UserBasic, 'who started the build; null when that user is gone')),
    environment: described(EnvironmentOfDeployment, 'where it went'),
    deployable: Nullable(described(Deployable, 'the build that deployed; null when it is gone'))
  },
  { title: 'Deployment', description: 'A commit that a build has brought to an environment.' }
)

/** A deployment and its build, which is undefined when it is gone. */
export interface DeploymentReading {
  readonly deployment: DeploymentRow
  readonly build: BuildReading | undefined
}

export const viewDeployment = ({ deployment, build }: DeploymentReading) => ({
  id: deployment.id,
  iid: deployment.iid,
  ref: deployment.ref,
  sha: deployment.sha,
  created_at: deployment.created_at,
  user: viewJoinedUser(deployment),
  environment: {
    id: deployment.environment_id,
    name: deployment.environment_name,
    external_url: deployment.environment_url
  },
  deployable: build ? viewDeployable(build) : null
})

function viewDeployable(reading: BuildReading) {
  const { pipeline, ...build } = viewBuild(reading)
  return build
}
