/**
 * An expected failure of a try: an external service did not answer. The handler has recorded the failure and chooses the time of
 * the next try; null means never. The queue counts the try as failed, and keeps the message as the error of the job.
 */
export class PlannedRetry extends Error {
  override name = 'PlannedRetry'

  constructor(
    message: string,
    readonly runAt: Date | null
  ) {
    super(message)
  }
}
