// How many issues each label of a project has, of those that the asker can see.
import type { Actor } from '../../access/actor.js'
import { marks, padded, rows } from '../../db/sql.js'
import { addLabelCounts } from '../labels/label-readings.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { visibleIssues } from './issues.queries.js'

async function countIssuesOfLabels(project: ProjectRow, ids: readonly number[], actor: Actor) {
  if (!project.issues_enabled) return new Map()
  const visible = visibleIssues(project, actor)
  const list = padded(ids)
  const found = await rows<{ label_id: number; open: number; total: number }>(
    `select k.label_id, cast(sum(i.is_open) as signed) as open, count(*) as total
     from label_links k join issues i on i.id = k.target_id
     where k.target_type = 'Issue' and k.label_id in (${marks(list)}) and i.project_id = ? and ${visible.sql}
     group by k.label_id`,
    [...list, project.id, ...visible.values]
  )
  return new Map(
    found.map(({ label_id: id, open, total }) => [id, { open_issues_count: open, closed_issues_count: total - open }])
  )
}

addLabelCounts('issues', countIssuesOfLabels)
