/**
 * A try failed as tries may: the outside did not answer. The handler has recorded it and says when the next try is; null
 * means never. The queue counts the try as failed, and keeps the message as the error of the job.
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
