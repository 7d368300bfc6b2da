// The filter `labels` of lists of issues and merge requests.
import type { Fragment } from '../../../access/membership.js'
import { marks } from '../../../db/connect/sql.js'
import type { TargetType } from '../participation/targets.js'

/** Returns the titles that a list filters by; empty without a filter. Not specified: how many. Titles after the first 50 are ignored. */
export const titlesOfFilter = (text: string | undefined): string[] =>
  [...new Set((text ?? '').split(',').map(title => title.trim()))].filter(title => title !== '').slice(0, 50)

/** Returns the condition that the target `alias` has a label with one of these titles, in any project or group. */
export const hasTitle = (type: TargetType, alias: string, titles: readonly string[]): Fragment => ({
  sql: `exists (select 1 from label_links k join labels l on l.id = k.label_id
    where k.target_type = '${type}' and k.target_id = ${alias}.id and l.title in (${marks(titles)}))`,
  values: titles
})

/**
 * Returns the condition that the target `alias` has one of these labels. `scanned` is for a statement that walks along
 * an index of the targets: the database would turn `exists` into a join that begins with the labels.
 */
export const hasLabel = (
  type: TargetType,
  alias: string,
  labelIds: readonly number[],
  { scanned = false } = {}
): Fragment => ({
  sql: `${scanned ? '0 < (select count(*)' : 'exists (select 1'} from label_links k where k.target_type = '${type}'
    and k.target_id = ${alias}.id and k.label_id in (${marks(labelIds)}))`,
  values: labelIds
})
