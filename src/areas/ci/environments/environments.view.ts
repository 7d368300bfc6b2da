// "Environment".
import type { Actor } from '../../../access/actor.js'
import { described, IdOf, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { ProjectReading } from '../../projects/projects/project-readings.js'
import type { ShownProjectRow } from '../../projects/projects/projects.queries.js'
import { Project, viewProject } from '../../projects/projects/projects.view.js'
import type { EnvironmentRow } from './environments.queries.js'

export const Environment = Type.Object(
  {
    id: IdOf('the environment'),
    name: Text('the name'),
    slug: Text('the name in the characters of host names; it never changes'),
    external_url: Nullable(Text('the URL of the deployed application')),
    project: described(Project, 'the project')
  },
  { title: 'Environment', description: 'A place that builds deploy to.' }
)

/** All environments of a response belong to the same project, which is read once. */
export const viewEnvironmentFor = (project: ShownProjectRow, actor: Actor, reading: ProjectReading) => {
  const record = viewProject(project, actor, reading)
  return (row: EnvironmentRow) => viewEnvironment(row, record)
}

export const viewEnvironment = (
  { id, name, slug, external_url }: EnvironmentRow,
  project: ReturnType<typeof viewProject>
) => ({
  id,
  name,
  slug,
  external_url,
  project
})
