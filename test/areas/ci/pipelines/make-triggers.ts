import { nobody, originOf } from '../../../../src/access/actor.js'
import { createTrigger } from '../../../../src/areas/ci/pipelines/triggers.js'
import { viewTrigger } from '../../../../src/areas/ci/pipelines/triggers.view.js'
import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'

/** Makes a trigger of a project, and returns its token. */
export async function makeTrigger({ id }: { id: number }): Promise<string> {
  const project = await findProject(id, nobody)
  if (!project) throw new Error(`project ${id} does not exist`)
  return viewTrigger(await createTrigger(project, originOf(nobody, null))).token
}
