// "Deployment".
import { described, IdOf, Integer, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { viewJoinedUser } from '../../people/users/joined-user.js'
import { UserBasic } from '../../people/users/users.view.js'
import { Build, type BuildReading, viewBuild } from '../builds/builds.view.js'
import type { DeploymentRow } from './deployments.queries.js'

const EnvironmentOfDeployment = Type.Object(
  {
    id: IdOf('the environment'),
    name: Text('the name'),
    external_url: Nullable(Text('the URL of the deployed application'))
  },
  { title: 'DeploymentEnvironment', description: 'The environment of a deployment.' }
)

const { pipeline: _, ...ofBuild } = Build.properties
const Deployable = Type.Object(ofBuild, { title: 'Deployable', description: 'The build that deployed.' })

export const Deployment = Type.Object(
  {
    id: IdOf('the deployment'),
    iid: Integer('the number within the project'),
    ref: Text('the branch or tag'),
    sha: Text('the id of the commit'),
    created_at: Moment('when it was created'),
    user: Nullable(described(UserBasic, 'the user who started the build; null when the user was deleted')),
    environment: described(EnvironmentOfDeployment, 'the target of the deployment'),
    deployable: Nullable(described(Deployable, 'the build that deployed; null when it was deleted'))
  },
  { title: 'Deployment', description: 'A commit that a build deployed to an environment.' }
)

/** A deployment and its build, which is undefined when it was deleted. */
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
