import { row, rows } from '../../db/sql.js'

/** How a hook's receiver does, and what waits for it or was lost. */
export interface HookHealth {
  id: number
  /** Tries that failed since the last one that did not. */
  failures: number
  resting_until: Date | null
  pending: number
  dead: number
}

const count = (state: string) =>
  `(select count(*) from hook_deliveries d where d.hook_id = h.id and d.state = '${state}') as ${state}`
const COLUMNS = `h.id, h.failures, h.resting_until, ${count('pending')}, ${count('dead')}`

/** Of all system hooks, by their numbers. */
export async function hooksHealth(): Promise<Map<number, HookHealth>> {
  const found = await rows<HookHealth>(`select ${COLUMNS} from hooks h where h.project_id is null`)
  return new Map(found.map(health => [health.id, health]))
}

export function hookHealth(id: number): Promise<HookHealth | undefined> {
  return row<HookHealth>(`select ${COLUMNS} from hooks h where h.id = ? and h.project_id is null`, [id])
}
