import { NotModified } from '../../../errors.js'

/** A form that is sent a second time changes nothing, and is no mistake of the visitor. */
export async function unlessDone(work: Promise<unknown>): Promise<void> {
  await work.catch(error => {
    if (!(error instanceof NotModified)) throw error
  })
}
