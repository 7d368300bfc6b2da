/**
 * Waits for `work`, at most `seconds`. After that it aborts the controller and rejects, even if the work continues. The rest
 * of the work must then be harmless while the next try runs.
 */
export async function withLimit(work: Promise<void>, seconds: number, controller: AbortController): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        const error = new Error(`the job did not end within ${seconds} s`)
        controller.abort(error)
        reject(error)
      },
      Math.min(seconds * 1000, 2 ** 31 - 1)
    )
    // The timer must not keep a process alive that has nothing else to do.
    timer.unref()
  })
  try {
    await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}
