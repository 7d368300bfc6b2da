import type { Actor } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { readProjects } from './project-readings.js'
import { findShownProject, type ShownProjectRow } from './projects.queries.js'
import { viewProject } from './projects.view.js'

/** Returns the record of one project for this actor. It takes a row, or the id of a project that has just changed. */
export async function showProject(project: ShownProjectRow | number, actor: Actor) {
  const row = typeof project === 'number' ? await findShownProject(project, actor) : project
  if (!row) throw new NotFound('Project')
  return viewProject(row, actor, await readProjects([row], actor))
}
