import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { BroadcastMessage } from '../../../db/models/index.js'
import { BadParameters, Invalid, NotFound } from '../../../errors.js'
import { isHexColor } from '../../../lib/color.js'
import { parseMoment } from '../../../lib/moment.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import type { BroadcastRow } from './broadcasts.queries.js'
import type { BroadcastBody, BroadcastChange } from './broadcasts.schema.js'

const HOUR_MS = 3_600_000
const COLOR = '#E75E40'
const FONT = '#FFFFFF'

/** Adds a message. Throws Invalid, and BadParameters for a text that is not a time. */
export function createBroadcast(body: BroadcastBody, origin: Origin): Promise<BroadcastRow> {
  const now = new Date()
  const values = {
    message: '',
    startsAt: now,
    endsAt: new Date(now.getTime() + HOUR_MS),
    color: COLOR,
    font: FONT,
    ...valuesOf(body)
  }
  return transact(async () => {
    const message = await BroadcastMessage.create(values)
    const row = rowOf(message)
    await audit(origin, { action: 'broadcast.create', target: targetOf(row), changes: changesBetween(null, row) })
    return row
  })
}

/** Changes the given attributes of a message. Throws NotFound, and the errors of `createBroadcast`. */
export function updateBroadcast(id: number, body: BroadcastChange, origin: Origin): Promise<BroadcastRow> {
  const values = valuesOf(body)
  return transact(async () => {
    const message = await lockBroadcast(id)
    const before = rowOf(message)
    await message.update(values)
    const after = rowOf(message)
    const changes = changesBetween(before, after)
    if (Object.keys(changes).length > 0) {
      await audit(origin, { action: 'broadcast.update', target: targetOf(after), changes })
    }
    return after
  })
}

/** Deletes a message and returns it. Throws NotFound. */
export function deleteBroadcast(id: number, origin: Origin): Promise<BroadcastRow> {
  return transact(async () => {
    const message = await lockBroadcast(id)
    const row = rowOf(message)
    await message.destroy()
    await audit(origin, { action: 'broadcast.delete', target: targetOf(row), changes: changesBetween(row, null) })
    return row
  })
}

/** Returns only the given attributes. Not specified: a message may end before it begins; then nobody ever sees it. */
function valuesOf({ message, starts_at, ends_at, color, font }: BroadcastChange) {
  const errors: Record<string, string[]> = {}
  if (message !== undefined && message.trim() === '') errors.message = ["can't be blank"]
  for (const [name, value] of Object.entries({ starts_at, ends_at })) {
    if (value !== undefined && value.trim() === '') errors[name] = ["can't be blank"]
  }
  for (const [name, value] of Object.entries({ color, font })) {
    if (value && !isHexColor(value)) errors[name] = ['must be a valid color code']
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
  return {
    ...(message === undefined ? {} : { message }),
    ...(starts_at === undefined ? {} : { startsAt: timeOf('starts_at', starts_at) }),
    ...(ends_at === undefined ? {} : { endsAt: timeOf('ends_at', ends_at) }),
    ...(color === undefined ? {} : { color }),
    ...(font === undefined ? {} : { font })
  }
}

/** Reads a time. Throws BadParameters for a year that the column cannot hold on every server. */
function timeOf(name: string, text: string): Date {
  const time = parseMoment(text)
  const year = time?.getUTCFullYear() ?? 0
  if (!time || year < 1970 || year > 9999) throw new BadParameters(`${name} is invalid`)
  return time
}

async function lockBroadcast(id: number): Promise<BroadcastMessage> {
  const message = await BroadcastMessage.findByPk(id, { lock: true })
  if (!message) throw new NotFound()
  return message
}

const rowOf = ({ id, message, startsAt, endsAt, color, font }: BroadcastMessage): BroadcastRow => ({
  id,
  message,
  starts_at: startsAt,
  ends_at: endsAt,
  color,
  font
})

const targetOf = ({ id, message }: BroadcastRow) => ({ type: 'broadcast', id, name: message })
