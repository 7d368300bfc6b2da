import { type Column, table } from './table.js'

export interface ShownBroadcast {
  readonly id: number
  readonly message: string
  readonly starts_at: Date | string
  readonly ends_at: Date | string
  readonly color: string
  readonly font: string
  readonly active: boolean
}

export const BROADCAST_COLUMNS: readonly Column<ShownBroadcast>[] = [
  ['ID', message => message.id],
  ['ACTIVE', message => message.active],
  ['STARTS', message => new Date(message.starts_at)],
  ['ENDS', message => new Date(message.ends_at)],
  ['COLOR', message => message.color],
  ['FONT', message => message.font],
  ['MESSAGE', message => message.message]
]

export const broadcastTable = (messages: readonly ShownBroadcast[]): string => table(messages, BROADCAST_COLUMNS)
