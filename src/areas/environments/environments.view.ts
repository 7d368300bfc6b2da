// "Environment".
import type { Actor } from '../../access/actor.js'
import { described, IdOf, Nullable, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import type { ProjectReading } from '../projects/project-readings.js'
import type { ShownProjectRow } from '../projects/projects.queries.js'
import { Project, viewProject } from '../projects/projects.view.js'
import type { EnvironmentRow } from './environments.queries.js'

export const Environment = Type.Object(
  {
    id: IdOf('the environment'),
    name: Text('its name'),
    slug: Text('its name in the characters of host names; it never changes'),
    external_url: Nullable(Text('where it can be visited')),
    project: described(Project, 'its project')
  },
  { title: 'Environment', description: 'A place that builds deploy to.' }
)

/** Every environment of an answer is of the same project, whose facts are read once. */
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
