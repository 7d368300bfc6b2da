// Issues that a sysadmin closes or reopens with a command. The feed has no author for that, so the audit keeps it.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { audit } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { closeIssue, reopenIssue } from './issues.js'
import { requireIssueByNumber } from './issues.queries.js'

/** Closes or reopens the issue with this number. Returns false when it is already in that state. Throws NoSuch. */
export async function changeIssueState(
  project: ProjectRow,
  number: number,
  event: 'close' | 'reopen',
  origin: Origin
): Promise<boolean> {
  const issue = await requireIssueByNumber(project.id, number)
  const by = origin.asker?.id ?? null
  return transact(async () => {
    const changed = await (event === 'close' ? closeIssue(issue.id, by) : reopenIssue(issue.id, by))
    if (changed) {
      const name = `${project.namespace_path}/${project.path}#${number}`
      await audit(origin, { action: `issue.${event}`, target: { type: 'issue', id: issue.id, name } })
    }
    return changed
  })
}
