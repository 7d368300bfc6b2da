// The keys of deliveries that a sysadmin asks for, beside those of events. A key is unique to its event and hook.
import { randomUUID } from 'node:crypto'

export const testKey = () => `test:${randomUUID()}`

/** `repetition` tells one from the other repetitions of the same delivery. */
export const redeliveryKey = (deliveryId: number, repetition: string) => `redelivery:${deliveryId}:${repetition}`

/** The delivery that this one repeats, or null. */
export function redeliveryOf(key: string): number | null {
  const [, id] = /^redelivery:(\d+):/.exec(key) ?? []
  return id === undefined ? null : Number(id)
}

/** Whether somebody waits for this one: it goes to a hook that rests as well. */
export const isAskedFor = (key: string) => /^(test|redelivery):/.test(key)
