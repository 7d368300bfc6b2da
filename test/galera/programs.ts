import { execFileSync } from 'node:child_process'
import { root } from '../scenarios/appliance.js'

/** Installs the programs of a cluster, which the appliance itself does not need. */
export function installPrograms(): void {
  execFileSync(process.execPath, [`${root}/scripts/setup.mjs`, '--cluster', '--no-build'], { stdio: 'inherit' })
}
