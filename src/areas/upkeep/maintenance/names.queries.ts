// Finds names of records for shell completion: few names, and by an index.
import { rows } from '../../../db/connect/sql.js'
import { likeText } from '../../../db/lists/conditions.js'

export interface NameRow {
  readonly name: string | number
  readonly about: string | null
}

/** More than anyone would read. */
const MOST = 100

const begins = (text: string) => `${likeText(text)}%`

export const namesOfUsers = (start: string) =>
  rows<NameRow>(`select username as name, name as about from users where username_key like lower(?) limit ${MOST}`, [
    begins(start)
  ])

export const namesOfGroups = (start: string) =>
  rows<NameRow>(
    `select path as name, name as about from namespaces where kind = 'group' and path_key like lower(?)
     order by path_key limit ${MOST}`,
    [begins(start)]
  )

/** Users and groups. */
export const namesOfNamespaces = (start: string) =>
  rows<NameRow>(`select path as name, name as about from namespaces where path_key like lower(?) limit ${MOST}`, [
    begins(start)
  ])

export const namesOfApplications = () =>
  rows<NameRow>(`select id as name, name as about from oauth_applications order by id desc limit ${MOST}`)

export function namesOfProjects(start: string): Promise<NameRow[]> {
  const [namespace = '', project] = start.split('/')
  // After the slash, the namespace is complete.
  const [condition, text] = project === undefined ? ['like lower(?)', begins(namespace)] : ['= lower(?)', namespace]
  return rows<NameRow>(
    `select concat(s.path, '/', p.path) as name, p.name as about from namespaces s join projects p on p.namespace_id = s.id
     where s.path_key ${condition} and p.path_key like lower(?) limit ${MOST}`,
    [text, begins(project ?? '')]
  )
}

/** Names of records that have members: groups, and after the slash the projects of a namespace. */
export const namesOfSources = async (start: string): Promise<NameRow[]> => {
  const projects = await namesOfProjects(start)
  return start.includes('/') ? projects : [...(await namesOfGroups(start)), ...projects].slice(0, MOST)
}

export const namesOfHooks = () =>
  rows<NameRow>(`select id as name, url as about from hooks where project_id is null order by id limit ${MOST}`)

export const namesOfBroadcasts = () =>
  rows<NameRow>(`select id as name, message as about from broadcast_messages order by id desc limit ${MOST}`)

/** Names may occur twice, so these are ids. */
export const namesOfMachines = () =>
  rows<NameRow>(`select left(uid, 8) as name, name as about from machines order by id limit ${MOST}`)

/** Failed jobs only: nobody completes the id of a job that ends in a moment. */
export const namesOfJobs = () =>
  rows<NameRow>(
    `select id as name, concat(name, ', ', state) as about from jobs where state in ('dead', 'delayed')
     order by id desc limit ${MOST}`
  )

export const namesOfBuilds = () =>
  rows<NameRow>(
    `select id as name, concat(name, ', ', status) as about from builds where status in ('pending', 'running')
     order by id desc limit ${MOST}`
  )

/** Builds that can be retried or erased. The index by id keeps this quick on millions of builds. */
export const namesOfEndedBuilds = () =>
  rows<NameRow>(
    `select id as name, concat(name, ', ', status) as about
     from (select id, name, status from builds order by id desc limit 1000) newest
     where status in ('success', 'failed', 'canceled') order by id desc limit ${MOST}`
  )

/** Builds that wait to be started by hand. */
export const namesOfManualBuilds = () =>
  rows<NameRow>(
    `select id as name, concat(name, ', ', status) as about
     from (select id, name, status, start_when from builds order by id desc limit 1000) newest
     where status = 'skipped' and start_when = 'manual' order by id desc limit ${MOST}`
  )

const pipelines = (statuses: string) => () =>
  rows<NameRow>(
    `select id as name, concat(ref, ', ', status) as about
     from (select id, ref, status from pipelines order by id desc limit 1000) newest
     where status in (${statuses}) order by id desc limit ${MOST}`
  )

export const namesOfRunningPipelines = pipelines("'created', 'pending', 'running'")
export const namesOfEndedPipelines = pipelines("'failed', 'canceled'")

export const namesOfRunners = () =>
  rows<NameRow>(`select id as name, description as about from runners order by id limit ${MOST}`)

export const namesOfSchedules = () =>
  rows<NameRow>(
    `select id as name, concat(cron, ' ', ref) as about from pipeline_schedules order by id desc limit ${MOST}`
  )

export const namesOfMirrors = () =>
  rows<NameRow>(`select id as name, concat(direction, ' ', url) as about from mirrors order by id desc limit ${MOST}`)
