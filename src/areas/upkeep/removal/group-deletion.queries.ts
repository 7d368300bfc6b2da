// Counts what the deletion of a group would remove, for people who are about to delete it.
import { row } from '../../../db/connect/sql.js'
import { projectsOfNamespace } from '../../ground/activity/project-snapshots.js'

export interface GroupDeletion {
  /** The paths of its projects, which are removed with their repositories, builds and files. */
  readonly projects: readonly string[]
  /** Memberships of the group and of its projects. */
  readonly members: number
  readonly access_requests: number
  readonly pipelines: number
  readonly builds: number
  /** Bytes of repositories and artifacts, by the last count of jobs. */
  readonly storage_size: number
  /** Projects of other namespaces that are shared with the group: they stay, and its members lose access to them. */
  readonly unshared_projects: number
}

const OWN = 'select p.id from projects p where p.namespace_id = n.id'
/** The condition that a row belongs to the group or to one of its projects. */
const OF_GROUP = `((x.source_type = 'namespace' and x.source_id = n.id)
  or (x.source_type = 'project' and x.source_id in (${OWN})))`

/** Returns what the deletion of a group would remove. It changes nothing. */
export async function deletionOfGroup(id: number): Promise<GroupDeletion> {
  const [projects, counts] = await Promise.all([
    projectsOfNamespace(id),
    row<Omit<GroupDeletion, 'projects'>>(
      `select (select count(*) from members x where ${OF_GROUP}) as members,
         (select count(*) from access_requests x where ${OF_GROUP}) as access_requests,
         (select count(*) from pipelines x where x.project_id in (${OWN})) as pipelines,
         (select count(*) from builds x where x.project_id in (${OWN})) as builds,
         (select cast(coalesce(sum(s.repository_size + s.build_artifacts_size), 0) as unsigned)
            from project_statistics s where s.project_id in (${OWN})) as storage_size,
         (select count(*) from project_group_links l where l.group_id = n.id) as unshared_projects
       from namespaces n where n.id = ?`,
      [id]
    )
  ])
  const none = { members: 0, access_requests: 0, pipelines: 0, builds: 0, storage_size: 0, unshared_projects: 0 }
  return { projects: projects.map(({ path_with_namespace: path }) => path), ...none, ...counts }
}
