// Archives or unarchives projects, for the two commands.

import { archiveProject } from '../../areas/projects/projects/project-update.js'
import { projectLine } from '../../areas/projects/projects/projects.line.js'
import { requireProject } from '../../areas/projects/projects/projects.queries.js'
import { doEach } from '../framework/each.js'
import { commandOrigin } from '../framework/origin.js'
import { withDatabase } from '../framework/with-database.js'

export interface Archiving {
  readonly archived: boolean
  readonly json: boolean
  /** Reports the result; `changed` is false when the project already had this state. */
  readonly report: (path: string, changed: boolean) => void
}

export const archiveProjects = (names: readonly string[], { archived, json, report }: Archiving) =>
  withDatabase(() =>
    doEach(names, json, async name => {
      const { id, archived: before } = await requireProject(name)
      await archiveProject({ id }, archived, commandOrigin())
      const project = await projectLine(id)
      report(project.path_with_namespace, (before === 1) !== archived)
      return project
    })
  )
