// How many open merge requests each label of a project has.
import { may } from '../../access/authorize.js'
import { marks, padded, rows } from '../../db/sql.js'
import { addLabelCounts, type CountLabels } from '../labels/label-readings.js'

const countOpen: CountLabels = async (project, ids, actor) => {
  if (!may(actor, 'merge_request.read', project)) return new Map()
  const list = padded(ids)
  const found = await rows<{ label_id: number; open: number }>(
    `select k.label_id, count(*) as open from label_links k join merge_requests m on m.id = k.target_id
     where k.target_type = 'MergeRequest' and k.label_id in (${marks(list)}) and m.target_project_id = ? and m.is_open = true
     group by k.label_id`,
    [...list, project.id]
  )
  return new Map(found.map(({ label_id: id, open }) => [id, { open_merge_requests_count: open }]))
}

addLabelCounts('merge requests', countOpen)
