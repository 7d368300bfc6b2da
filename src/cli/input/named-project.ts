import { nobody } from '../../access/actor.js'
import { findProject, type ProjectRow } from '../../areas/projects/projects/projects.queries.js'
import { NoSuch } from '../../errors.js'

/** Returns the project with this NAMESPACE/PROJECT or number. Throws NoSuch. */
export async function requireNamedProject(name: string): Promise<ProjectRow> {
  const found = await findProject(name, nobody)
  if (!found) throw new NoSuch('project', name)
  return found
}
