import { removeArtifact } from '../../../../storage/artifacts.js'
import { removeTrace } from '../../../../storage/traces.js'

/**
 * Removes the traces and archives of all attempts of a build. It counts one attempt more than the row: when a worker stops, the row
 * no longer counts its attempt.
 */
export async function removeBuildFiles({ id, attempt }: { readonly id: number; readonly attempt: number }) {
  for (let number = 1; number <= attempt + 1; number++) {
    const key = { build: id, attempt: number }
    await Promise.all([removeArtifact(key), removeTrace(key)])
  }
}
