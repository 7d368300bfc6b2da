// The room of one build at a container engine; containers.ts describes how it works.
import { config } from '../../config.js'
import type { Room } from '../executor.js'
import type { ContainerWish } from '../job.js'
import { containerScript } from '../script.js'
import { type Run, StageFailure } from '../stages.js'
import { expand } from '../variables.js'
import { BUILDS, makeContainer, PROJECT, ranOut, runStep, writeInto } from './containers.js'
import { copyIn, copyOut, userOf } from './copy.js'
import { EngineRefused } from './engine.js'
import { getImage, type Image } from './images.js'
import { closeRoom, openRoom, type RoomKey } from './leftovers.js'
import { awaitService, hostsOf, makeNetwork, type Service, type StartedService, startService } from './services.js'
import type { Owner } from './tar.js'
import { watchContainers } from './watch.js'

type Base = Pick<Run, 'job' | 'port' | 'folders' | 'trace' | 'halt' | 'disk'>

/** For a process without an appliance, such as a test. */
const NOBODY = { instance: 'none', worker: 0 }

interface Furnished {
  readonly id: string
  readonly owner: Owner
  readonly values: Map<string, string>
}

export function dockerRoom(base: Base): Room {
  const { job, trace, halt } = base
  const { signal } = halt
  const room = openRoom(job.id, job.owner ?? NOBODY)
  let images: { readonly own: Image; readonly services: readonly Service[] } | undefined
  let furnished: Furnished | undefined
  let stopWatch: (() => Promise<void>) | undefined
  const container = () => {
    if (!furnished) throw new Error('the room is empty')
    return furnished
  }
  return {
    places: { builds: BUILDS, project: PROJECT, home: '/root' },
    prepare: async lookup => {
      images = await imagesOf(base, lookup)
      return { HOME: '/root', ...images.own.environment }
    },
    furnish: values =>
      named(async () => {
        if (!images) throw new Error('the images are not ready')
        const place = await startServices(base, room, images.services, values)
        const { own } = images
        const wanted = { image: own, entrypoint: job.image?.entrypoint ?? null, values, network: place.network }
        const id = await makeContainer(room, wanted, hostsOf(place.services), signal)
        stopWatch = watchContainers(base, [id, ...place.services.map(service => service.id)])
        const owner = await userOf(id, own.user, signal)
        const folder = (path: string) => ({ path: path.slice(1), content: null })
        await writeInto(id, [folder(BUILDS), folder(PROJECT)], owner, signal)
        await copyIn(base, id, owner)
        furnished = { id, owner, values }
      }, signal),
    run: (commands, values, until) =>
      named(async () => {
        const { id, owner, values: known } = container()
        const changed = new Map([...values].filter(([key, value]) => known.get(key) !== value))
        const script = containerScript(changed, commands)
        const code = await runStep(id, { script, owner, output: chunk => trace.output(chunk), signal: until })
        if (code !== undefined && code !== 0) await checkMemory(base, id)
        return code
      }, until),
    bringBack: () => named(() => copyOut(base, container().id), base.port.signal),
    close: async () => {
      await stopWatch?.().catch(() => undefined)
      // An unavailable engine keeps its containers; removeLeftovers finds them by their labels.
      await closeRoom(room).catch(() => undefined)
    }
  }
}

/** Turns a refusal of the engine into a failure of the runner with a name, which the trace shows. */
async function named<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof EngineRefused)) throw error
    throw new StageFailure('runner_system_failure', error.message, undefined, { cause: error })
  }
}

async function imagesOf(base: Base, lookup: (name: string) => string | undefined) {
  const { job, trace } = base
  const { image, max_services } = config().runner.docker
  const wishes = job.services ?? []
  if (wishes.length > max_services) {
    const text = `the build has ${wishes.length} services, and ${max_services} is the limit (runner.docker.max_services)`
    throw new StageFailure('script_failure', text)
  }
  const get = ({ name }: Pick<ContainerWish, 'name'>) => getImage(base, expand(name, lookup))
  const own = await get(job.image ?? { name: image })
  trace.line(`Using the image ${own.reference.full} (${own.id.replace(/^sha256:/, '').slice(0, 12)})`)
  const services: Service[] = []
  for (const wish of wishes) {
    const alias = wish.alias === null ? null : expand(wish.alias, lookup)
    services.push({ image: await get(wish), wish: { ...wish, alias } })
  }
  return { own, services }
}

/** A build without services has a network only when builds may use the network. */
async function startServices(base: Base, room: RoomKey, services: readonly Service[], values: Map<string, string>) {
  const { trace, halt } = base
  const started: StartedService[] = []
  if (services.length === 0 && !config().runner.network) return { network: null, services: started }
  const network = await makeNetwork(room, halt.signal)
  const site = { room, network, values, trace, signal: halt.signal }
  for (const service of services) started.push(await startService(service, [...started], site))
  for (const service of started) await awaitService(service, site)
  return { network, services: started }
}

async function checkMemory({ halt, trace }: Base, id: string): Promise<void> {
  if (halt.reason || !(await ranOut(id))) return
  const { memory_limit } = config().runner
  trace.line(
    `ERROR: the processes of the build use more than ${memory_limit} bytes of memory together; the build stops`
  )
  halt.now('memory_limit')
}
