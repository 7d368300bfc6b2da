import { rows } from '../../../../db/connect/sql.js'
import type { TargetType } from '../../../planning/participation/targets.js'

/** The limit of labels of one record whose subscribers are read. */
const MOST = 500

/** Returns the labels of an issue or merge request. */
export async function labelsOf(type: TargetType, id: number): Promise<readonly number[]> {
  const found = await rows<{ label_id: number }>(
    `select label_id from label_links where target_type = ? and target_id = ? order by label_id limit ${MOST}`,
    [type, id]
  )
  return found.map(({ label_id: label }) => label)
}
