// Rules about settings that only make sense together.
import type { Problem, ValuesOf } from '../lib/rules.js'
import type { SETTINGS } from './shape.js'

/** Returns the contradictions between settings that each fit their own rule. */
export function contradictionsIn({ runner }: ValuesOf<typeof SETTINGS>): Problem[] {
  const { socket, tls } = runner.docker
  if (!socket.startsWith('tcp:')) return []
  return Object.entries(tls).flatMap(([key, file]) => {
    const path = `runner.docker.tls.${key}`
    const why = 'anyone who reaches an engine by TCP without certificates is root on its machine'
    return file === null ? [{ path, text: `${path} must be a file when runner.docker.socket is tcp://: ${why}` }] : []
  })
}
