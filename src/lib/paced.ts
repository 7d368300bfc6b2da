export interface Pace {
  /** The reading may take this share of the time at most, such as 0.005. */
  readonly share: number
  /** Milliseconds for which a value is kept at least. */
  readonly least: number
}

/**
 * Returns a function that gives the last value of `read`, and reads again when the value is old enough: a reading that
 * takes longer is made more rarely. Callers wait only for the first value. A failed reading is tried again.
 */
export function paced<T>(read: () => Promise<T>, { share, least }: Pace, now = () => performance.now()) {
  let last: { readonly value: T; readonly until: number } | undefined
  let reading: Promise<T> | undefined
  const measure = async () => {
    const started = now()
    const value = await read()
    const ended = now()
    last = { value, until: ended + Math.max(least, (ended - started) / share) }
    return value
  }
  return async (): Promise<T> => {
    if (last && now() < last.until) return last.value
    reading ??= measure().finally(() => {
      reading = undefined
    })
    if (!last) return reading
    reading.catch(() => undefined)
    return last.value
  }
}
