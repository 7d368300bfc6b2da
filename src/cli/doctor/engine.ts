// Checks the container engine of the Docker executor.
import { config } from '../../config.js'
import { Misconfigured } from '../../errors.js'
import { EngineRefused } from '../../runner/docker/engine.js'
import { checkEngineSettings, type EngineVersion, engineVersion } from '../../runner/docker/version.js'
import { Ailment, type Check } from './check.js'

export const engineCheck: Check = {
  name: 'engine',
  about: 'the container engine for builds answers, if runner.executor is docker',
  examine: async () => {
    const { executor, docker } = config().runner
    if (executor !== 'docker') return 'not needed: runner.executor is sandbox'
    const { text, lacks } = await version()
    if (lacks.length === 0) return `${text} answers at ${docker.socket}`
    throw new Ailment(
      `${text} cannot limit ${lacks.join(' and ')} for builds`,
      'allow it to use control groups; for a rootless engine, delegate them'
    )
  }
}

async function version(): Promise<EngineVersion> {
  try {
    checkEngineSettings()
    return await engineVersion()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Ailment(why, remedyOf(error))
  }
}

function remedyOf(error: unknown): string {
  if (error instanceof Misconfigured) return 'correct config.yaml, and check it with gitstead config check'
  if (error instanceof EngineRefused)
    return 'check that runner.docker.socket is the socket of Docker or of podman system service'
  return 'start it, let the user of the worker open its socket, or set runner.executor: sandbox; builds wait until then'
}
