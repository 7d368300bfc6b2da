// Archives projects, or takes them out of the archive, for the two commands.

import { describeProject } from '../areas/projects/describe-project.js'
import { archiveProject } from '../areas/projects/project-update.js'
import { requireProject } from '../areas/projects/projects.queries.js'
import { doEach } from './each.js'
import { commandOrigin } from './origin.js'
import { withDatabase } from './with-database.js'

export interface Archiving {
  readonly archived: boolean
  readonly json: boolean
  /** Says what became of the project; `changed` is false when it was so before. */
  readonly tell: (path: string, changed: boolean) => void
}

export const archiveProjects = (names: readonly string[], { archived, json, tell }: Archiving) =>
  withDatabase(() =>
    doEach(names, json, async name => {
      const { id, archived: before } = await requireProject(name)
      await archiveProject({ id }, archived, commandOrigin())
      const project = await describeProject(String(id))
      tell(project.path_with_namespace, (before === 1) !== archived)
      return project
    })
  )
