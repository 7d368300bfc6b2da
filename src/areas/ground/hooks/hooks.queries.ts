import { row, rows } from '../../../db/connect/sql.js'
import { DELIVERY_STATES } from './deliveries.schema.js'

/** The health of a hook's receiver, and the numbers of its pending and dead deliveries. */
export interface HookHealth {
  readonly id: number
  /** Failed attempts since the last success. */
  readonly failures: number
  readonly resting_until: Date | null
  readonly pending: number
  readonly dead: number
}

const countOf = (state: string) =>
  `(select count(*) from hook_deliveries d where d.hook_id = h.id and d.state = '${state}') as ${state}`
const COLUMNS = `h.id, h.failures, h.resting_until, ${countOf('pending')}, ${countOf('dead')}`

/** Returns the health of all system hooks by their ids. */
export async function hooksHealth(): Promise<Map<number, HookHealth>> {
  const found = await rows<HookHealth>(`select ${COLUMNS} from hooks h where h.project_id is null`)
  return new Map(found.map(health => [health.id, health]))
}

export function hookHealth(id: number): Promise<HookHealth | undefined> {
  return row<HookHealth>(`select ${COLUMNS} from hooks h where h.id = ? and h.project_id is null`, [id])
}

/** Returns the resting hooks of projects and of the appliance, and the number of all hooks. */
export async function restingHooks(): Promise<{
  hooks: number
  resting: (HookHealth & { readonly project_id: number | null })[]
}> {
  const [all, resting] = await Promise.all([
    row<{ count: number }>('select count(*) as count from hooks'),
    rows<HookHealth & { project_id: number | null }>(
      `select ${COLUMNS}, h.project_id from hooks h where h.resting_until is not null order by h.id`
    )
  ])
  return { hooks: all?.count ?? 0, resting }
}

/** Counts the deliveries by state, in an index. States without a delivery have 0. */
export async function countDeliveries(): Promise<Map<string, number>> {
  const found = await rows<{ state: string; count: number }>(
    'select state, count(*) as count from hook_deliveries group by state'
  )
  return new Map([
    ...DELIVERY_STATES.map(state => [state, 0] as const),
    ...found.map(({ state, count }) => [state, count] as const)
  ])
}

/** Counts the hooks whose last delivery failed. */
export async function countFailingHooks(): Promise<number> {
  return (await row<{ count: number }>('select count(*) as count from hooks where failures > 0'))?.count ?? 0
}
