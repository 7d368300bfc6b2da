// Services of a build: additional containers on a network of this build only.
import { connect as connectTo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { config } from '../../config.js'
import type { ContainerWish } from '../job.js'
import type { Trace } from '../trace.js'
import { expand } from '../variables.js'
import { createContainer, hostConfig, lookAt, startContainer } from './containers.js'
import { ask, oneLine, send } from './engine.js'
import { contentOf } from './frames.js'
import type { Image } from './images.js'
import type { RoomKey } from './leftovers.js'

export interface Service {
  readonly image: Image
  readonly wish: ContainerWish
}

export interface StartedService {
  readonly id: string
  readonly name: string
  readonly aliases: readonly string[]
  readonly address: string
  readonly ports: readonly number[]
}

interface Site {
  readonly room: RoomKey
  readonly network: string
  readonly values: Map<string, string>
  readonly trace: Trace
  readonly signal: AbortSignal
}

/** Not every engine has names on networks, so containers get a hosts file with the services that started before them. */
export const hostsOf = (services: readonly StartedService[]) =>
  services.flatMap(({ aliases, address }) => (address === '' ? [] : aliases.map(alias => `${alias}:${address}`)))

const HOST_NAME = /^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$/i
const PAUSE_MS = 250
/** Milliseconds for one connection. An address that takes longer is not within reach of this machine. */
const REACH_MS = 1000
/** The last bytes of a service's log that the trace shows when it has ended. */
const LOG_BYTES = 4096
const LOG_LINES = '20'

/** Makes the network of a build. Returns its name. */
export async function makeNetwork({ name, labels }: RoomKey, signal: AbortSignal): Promise<string> {
  const json = { Name: name, Driver: 'bridge', Internal: !config().runner.network, Labels: labels }
  await ask({ method: 'POST', path: '/networks/create', json, signal })
  return name
}

/** The names under which scripts reach a service: its alias, or its image's name with the slashes replaced. */
function aliasesOf({ image, wish }: Service): string[] {
  const own = (wish.alias ?? '').split(/[\s,]+/)
  const path = image.reference.name.replace(/^docker\.io\/(library\/)?/, '').replace(/:\d+\//, '/')
  const names = [...own, path.replaceAll('/', '__'), path.replaceAll('/', '-')]
  return [...new Set(names)].filter(name => HOST_NAME.test(name) && name !== 'localhost')
}

/** The variables of the job, overridden by those of the service. */
function valuesOf({ variables = [] }: ContainerWish, values: Map<string, string>): Map<string, string> {
  const own = variables.map(
    ({ key, value, raw }) => [key, raw ? value : expand(value, name => values.get(name))] as const
  )
  return new Map([...values, ...own])
}

/** Starts a service after the `earlier` ones. Throws EngineAway, EngineRefused and StageFailure. */
export async function startService(
  service: Service,
  earlier: readonly StartedService[],
  site: Site
): Promise<StartedService> {
  const { room, network, values, trace, signal } = site
  const { image, wish } = service
  const aliases = aliasesOf(service)
  trace.line(`Starting the service ${image.reference.full} as ${aliases.join(', ')}`)
  const log = { Type: 'json-file', Config: { 'max-size': '1m' } }
  const memory = config().runner.docker.service_memory_limit
  const own = {
    ...(wish.entrypoint && { Entrypoint: wish.entrypoint }),
    ...(wish.command && { Cmd: wish.command }),
    HostConfig: { ...hostConfig(network, memory), ExtraHosts: hostsOf(earlier), LogConfig: log }
  }
  const wanted = { image, entrypoint: null, values: valuesOf(wish, values), network }
  const id = await createContainer(room, `${room.name}-${earlier.length + 1}`, wanted, signal, own, aliases)
  await startContainer(id, `the service ${image.reference.full}`, signal)
  const { NetworkSettings } = await lookAt(id, signal)
  const address = NetworkSettings.Networks?.[network]?.IPAddress ?? ''
  return { id, name: image.reference.full, aliases, address, ports: image.ports }
}

/**
 * Waits until a service reports that it is healthy, or accepts connections at its first port; a service without a health check
 * and a port needs no wait. A service that is not ready in time gets a warning, and the build continues: it may not need it yet.
 */
export async function awaitService(service: StartedService, { trace, signal }: Site): Promise<void> {
  const limit = config().runner.docker.service_timeout
  const end = Date.now() + limit * 1000
  for (let reachable = true; Date.now() < end; await delay(PAUSE_MS, undefined, { signal })) {
    const { State } = await lookAt(service.id, signal)
    if (!State.Running) {
      trace.line(`WARNING: the service ${service.name} has ended:`)
      return trace.output(Buffer.from(`${await lastLines(service.id, signal)}\n`))
    }
    const health = State.Health?.Status ?? ''
    if (health === 'healthy') return
    if (health !== '' && health !== 'none') continue
    const port = service.ports[0]
    // At an engine on another machine, the port cannot be checked.
    if (port === undefined || !reachable || !config().runner.docker.socket.startsWith('unix:')) return
    const found = await knock(service.address, port)
    if (found === 'open') return
    reachable = found === 'closed'
  }
  trace.line(`WARNING: the service ${service.name} was not ready within ${limit} seconds`)
}

function knock(host: string, port: number): Promise<'open' | 'closed' | 'nobody'> {
  return new Promise(resolve => {
    const socket = connectTo({ host, port, timeout: REACH_MS })
    const settle = (outcome: 'open' | 'closed' | 'nobody') => {
      socket.destroy()
      resolve(outcome)
    }
    socket.once('connect', () => settle('open'))
    socket.once('timeout', () => settle('nobody'))
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code === 'ECONNREFUSED' ? 'closed' : 'nobody'))
  })
}

async function lastLines(id: string, signal: AbortSignal): Promise<string> {
  const query = { stdout: 'true', stderr: 'true', tail: LOG_LINES }
  let text = Buffer.alloc(0) as Buffer
  try {
    const answer = await send({ method: 'GET', path: `/containers/${id}/logs`, query, signal })
    for await (const part of contentOf(answer)) text = Buffer.concat([text, part]).subarray(-LOG_BYTES)
  } catch (error) {
    return `(its log cannot be read: ${oneLine(String(error))})`
  }
  return text.toString('latin1').trimEnd()
}
