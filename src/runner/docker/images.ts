// Images: their names, which of them builds may use, and how the engine gets them.
import { createInterface } from 'node:readline'
import { config } from '../../config.js'
import { fileMatcher } from '../../lib/glob.js'
import type { Run } from '../stages.js'
import { StageFailure } from '../stages.js'
import { askIfThere, EngineRefused, oneLine, send } from './engine.js'

/** The name of an image, with all the parts that people omit. */
export interface Reference {
  /** With the registry: `docker.io/library/ruby`. */
  readonly name: string
  /** A tag or a digest. */
  readonly version: string
  /** The full name, such as `docker.io/library/ruby:2.1`. */
  readonly full: string
}

/** What the runner needs to know about an image. */
export interface Image {
  readonly id: string
  readonly reference: Reference
  readonly environment: Readonly<Record<string, string>>
  readonly user: string
  /** The ports that the image declares. */
  readonly ports: readonly number[]
}

const HUB = 'docker.io'
const PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const REGISTRY = '(?:localhost|[a-zA-Z0-9-]+(?:\\.[a-zA-Z0-9-]+)+|[a-zA-Z0-9.-]+(?=:\\d))(?::\\d{1,5})?'
const SHAPE = new RegExp(
  `^(?:(${REGISTRY})/)?(${PART}(?:/${PART})*)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`
)
const LONGEST_NAME = 512

/** Reads the name of an image; undefined when it is not one. As in Docker, a name without a registry belongs to Docker Hub. */
export function parseReference(text: string): Reference | undefined {
  const found = text.length > LONGEST_NAME ? null : SHAPE.exec(text)
  if (!found) return undefined
  const [, registry = HUB, path = '', tag = 'latest', digest] = found
  const isHub = registry === HUB || registry === 'index.docker.io'
  const name = `${isHub ? HUB : registry}/${isHub && !path.includes('/') ? `library/${path}` : path}`
  return { name, version: digest ?? tag, full: digest ? `${name}@${digest}` : `${name}:${tag}` }
}

/**
 * Returns true when builds may use the image. A pattern matches the whole name, or for images of Docker Hub also the short
 * name as Docker writes it; a pattern without a tag matches all tags.
 */
export function isAllowed({ name, full }: Reference): boolean {
  const { image, allowed_images } = config().runner.docker
  if (parseReference(image)?.full === full) return true
  const short = (text: string) => text.replace(/^docker\.io\/(library\/)?/, '')
  const texts = [full, name, ...(name.startsWith(`${HUB}/`) ? [short(full), short(name)] : [])]
  const matches = fileMatcher(allowed_images)
  return texts.some(matches)
}

/** Makes sure that the engine has an image. Throws StageFailure when the name is wrong or not allowed, or the image unavailable. */
export async function getImage({ trace, halt }: Pick<Run, 'trace' | 'halt'>, text: string): Promise<Image> {
  const reference = parseReference(text)
  const failure = (why: string) => new StageFailure('image_pull_failure', why)
  if (!reference) throw failure(`${JSON.stringify(text.slice(0, LONGEST_NAME))} is not the name of an image`)
  const { full } = reference
  if (!isAllowed(reference))
    throw failure(`builds may not use the image ${full}: an administrator can list it in runner.docker.allowed_images`)
  const { signal } = halt
  const { pull } = config().runner.docker
  const known = pull === 'always' ? undefined : await inspect(reference, signal)
  if (known) return known
  if (pull === 'never') throw failure(`the engine does not have the image ${full}, and runner.docker.pull is never`)
  trace.line(`Pulling the image ${full}`)
  try {
    await pullImage(reference, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof EngineRefused)) throw error
    throw failure(`the image ${full} could not be pulled: ${error.message}`)
  }
  const pulled = await inspect(reference, signal)
  if (!pulled) throw failure(`the engine pulled the image ${full} and does not have it`)
  return pulled
}

interface ImageRecord {
  readonly Id: string
  readonly Config: {
    readonly Env?: readonly string[] | null
    readonly User?: string | null
    readonly ExposedPorts?: Readonly<Record<string, object>> | null
  } | null
}

async function inspect(reference: Reference, signal: AbortSignal): Promise<Image | undefined> {
  const found = await askIfThere<ImageRecord>({ method: 'GET', path: `/images/${reference.full}/json`, signal })
  if (!found) return undefined
  const { Env, User, ExposedPorts } = found.Config ?? {}
  const pairs = (Env ?? []).map(text => [text.split('=', 1)[0] ?? '', text.slice(text.indexOf('=') + 1)] as const)
  const ports = Object.keys(ExposedPorts ?? {}).filter(port => port.endsWith('/tcp'))
  return {
    id: found.Id,
    reference,
    environment: Object.fromEntries(pairs),
    user: User ?? '',
    ports: ports.map(port => Number.parseInt(port, 10))
  }
}

/** Makes the engine pull an image. The engine reports progress and failures as JSON, one line each. */
async function pullImage({ name, version }: Reference, signal: AbortSignal): Promise<void> {
  const limit = config().runner.docker.pull_timeout
  const clock = AbortSignal.timeout(limit * 1000)
  const both = AbortSignal.any([signal, clock])
  const query = { fromImage: name, tag: version }
  try {
    const answer = await send({ method: 'POST', path: '/images/create', query, signal: both, patient: true })
    for await (const line of createInterface({ input: answer })) {
      const error = errorIn(line)
      if (error) throw new EngineRefused(500, error)
    }
    both.throwIfAborted()
  } catch (error) {
    if (clock.aborted && !signal.aborted) throw new EngineRefused(504, `the pull took longer than ${limit} seconds`)
    throw error
  }
}

function errorIn(line: string): string | undefined {
  try {
    const { error } = JSON.parse(line)
    return error === undefined || error === '' ? undefined : oneLine(String(error))
  } catch {
    return undefined
  }
}
