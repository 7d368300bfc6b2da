// The CI events that the hooks of a project subscribe to. Every change of a build reads them, so that no event is
// published without a receiver.
import { row } from '../../../db/connect/sql.js'

export interface WantedEvents {
  readonly build: boolean
  readonly pipeline: boolean
}

/** 1 when a hook or a service wants the events, otherwise 0. */
export interface WantedColumns {
  readonly build_hooks: number
  readonly pipeline_hooks: number
}

const exists = (flag: string, project: string) =>
  `exists (select 1 from hooks h where h.project_id = ${project} and h.enabled and h.${flag})`

/** The service sends mail about builds. */
const mailed = (project: string) =>
  `exists (select 1 from services s where s.project_id = ${project} and s.slug = 'builds-email' and s.active)`

/** The columns of WantedColumns for a statement that reads the id of the project from the column `project`. */
export const wantedColumns = (project: string): string =>
  `(${exists('build_events', project)} or ${mailed(project)}) as build_hooks, ${exists('pipeline_events', project)} as pipeline_hooks`

export const wantedIn = ({ build_hooks, pipeline_hooks }: WantedColumns): WantedEvents => ({
  build: build_hooks === 1,
  pipeline: pipeline_hooks === 1
})

/** Returns the CI events that the hooks of a project subscribe to. */
export async function wantedEvents(projectId: number): Promise<WantedEvents> {
  const found = await row<WantedColumns>(`select ${wantedColumns('p.id')} from projects p where p.id = ?`, [projectId])
  return found ? wantedIn(found) : { build: false, pipeline: false }
}
