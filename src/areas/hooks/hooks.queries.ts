import { row, rows } from '../../db/sql.js'

/** The health of a hook's receiver, and the numbers of its pending and dead deliveries. */
export interface HookHealth {
  readonly id: number
  /** Failed attempts since the last success. */
  readonly failures: number
  readonly resting_until: Date | null
  readonly pending: number
  readonly dead: number
}

const count = (state: string) =>
  `(select count(*) from hook_deliveries d where d.hook_id = h.id and d.state = '${state}') as ${state}`
const COLUMNS = `h.id, h.failures, h.resting_until, ${count('pending')}, ${count('dead')}`

/** Returns the health of all system hooks by their ids. */
export async function hooksHealth(): Promise<Map<number, HookHealth>> {
  const found = await rows<HookHealth>(`select ${COLUMNS} from hooks h where h.project_id is null`)
  return new Map(found.map(health => [health.id, health]))
}

export function hookHealth(id: number): Promise<HookHealth | undefined> {
  return row<HookHealth>(`select ${COLUMNS} from hooks h where h.id = ? and h.project_id is null`, [id])
}
