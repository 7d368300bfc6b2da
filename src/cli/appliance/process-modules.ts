import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../config.js'

export type ProcessName = 'server' | 'worker'

/** The file that joins the modules (scripts/bundle.mjs). A build for named tests has none, and may remove it while the appliance runs. */
export function moduleOf(name: ProcessName): string {
  const joined = join(root, 'dist/bundle', name, 'main.js')
  return existsSync(joined) ? joined : join(root, 'dist/src', name, 'process.js')
}
