// The record of a project that commands print. This file does not load TypeBox, which takes 0.1 s.
import { visibilityName } from '../../../lib/levels.js'
import { type CountedProject, requireCountedProject } from './all-projects.queries.js'

export const viewProjectLine = (project: CountedProject) => ({
  id: project.id,
  path_with_namespace: `${project.namespace_path}/${project.path}`,
  name: project.name,
  default_branch: project.default_branch,
  storage: project.storage,
  forked_from: project.forked_from,
  import_error: project.import_error,
  commit_count: project.commit_count,
  repository_size: project.repository_size,
  build_artifacts_size: project.build_artifacts_size,
  created_at: project.created_at,
  last_activity_at: project.last_activity_at,
  visibility: visibilityName(project.visibility_level),
  archived: project.archived === 1,
  import_status: project.import_state === 'waiting' ? 'scheduled' : project.import_state
})

/** Reads a project, and returns its record. Throws NotFound. */
export const projectLine = async (id: number) => viewProjectLine(await requireCountedProject(id))
