/**
 * Waits for work, at most some seconds: then the controller aborts and the result is a rejection, whether or not the
 * work ends by that. What it still does must be harmless beside the next try.
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
    // Work that does not end must not keep a process that does.
    timer.unref()
  })
  try {
    await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}
