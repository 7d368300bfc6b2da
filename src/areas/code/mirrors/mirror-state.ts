// What a mirror does, in one word, as its record and the commands show it.
import type { MirrorRow } from './mirrors.queries.js'

export const STATES = ['never', 'waiting', 'running', 'succeeded', 'partial', 'failed', 'stopped', 'disabled'] as const
type MirrorState = (typeof STATES)[number]

export function stateOf(row: MirrorRow): MirrorState {
  if (row.enabled === 0) return 'disabled'
  if (row.is_running === 1) return 'running'
  if (row.result !== null) return row.result
  return row.due_at === null ? 'never' : 'waiting'
}
