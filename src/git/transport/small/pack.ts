// Reads the pack of a small push in memory, within limits on its objects and their bytes. A client controls every byte: a
// pack that is not plain and correct is left to git, which also says what is wrong with it.
import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { type LooseObject, makeObject } from '../../objects/loose-writer.js'
import { applyDelta, deltaSizes } from '../../objects/odb/delta.js'
import { LeaveToGit } from '../../objects/odb/leave-to-git.js'
import { entryIn } from '../../objects/odb/pack.js'
import type { ObjectType } from '../../objects/reader.js'
import { nextPiece } from '../../objects/time-slices.js'

/** Git keeps a pack of 100 objects as it is. */
const MOST_OBJECTS = 99
/** The maximum number of bytes of all objects, their deltas and the bases of these. */
const MOST_BYTES = 1024 * 1024
/** Other work runs after so many bytes: about a millisecond of work. */
const PIECE = 128 * 1024

const HEADER = 12
const CHECKSUM = 20
/** `PACK` and the version 2. */
const SIGNATURE = Buffer.from('PACK\0\0\0\x02', 'latin1')
const TYPES: { readonly [type: number]: ObjectType } = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }

interface Whole {
  readonly type: ObjectType
  readonly content: Buffer
}

interface Delta {
  readonly place: number
  /** The place of the base in the pack, or its id. */
  readonly base: number | string
  readonly content: Buffer
}

/** Returns an object of the repository that is the base of a delta, or null. */
export type ReadBase = (id: string) => Promise<Whole | null>

/** Returns the objects of a pack by their ids. Throws LeaveToGit, and errors of node:zlib. */
export async function readPack(pack: Buffer, readBase: ReadBase): Promise<Map<string, LooseObject>> {
  const reading = new Reading(readBase)
  const count = countIn(pack)
  const end = pack.length - CHECKSUM
  let place = HEADER
  for (let left = count; left > 0; left--) place = await reading.take(pack.subarray(0, end), place)
  if (place !== end) throw new LeaveToGit('bytes after the last object of a pack')
  await reading.resolve()
  if (reading.objects.size !== count) throw new LeaveToGit('an object is in a pack twice')
  return reading.objects
}

function countIn(pack: Buffer): number {
  if (pack.length < HEADER + CHECKSUM || !pack.subarray(0, 8).equals(SIGNATURE)) throw new LeaveToGit('not a pack')
  const count = pack.readUInt32BE(8)
  if (count > MOST_OBJECTS) throw new LeaveToGit('a pack with many objects')
  const end = pack.length - CHECKSUM
  const checksum = createHash('sha1').update(pack.subarray(0, end)).digest()
  if (!checksum.equals(pack.subarray(end))) throw new LeaveToGit('a pack with a wrong checksum')
  return count
}

class Reading {
  readonly objects = new Map<string, LooseObject>()
  readonly #byPlace = new Map<number, Whole>()
  readonly #readBase: ReadBase
  #deltas: Delta[] = []
  #left = MOST_BYTES
  #piece = 0

  constructor(readBase: ReadBase) {
    this.#readBase = readBase
  }

  /** Takes the entry at a place, and returns the place after it. */
  async take(pack: Buffer, place: number): Promise<number> {
    const { type, size, head, compressed, base } = entryIn(pack.subarray(place), place)
    await this.#spend(size)
    // With one byte more, zlib sees the end of its stream, and an object that is too large is noticed.
    const options = { info: true, chunkSize: Math.max(size + 1, 64), maxOutputLength: size + 1 } as const
    const { buffer: content, engine } = inflateSync(compressed, options) as unknown as Inflated
    if (content.length !== size) throw new LeaveToGit('an object does not have the size in its header')
    const whole = TYPES[type]
    if (whole) this.#add(place, { type: whole, content })
    else if (base === null) throw new LeaveToGit('an object of an unknown type')
    else this.#deltas.push({ place, base: Buffer.isBuffer(base) ? base.toString('hex') : base, content })
    return place + head + engine.bytesWritten
  }

  /** Builds the objects of all deltas. A base may come after its delta, or be a delta itself. */
  async resolve(): Promise<void> {
    while (this.#deltas.length > 0) {
      const open = this.#deltas
      this.#deltas = []
      for (const delta of open) {
        const base = typeof delta.base === 'number' ? this.#byPlace.get(delta.base) : this.objects.get(delta.base)
        if (base) await this.#build(delta, base)
        else this.#deltas.push(delta)
      }
      if (this.#deltas.length === open.length) await this.#resolveOutside()
    }
  }

  /** Builds the deltas of one base that is not in the pack. */
  async #resolveOutside(): Promise<void> {
    const id = this.#deltas.map(({ base }) => base).find(base => typeof base === 'string')
    const base = typeof id === 'string' && (await this.#readBase(id))
    if (!base) throw new LeaveToGit('a delta without a base')
    await this.#spend(base.content.length)
    const open = this.#deltas
    this.#deltas = open.filter(delta => delta.base !== id)
    for (const delta of open) if (delta.base === id) await this.#build(delta, base)
  }

  async #build({ place, content }: Delta, base: Whole): Promise<void> {
    const { result } = deltaSizes(content)
    await this.#spend(result)
    this.#add(place, { type: base.type, content: applyDelta(base.content, content, Buffer.allocUnsafeSlow(result)) })
  }

  #add(place: number, whole: Whole): void {
    const object = makeObject(whole.type, whole.content)
    this.objects.set(object.id, object)
    this.#byPlace.set(place, whole)
  }

  async #spend(bytes: number): Promise<void> {
    this.#left -= bytes
    this.#piece += bytes
    if (this.#left < 0) throw new LeaveToGit('a pack with large objects')
    if (this.#piece < PIECE) return
    this.#piece = 0
    await nextPiece()
  }
}

/** What zlib returns with the option `info`. */
interface Inflated {
  readonly buffer: Buffer
  /** `bytesWritten` are the compressed bytes that it has used. */
  readonly engine: { readonly bytesWritten: number }
}
