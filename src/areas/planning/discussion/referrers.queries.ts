// Automatic notes name the place of a mention. Users who may not see that place must not learn about it.
import type { Actor } from '../../../access/actor.js'
import { type Fragment, projectsOfMember, visibleProjects } from '../../../access/membership.js'
import { REPORTER } from '../../../lib/levels.js'

/**
 * Returns the condition that the caller may see the note `n`: it is no automatic note about a mention, or the caller may read the
 * record that contains the mention. Each record is found by its id: the subqueries are single values, because the database may
 * turn `exists` and `in` into a search for all records that the caller may read.
 */
export function seenNotes(actor: Actor): Fragment {
  const parts = Object.entries(READABLE).map(([type, condition]) => {
    const { sql, values } = condition(actor)
    return { sql: `n.refers_type = '${type}' and (${sql}) = 1`, values }
  })
  return {
    sql: `(n.refers_type is null or ${parts.map(({ sql }) => sql).join(' or ')})`,
    values: parts.flatMap(({ values }) => values)
  }
}

/** For each type, a statement that returns 1 if the caller may read the record to which the note `n` refers. */
const READABLE = {
  Issue: readableIssue,
  MergeRequest: readableMergeRequest,
  Snippet: readableSnippet,
  Commit: actor => {
    const { sql, values } = visibleProjects(actor, REPORTER)
    return { sql: `select 1 from projects p where p.id = n.refers_project_id and ${sql}`, values }
  }
} as const satisfies { readonly [type: string]: (actor: Actor) => Fragment }

function readableIssue(actor: Actor): Fragment {
  const visible = visibleProjects(actor)
  const userId = actor.user?.id ?? 0
  const mine = projectsOfMember(userId)
  const secrets = actor.user?.admin
    ? { sql: '', values: [] }
    : {
        sql: ` and (not i.confidential or i.author_id = ? or i.assignee_id = ?
          or i.project_id in (select mine.id from (${mine.sql}) mine where mine.level >= ${REPORTER}))`,
        values: [userId, userId, ...mine.values]
      }
  return {
    sql: `select 1 from issues i join projects p on p.id = i.project_id
      where i.id = n.refers_id and p.issues_enabled and ${visible.sql}${secrets.sql}`,
    values: [...visible.values, ...secrets.values]
  }
}

function readableMergeRequest(actor: Actor): Fragment {
  const { sql, values } = visibleProjects(actor, REPORTER)
  return {
    sql: `select 1 from merge_requests m join projects p on p.id = m.target_project_id
      where m.id = n.refers_id and m.deleted_at is null and p.merge_requests_enabled and ${sql}`,
    values
  }
}

// Not specified: mentions in private and internal snippets are not shown to anyone.
function readableSnippet(actor: Actor): Fragment {
  const { sql, values } = visibleProjects(actor)
  return {
    sql: `select 1 from snippets s join projects p on p.id = s.project_id
      where s.id = n.refers_id and p.snippets_enabled and s.visibility_level = 20 and ${sql}`,
    values
  }
}
