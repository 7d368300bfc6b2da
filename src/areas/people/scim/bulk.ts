// Many operations in one request (RFC 7644, 3.7). Each is a transaction of its own: one that fails does not stop the others.
import type { Origin } from '../../../access/actor.js'
import { Failure, NotFound, TooLarge } from '../../../errors.js'
import type { InputSchema } from '../../../lib/coerce.js'
import { validator } from '../../../lib/validate.js'
import { log } from '../../../log.js'
import { ERROR, ScimFailure, scimError } from './failures.js'
import { KINDS, type KindName, numberOf } from './kinds.js'
import { type Bulk, type BulkOperation, Patch } from './scim.schema.js'
import { locationOf } from './user-resource.js'
import { tagOf } from './versions.js'

const BULK_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse'

/** Creating a user takes some 20 ms, so a request takes a few seconds at most. */
export const MOST_OPERATIONS = 100
export const LARGEST_BULK = 1_048_576

/** Levels of a value in which references are replaced: those of members in an operation of a PATCH, and some more. */
const DEEPEST = 8

interface Answer {
  readonly method: string
  readonly bulkId?: string
  readonly location?: string
  readonly version?: string
  readonly status: string
  readonly response?: object
}

/** An operation that names a resource that does not exist, at least yet. */
class Unresolved extends Failure {
  constructor(readonly bulkId: string) {
    super(`bulkId:${bulkId} names no resource that this request has created`)
  }
}

/**
 * Runs the operations in their order, except that one which refers to a resource that is created later waits for it. After
 * `failOnErrors` failures, the others do not run. Throws TooLarge and ScimFailure.
 */
export async function runBulk({ Operations: operations, failOnErrors }: Bulk, origin: Origin): Promise<object> {
  if (operations.length > MOST_OPERATIONS) {
    throw new TooLarge(`a request has at most ${MOST_OPERATIONS} operations`)
  }
  const ids = operations.flatMap(({ bulkId }) => (bulkId === undefined ? [] : [bulkId]))
  if (new Set(ids).size < ids.length) throw new ScimFailure('invalidValue', 'two operations have the same bulkId')
  const answers = await new Run(origin, failOnErrors ?? Number.POSITIVE_INFINITY).all(operations)
  const sorted = operations.flatMap(operation => answers.get(operation) ?? [])
  return { schemas: [BULK_RESPONSE], Operations: sorted }
}

class Run {
  readonly #created = new Map<string, string>()
  readonly #answers = new Map<BulkOperation, Answer>()
  #failures = 0

  constructor(
    private readonly origin: Origin,
    private readonly mostFailures: number
  ) {}

  async all(operations: readonly BulkOperation[]): Promise<ReadonlyMap<BulkOperation, Answer>> {
    for (let left = operations; left.length > 0 && this.#failures < this.mostFailures; ) {
      const later = await this.#round(left, true)
      left = later.length < left.length ? later : await this.#round(later, false)
    }
    return this.#answers
  }

  /** Returns the operations that wait for others. */
  async #round(operations: readonly BulkOperation[], mayWait: boolean): Promise<BulkOperation[]> {
    const [waiting, later] = [new Set(operations.map(({ bulkId }) => bulkId)), [] as BulkOperation[]]
    for (const operation of operations) {
      if (this.#failures >= this.mostFailures) return []
      try {
        this.#answers.set(operation, await this.#one(operation))
      } catch (error) {
        if (mayWait && error instanceof Unresolved && waiting.has(error.bulkId)) {
          later.push(operation)
          continue
        }
        this.#failures += 1
        this.#answers.set(operation, failureOf(operation, error))
      }
      waiting.delete(operation.bulkId)
    }
    return later
  }

  async #one({ method, path, bulkId, version: match, data }: BulkOperation): Promise<Answer> {
    const [name, target] = placeOf(path)
    const kind = KINDS[name]
    const about = { method: method.toUpperCase(), ...(bulkId !== undefined && { bulkId }) }
    const body = this.#resolved(data, 0)
    if (about.method === 'POST') {
      if (target !== undefined) throw new ScimFailure('invalidPath', 'POST is for /Users and /Groups')
      if (bulkId === undefined) throw new ScimFailure('invalidValue', 'POST needs a bulkId')
      const id = await kind.create(requireObject(body), this.origin)
      this.#created.set(bulkId, String(id))
      return { ...about, ...(await this.#state(name, id)), status: '201' }
    }
    if (target === undefined) throw new ScimFailure('invalidPath', `${about.method} needs the id of a resource`)
    const id = numberOf(String(this.#resolved(target, 0)))
    const change = { origin: this.origin, match }
    if (about.method === 'DELETE') {
      await kind.remove(id, change)
      return { ...about, location: locationOf(name, id), status: '204' }
    }
    if (about.method === 'PUT') await kind.replace(id, requireObject(body), change)
    else if (about.method === 'PATCH') await kind.patch(id, requirePatch(body).Operations, change)
    else throw new ScimFailure('invalidSyntax', 'a method is POST, PUT, PATCH or DELETE')
    return { ...about, ...(await this.#state(name, id)), status: '200' }
  }

  async #state(name: KindName, id: number): Promise<{ location: string; version: string }> {
    const found = await KINDS[name].find(id)
    if (!found) throw new NotFound()
    return { location: locationOf(name, id), version: tagOf(found.version) }
  }

  /** Replaces each `bulkId:NAME` by the id of the resource that the operation with this name has created. Throws Unresolved. */
  #resolved(value: unknown, depth: number): unknown {
    if (typeof value === 'string' && value.startsWith('bulkId:')) {
      const bulkId = value.slice('bulkId:'.length)
      const id = this.#created.get(bulkId)
      if (id === undefined) throw new Unresolved(bulkId)
      return id
    }
    if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
    if (Array.isArray(value)) return value.map(each => this.#resolved(each, depth + 1))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#resolved(each, depth + 1)]))
  }
}

function placeOf(path: string): [KindName, string | undefined] {
  const [, name, target] = /^\/(Users|Groups)(?:\/([^/]+))?$/.exec(path) ?? []
  if (name !== 'Users' && name !== 'Groups')
    throw new ScimFailure('invalidPath', 'a path is such as /Users or /Groups/7')
  return [name, target]
}

function requireObject(data: unknown): object {
  if (typeof data !== 'object' || data === null) throw new ScimFailure('invalidSyntax', 'data must have attributes')
  return data
}

const validPatch = validator(Patch as InputSchema)

function requirePatch(data: unknown): Patch {
  const found = validPatch(data)
  if (found.wrong) throw new ScimFailure('invalidSyntax', 'data must have Operations')
  return found.value as Patch
}

function failureOf({ method, path, bulkId }: BulkOperation, error: unknown): Answer {
  const found =
    error instanceof Unresolved ? scimError(new ScimFailure('invalidValue', error.message)) : scimError(error)
  if (!found) log().error({ error }, 'an operation of a bulk request failed')
  const [, name, id] = /^\/(Users|Groups)\/(\d{1,10})$/.exec(path) ?? []
  const failed = { schemas: [ERROR], status: '500', detail: 'The server has failed' }
  return {
    method: method.toUpperCase(),
    ...(bulkId !== undefined && { bulkId }),
    ...(id !== undefined && { location: locationOf(name as KindName, Number(id)) }),
    status: String(found?.status ?? 500),
    response: found?.body ?? failed
  }
}
