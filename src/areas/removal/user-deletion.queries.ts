import { row, rows } from '../../db/sql.js'

export interface BelongingsRow {
  keys: number
  emails: number
  tokens: number
  sessions: number
  identities: number
  memberships: number
}

export interface TracesRow {
  projects: number
  pipelines: number
  builds: number
  pushes: number
  audit_events: number
}

const OWN =
  "select p.id from projects p join namespaces n on n.id = p.namespace_id where n.kind = 'user' and n.owner_id = u.id"

/** What a user has; memberships are those outside of the user's own projects. */
export async function countBelongings(userId: number): Promise<BelongingsRow> {
  const found = await row<BelongingsRow>(
    `select
       (select count(*) from ssh_keys k where k.user_id = u.id) as \`keys\`,
       (select count(*) from emails e where e.user_id = u.id) as emails,
       (select count(*) from access_tokens t where t.user_id = u.id and t.kind = 'personal') as tokens,
       (select count(*) from sessions s where s.user_id = u.id) as sessions,
       (select count(*) from identities i where i.user_id = u.id) as identities,
       (select count(*) from members m where m.user_id = u.id
         and not (m.source_type = 'project' and m.source_id in (${OWN}))) as memberships
     from users u where u.id = ?`,
    [userId]
  )
  return found ?? { keys: 0, emails: 0, tokens: 0, sessions: 0, identities: 0, memberships: 0 }
}

/** What tells of a user outside of the user's own projects. Looks at all builds: for people who ask, not for pages. */
export async function countTraces(userId: number): Promise<TracesRow> {
  const outside = (table: string) =>
    `(select count(*) from ${table} x where x.user_id = u.id and x.project_id not in (${OWN}))`
  const found = await row<TracesRow>(
    `select
       (select count(*) from projects q where q.creator_id = u.id and q.id not in (${OWN})) as projects,
       ${outside('pipelines')} as pipelines, ${outside('builds')} as builds, ${outside('ref_changes')} as pushes,
       (select count(*) from audit_events a where a.actor_id = u.id) as audit_events
     from users u where u.id = ?`,
    [userId]
  )
  return found ?? { projects: 0, pipelines: 0, builds: 0, pushes: 0, audit_events: 0 }
}

/** Paths of the groups that have no owner but this user. */
export async function findGroupsOwnedAlone(userId: number): Promise<string[]> {
  const found = await rows<{ path: string }>(
    `select n.path from members m join namespaces n on n.id = m.source_id and n.kind = 'group'
     where m.source_type = 'namespace' and m.user_id = ? and m.access_level = 50
       and not exists (select 1 from members o where o.source_type = 'namespace' and o.source_id = m.source_id
         and o.access_level = 50 and o.user_id <> m.user_id)
     order by n.path`,
    [userId]
  )
  return found.map(({ path }) => path)
}
