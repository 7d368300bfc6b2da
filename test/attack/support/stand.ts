// Starts the appliance for the attacks.
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../helpers/until.js'
import { freePort, makeUser, startAppliance } from '../../scenarios/appliance.js'
import { askApi, remoteUrl } from '../../scenarios/client.js'
import type { Ground } from './attack.js'

/** The limits of one build, in MiB and seconds. The defaults would need too much of a test machine. */
export const BUILD_LIMITS = { memory: 256, disk: 256, seconds: 15 }

const environment = {
  GITSTEAD_RUNNER_MEMORY_LIMIT: String(BUILD_LIMITS.memory * 1_048_576),
  GITSTEAD_RUNNER_DISK_LIMIT: String(BUILD_LIMITS.disk * 1_048_576),
  GITSTEAD_RUNNER_TIMEOUT: String(BUILD_LIMITS.seconds)
}

/** Makes a home in `folder` with an administrator, and starts the appliance. */
export async function makeStand(folder: string, short: boolean): Promise<Ground> {
  const home = join(folder, 'home')
  const scratch = join(folder, 'scratch')
  mkdirSync(scratch)
  const { private_token: token } = await makeUser(home, 'root', ['--admin', '--projects-limit', '100000'])
  const appliance = await startAppliance({ home, port: await freePort(), environment })
  const { url } = appliance
  const ask: Ground['ask'] = (method, path, body, own = token) => askApi({ url, token: own }, method, path, body)
  let projects = 0
  return {
    url,
    home,
    token,
    appliance,
    short,
    ask,
    folder: () => mkdtempSync(join(scratch, 'attack-')),
    // On a busy machine, a statement may take too long, so that the answer is 503 and the client tries again.
    project: values =>
      until('a new project', async () => {
        const name = `target-${++projects}`
        const { status, json } = await ask<{ id: number }>('POST', '/projects', { name, ...values })
        if (status === 503) return undefined
        if (status !== 201) throw new Error(`POST /projects answered ${status}`)
        return { id: json.id, path: `root/${name}`, remote: remoteUrl(url, `root/${name}`, 'root', token) }
      })
  }
}
