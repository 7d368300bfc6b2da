// Rules about settings that only make sense together.
import type { Problem, ValuesOf } from '../lib/rules.js'
import type { SETTINGS } from './shape.js'

/** Returns the contradictions between settings that each fit their own rule. */
export function contradictionsIn({ runner, uploads, artifacts }: ValuesOf<typeof SETTINGS>): Problem[] {
  const found = dockerProblems(runner)
  if (uploads.bucket && artifacts.s3.bucket === null) {
    found.push({ path: 'uploads.bucket', text: 'uploads.bucket is true, but artifacts.s3.bucket names no bucket' })
  }
  return found
}

function dockerProblems(runner: ValuesOf<typeof SETTINGS>['runner']): Problem[] {
  const { socket, tls } = runner.docker
  if (!socket.startsWith('tcp:')) return []
  return Object.entries(tls).flatMap(([key, file]) => {
    const path = `runner.docker.tls.${key}`
    const why = 'anyone who reaches an engine by TCP without certificates is root on its machine'
    return file === null ? [{ path, text: `${path} must be a file when runner.docker.socket is tcp://: ${why}` }] : []
  })
}
