// The keys of deliveries that a sysadmin requests; events have their own keys. A hook has one delivery for each key.
import { randomUUID } from 'node:crypto'

export const testKey = () => `test:${randomUUID()}`

/** Returns the key of a redelivery. `repetition` differs for each redelivery of the same delivery. */
export const redeliveryKey = (deliveryId: number, repetition: string) => `redelivery:${deliveryId}:${repetition}`

/** Returns the id of the delivery that this one repeats, or null. */
export function redeliveryOf(key: string): number | null {
  const [, id] = /^redelivery:(\d+):/.exec(key) ?? []
  return id === undefined ? null : Number(id)
}

/** Returns whether a sysadmin requested the delivery and waits for it. Such a delivery also goes to a resting hook. */
export const isRequested = (key: string) => /^(test|redelivery):/.test(key)
