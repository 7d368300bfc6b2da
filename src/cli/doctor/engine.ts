// Checks the container engine of the Docker executor.
import { config } from '../../config.js'
import { EngineRefused } from '../../runner/docker/engine.js'
import { parseReference } from '../../runner/docker/images.js'
import { type EngineVersion, engineVersion } from '../../runner/docker/version.js'
import { Ailment, type Check } from './check.js'

export const engineCheck: Check = {
  name: 'engine',
  about: 'the container engine for builds answers, if runner.executor is docker',
  examine: async () => {
    const { executor, docker } = config().runner
    if (executor !== 'docker') return 'not needed: runner.executor is sandbox'
    if (!parseReference(docker.image))
      throw new Ailment(
        `runner.docker.image: ${docker.image} is not the name of an image`,
        'name one such as debian:12'
      )
    const { text, lacks } = await version()
    if (lacks.length === 0) return `${text} answers at ${docker.socket}`
    throw new Ailment(
      `${text} cannot limit ${lacks.join(' and ')} of builds`,
      'let it use control groups: a rootless engine needs them delegated'
    )
  }
}

async function version(): Promise<EngineVersion> {
  try {
    return await engineVersion()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const remedy =
      error instanceof EngineRefused
        ? 'look whether runner.docker.socket is the socket of Docker or of podman system service'
        : 'start it, let the user of the worker open its socket, or set runner.executor: sandbox; builds wait meanwhile'
    throw new Ailment(why, remedy)
  }
}
