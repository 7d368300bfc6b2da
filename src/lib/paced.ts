export interface Pace {
  /** The maximum share of the time that reading may take, such as 0.005. */
  readonly share: number
  /** The minimum time for which a value is kept, in milliseconds. */
  readonly least: number
}

/**
 * Returns a function that returns the last value of `read`, and reads again when the value is old enough: the longer a
 * read takes, the less often it runs. Callers wait only for the first value. A failed read is repeated.
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
